/** Attribute paths (D-F-12): `data.plan`, `data.address.city`, `data.a\.b` for a key with a dot. Templates share the grammar. Pure. */

import { isLongerThan } from './text.ts'

const ROOT = 'data.'
const KEYS_MAX = 16
const KEY_LENGTH_MAX = 255
/** Longer than any path with keys of 255 characters, all of them escaped. */
const LENGTH_MAX = 17_000

/** The path of a top-level key of `data`. A dot or a backslash in the key is escaped with a backslash. */
export const pathOfKey = (key: string): string => pathOfKeys([key])

/** The path of nested keys of `data`, from the outermost. */
export const pathOfKeys = (keys: readonly string[]): string => `${ROOT}${keys.map(escapedKey).join('.')}`

/** A key as it is written in a path. */
export const escapedKey = (key: string): string => key.replace(/[\\.]/g, '\\$&')

/** Whether a name is meant as a path, even if it is not a valid one. */
export const isPathLike = (name: string): boolean => name.startsWith(ROOT)

/** The keys of a path, from the outermost; null if it is not a path. A backslash escapes only a dot or a backslash. */
export function pathOf(attribute: string): string[] | null {
  if (!attribute.startsWith(ROOT) || attribute.length > LENGTH_MAX) return null
  const keys = keysIn(attribute.slice(ROOT.length))
  return keys.length > KEYS_MAX || keys.some((key) => key === '' || isLongerThan(key, KEY_LENGTH_MAX)) ? null : keys
}

/** The keys between the dots of a text, without their escapes. */
export function keysIn(text: string): string[] {
  const keys: string[] = []
  let key = ''
  for (const [token] of text.matchAll(/\\[.\\]|./gsu)) {
    if (token === '.') {
      keys.push(key)
      key = ''
    } else key += /^\\[.\\]$/.test(token) ? token[1] : token
  }
  keys.push(key)
  return keys
}

/** A function that reads the value at a path, whose keys are given; undefined if there is none. Elements of arrays have no path. */
export function valueAt([first = '', ...rest]: readonly string[]): (data: Record<string, unknown>) => unknown {
  if (rest.length === 0) return (data) => (Object.hasOwn(data, first) ? data[first] : undefined)
  const inner = valueAt(rest)
  return (data) => {
    const value = Object.hasOwn(data, first) ? data[first] : undefined
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? inner(value as Record<string, unknown>) : undefined
  }
}

/** An object that is being changed. It is copied once, when the first path leads into it, and not for each path. */
class Draft {
  // A map rather than an object: a member called `__proto__` is data like any other.
  readonly members: Map<string, unknown>

  constructor(value: object) {
    this.members = new Map(Object.entries(value))
  }
}

/**
 * The data with values at paths, whose keys are given, one after the other; null removes a value. Objects on a path are created, and
 * replace values that are not objects. Takes time linear in the data and the paths.
 */
export function withValuesAt(
  data: Record<string, unknown>,
  values: Iterable<readonly [keys: readonly string[], value: unknown]>,
): Record<string, unknown> {
  const draft = new Draft(data)
  for (const [keys, value] of values) setAt(draft, keys, value)
  return finished(draft)
}

/** The data with a value at one path. */
export const withValueAt = (data: Record<string, unknown>, keys: readonly string[], value: unknown): Record<string, unknown> =>
  withValuesAt(data, [[keys, value]])

function setAt({ members }: Draft, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length > 0) {
    const inside = draftIn(members, first, value !== null)
    if (inside) setAt(inside, rest, value)
  } else if (value === null) members.delete(first)
  else members.set(first, value)
}

/** The object at a key as a draft; undefined if there is none and none is to be created. */
function draftIn(members: Map<string, unknown>, key: string, creates: boolean): Draft | undefined {
  const value = members.get(key)
  if (value instanceof Draft) return value
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject && !creates) return undefined
  const draft = new Draft(isObject ? value : {})
  members.set(key, draft)
  return draft
}

const finished = ({ members }: Draft): Record<string, unknown> =>
  Object.fromEntries([...members].map(([key, value]) => [key, value instanceof Draft ? finished(value) : value]))

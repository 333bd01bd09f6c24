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

/**
 * The data with a value at a path, whose keys are given; null removes it. Objects on the path are created, and replace values that
 * are not objects.
 */
export function withValueAt(
  data: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  // Entries rather than assignment: a member called `__proto__` is data like any other.
  const members = new Map(Object.entries(data))
  const inside = rest.length > 0 ? members.get(first) : undefined
  const isObject = typeof inside === 'object' && inside !== null && !Array.isArray(inside)
  if (rest.length === 0 && value === null) members.delete(first)
  else if (rest.length === 0) members.set(first, value)
  else if (isObject || value !== null) members.set(first, withValueAt(isObject ? (inside as Record<string, unknown>) : {}, rest, value))
  return Object.fromEntries(members)
}

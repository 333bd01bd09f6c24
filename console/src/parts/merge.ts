/** What two members made of the same object, brought together. */
import { mergeTexts, type Part } from './lines.ts'

/**
 * A member that both have changed, each into something else. `undefined` stands for one that was removed. Of a long text, `parts` has the
 * lines that both have changed, and what else each has changed is in `mine` and in `theirs`.
 */
export type Clash = { path: string[]; mine: unknown; theirs: unknown; parts?: Part[] }

type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)
const namesOf = (...objects: Members[]) => [...new Set(objects.flatMap(Object.keys))]

/** Whether two values are the same JSON, in whatever order their members are. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isSame(item, b[index]))
  if (isObject(a) && isObject(b)) return namesOf(a, b).every((name) => isSame(a[name], b[name]))
  return a === b
}

/** The members that differ from what a form began with. To save no others leaves alone what another member has changed meanwhile. */
export const changedMembers = <T extends object>(begun: T, now: T): Partial<T> =>
  Object.fromEntries(Object.entries(now).filter(([name, value]) => !isSame((begun as Members)[name], value))) as Partial<T>

/**
 * The value `mine`, with the changes since `base` that only `theirs` has. Where both have changed the same value, the one of `mine` stays,
 * and a clash is returned. Long texts are merged by lines.
 */
export function merge<T>(base: T, mine: T, theirs: T): { value: T; clashes: Clash[] } {
  const clashes: Clash[] = []
  return { value: merged(base, mine, theirs, [], clashes) as T, clashes }
}

/** The items of `mine`, in which those stay that another member has added since `base`, and those are missing that were removed. */
export const mergeItems = <T extends string>(base: T[], mine: T[], theirs: T[]): T[] =>
  Object.keys(merge(present(base), present(mine), present(theirs)).value) as T[]

const present = (items: string[]) => Object.fromEntries(items.map((item) => [item, true]))

function merged(base: unknown, mine: unknown, theirs: unknown, path: string[], clashes: Clash[]): unknown {
  if (isSame(base, mine)) return theirs
  if (isSame(base, theirs) || isSame(mine, theirs)) return mine
  if (isObject(mine) && isObject(theirs)) {
    const before = isObject(base) ? base : {}
    const members = namesOf(mine, theirs).map((name) => [name, merged(before[name], mine[name], theirs[name], [...path, name], clashes)])
    return Object.fromEntries(members.filter(([, value]) => value !== undefined))
  }
  if (typeof base !== 'string' || typeof mine !== 'string' || typeof theirs !== 'string') {
    clashes.push({ path, mine, theirs })
    return mine
  }
  const text = mergeTexts(base, mine, theirs)
  if (text.parts.length > 0) {
    const isWhole = text.parts.some((part) => part.mine === text.mine)
    clashes.push({ path, mine: text.mine, theirs: text.theirs, ...(!isWhole && { parts: text.parts }) })
  }
  return text.mine
}

/** The object with another value at this place. */
export function withAt<T>(object: T, [name, ...rest]: string[], value: unknown): T {
  if (name === undefined) return value as T
  const { [name]: inner, ...others } = object as Members
  const given = rest.length === 0 ? value : withAt(inner ?? {}, rest, value)
  return (given === undefined ? others : { ...(object as Members), [name]: given }) as T
}

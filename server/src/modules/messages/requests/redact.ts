/** Keeps values of a request out of what is stored and shown (D-MSG-4). Pure. */
import { pathOf, withValueAt } from '../../../lib/attribute-paths.ts'

/** What is shown in place of a redacted value. */
const REDACTED = '[redacted]'

type Data = Record<string, unknown>

/** The value at the keys of a path; undefined if there is none. */
function valueAt(data: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return data
  if (typeof data !== 'object' || data === null || Array.isArray(data) || !Object.hasOwn(data, first)) return undefined
  return valueAt((data as Data)[first], rest)
}

/** The paths among these that name no value in the data. */
export const pathsWithoutValue = (data: Data, paths: readonly string[]): string[] =>
  paths.filter((path) => {
    const keys = pathOf(path)
    return keys === null || (valueAt(data, keys) ?? null) === null
  })

/** The data that may be stored, and the values of the paths apart from it. */
export function split(data: Data, paths: readonly string[]): { shown: Data; values: [path: string, value: unknown][] } {
  let shown = data
  const values: [string, unknown][] = []
  for (const path of paths) {
    const keys = pathOf(path) as string[]
    // A path inside another one has its value within that.
    const value = valueAt(shown, keys)
    if (value === undefined) continue
    values.push([path, value])
    shown = withValueAt(shown, keys, REDACTED)
  }
  return { shown, values }
}

/** The data as it was, for rendering the message. */
export const joined = (shown: Data, values: readonly [path: string, value: unknown][]): Data =>
  // In reverse: what was taken out last is put back first, below what was taken out before.
  [...values].reverse().reduce((data, [path, value]) => withValueAt(data, pathOf(path) as string[], value), shown)

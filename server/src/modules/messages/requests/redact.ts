/** Keeps values of a request out of what is stored and shown (D-MSG-4). Pure. */
import { pathOf, valueAt, withValueAt, withValuesAt } from '../../../lib/attribute-paths.ts'

/** What is shown in place of a redacted value. */
export const REDACTED = '[redacted]'

type Data = Record<string, unknown>

/** The paths among these that name no value in the data. */
export const pathsWithoutValue = (data: Data, paths: readonly string[]): string[] =>
  paths.filter((path) => {
    const keys = pathOf(path)
    return keys === null || (valueAt(keys)(data) ?? null) === null
  })

/** Splits data into what may be stored and the values at these paths. */
export function split(data: Data, paths: readonly string[]): { shown: Data; values: [path: string, value: unknown][] } {
  let shown = data
  const values: [string, unknown][] = []
  for (const path of paths) {
    const keys = pathOf(path) as string[]
    // A path inside another one has its value within that.
    const value = valueAt(keys)(shown)
    if (value === undefined) continue
    values.push([path, value])
    shown = withValueAt(shown, keys, REDACTED)
  }
  return { shown, values }
}

/** The data as it was, for rendering the message. */
export const joined = (shown: Data, values: readonly [path: string, value: unknown][]): Data =>
  // In reverse: what was taken out last is put back first, below what was taken out before.
  withValuesAt(
    shown,
    values.toReversed().map(([path, value]) => [pathOf(path) as string[], value]),
  )

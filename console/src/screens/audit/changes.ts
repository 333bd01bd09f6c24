import type { components } from '@carillon/sdk'

/** An entry of the audit log. */
export type Entry = components['schemas']['AuditEntry']

type State = Record<string, unknown> | null

/** A value that differs, by its path. Undefined where there was none, or is none any more. */
export type Change = { path: string; before: string | undefined; after: string | undefined }

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The values below an object by their paths, such as `schedule.from`. */
function valuesOf(state: Record<string, unknown>, before = ''): [string, string][] {
  return Object.entries(state).flatMap(([name, value]): [string, string][] => {
    const path = `${before}${name}`
    if (isObject(value) && Object.keys(value).length > 0) return valuesOf(value, `${path}.`)
    return [[path, typeof value === 'string' ? value : JSON.stringify(value)]]
  })
}

/** What differs between two states of an object, in the order of the states. */
export function changesOf(before: State, after: State): Change[] {
  const [old, next] = [new Map(valuesOf(before ?? {})), new Map(valuesOf(after ?? {}))]
  return [...new Set([...old.keys(), ...next.keys()])]
    .filter((path) => old.get(path) !== next.get(path))
    .map((path) => ({ path, before: old.get(path), after: next.get(path) }))
}

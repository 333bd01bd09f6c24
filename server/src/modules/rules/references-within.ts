import type { ConditionKind, Reference } from './conditions/condition.ts'
import * as registry from './conditions/index.ts'

const kinds: [string, ConditionKind][] = Object.entries(registry)

/**
 * The references in a value that may be a rule, contain one, or be an unfinished one: those of every object in it that names a kind of
 * condition. For a checked rule, `referencesOf` finds the same.
 */
export function referencesWithin(value: unknown, path = ''): Reference[] {
  if (typeof value !== 'object' || value === null) return []
  const at = (name: string) => `${path}${path === '' ? '' : '.'}${name}`
  const own = Array.isArray(value) ? [] : ownReferences(value).map((found) => ({ ...found, param: at(found.param) }))
  const inner = Object.entries(value).flatMap(([name, child]) =>
    referencesWithin(child, Array.isArray(value) ? `${path}[${name}]` : at(name)),
  )
  return [...own, ...inner]
}

const ownReferences = (value: object): Reference[] =>
  kinds.filter(([name]) => Object.hasOwn(value, name)).flatMap(([, kind]) => referencesAs(kind, value))

function referencesAs({ references }: ConditionKind, value: object): Reference[] {
  try {
    return (references?.(value) ?? []).filter(({ id }) => typeof id === 'number')
  } catch (error) {
    // A member has another type than in a condition, so this is none.
    if (error instanceof TypeError) return []
    throw error
  }
}

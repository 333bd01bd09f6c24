/** Liquid in settings: where it is, what it reads, and the settings with what was rendered. Pure. */
import { pathOfKey } from '../../../lib/attribute-paths.ts'
import type { Fault } from '../../../lib/errors.ts'
import { hasLiquid, isLiquid } from '../../../lib/liquid/liquid.ts'
import { variablesOf } from '../../../lib/liquid/variables.ts'
import { broken } from './settings.ts'
import type { Dependency, Needs, StepContext } from './step.ts'

type Template = NonNullable<Needs['liquid']>[number]

/** The strings with Liquid in a value, each with its path. Keys with dots are escaped as in attribute paths. */
export function templatesIn(value: unknown, param: string): Template[] {
  if (typeof value === 'string') return hasLiquid(value) ? [{ param, template: value }] : []
  if (Array.isArray(value)) return value.flatMap((item, at) => templatesIn(item, `${param}[${at}]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => templatesIn(item, memberOf(param, key)))
}

const DATA = 'data'
const memberOf = (param: string, key: string) => `${param}${pathOfKey(key).slice(DATA.length)}`

/** The value with its Liquid rendered, or the first problem. */
export function withRendered<T>(value: T, param: string, rendered: StepContext['rendered']): { value: T } | { problem: string } {
  const problems: string[] = []
  const fill = (item: unknown, at: string): unknown => {
    if (typeof item === 'string') {
      if (!hasLiquid(item)) return item
      const result = rendered(at)
      if ('text' in result) return result.text
      problems.push(result.problem)
      return ''
    }
    if (Array.isArray(item)) return item.map((one, index) => fill(one, `${at}[${index}]`))
    if (typeof item !== 'object' || item === null) return item
    return Object.fromEntries(Object.entries(item).map(([key, one]) => [key, fill(one, memberOf(at, key))]))
  }
  const filled = fill(value, param) as T
  return problems[0] === undefined ? { value: filled } : { problem: problems[0] }
}

/** The faults of the Liquid in a value. */
export const liquidFaults = (value: unknown, param: string): Fault[] =>
  templatesIn(value, param)
    .filter(({ template }) => !isLiquid(template))
    .map(({ param }) => broken(param, `The value of \`${param}\` is not valid Liquid.`))

const USER = 'user'

/**
 * The attributes of the user that templates read, as rules name them. An attribute in `data` is named with its key; reading `data` as a
 * whole names none.
 */
export function liquidDependencies(templates: readonly string[]): Dependency[] {
  const read = templates.filter(isLiquid).flatMap((text) => variablesOf(text).map(({ names }) => names))
  const attributes = read.flatMap(([root, field, key]) => {
    if (root !== USER || field === undefined) return []
    return field === DATA ? (key === undefined ? [] : [`attribute:data.${key}`]) : [`attribute:${field}`]
  })
  return [...new Set(attributes)]
}

/** What the settings of several kinds have in common: schemas, faults, and reading of event data. Pure. */
import { Type } from 'typebox'
import { pathOf } from '../../../lib/attribute-paths.ts'
import type { Fault } from '../../../lib/errors.ts'
import { FreeForm } from '../../../lib/shapes.ts'
import { isLongerThan } from '../../../lib/text.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import {
  checkRule,
  compileEventRule,
  compileRule,
  describeDuration,
  duration,
  durationMs,
  type EventTest,
  type Rule,
  RuleSchema,
  TESTS_DOCUMENTED,
} from '../../rules/index.ts'
import type { Dependency, StepReference, StepRule } from './step.ts'

export { durationMs }

const RULE_BYTES_MAX = 32_768
const TESTS_MAX = 20
const KEY_LENGTH_MAX = 255
const { description: RULE_FORM, examples: RULE_EXAMPLES } = RuleSchema as unknown as { description: string; examples: object[] }

/** A rule about the user. It may be unfinished in a draft; it is checked when the journey is published. */
export const RuleSetting = (means: string) =>
  FreeForm(RULE_BYTES_MAX, {
    component: 'Rule',
    description: means,
    published: { title: 'Rule', description: `${means} ${RULE_FORM}`, examples: RULE_EXAMPLES },
  })

/** Tests of the data of an event, or of what earlier steps know. Checked when the journey is published. */
export const Tests = (means: string) =>
  Type.Unsafe<EventTest[]>({
    type: 'array',
    maxItems: TESTS_MAX,
    items: { type: 'object' },
    description: `${means} All of them must pass, as in the \`where\` of a rule.`,
    published: { items: { type: 'object', additionalProperties: true } },
    documented: TESTS_DOCUMENTED,
  })

/** The length of a wait, such as `3d`. */
export const Duration = duration

export const EventName = (description: string) => Type.String({ notBlank: true, minLength: 1, maxLength: 255, description })

/** A fault of settings that cannot be published. `param` is a path in `data`. */
export const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/** The fault of a missing setting that the step needs. */
export const needed = (param: string, why = 'The step needs'): Fault => broken(param, `${why} \`${param}\`.`)

/** The faults of settings that are needed and missing. */
export const missingOf = (settings: object, ...params: string[]): Fault[] =>
  params.filter((param) => (settings as Record<string, unknown>)[param] === undefined).map((param) => needed(param))

export const ruleFaults = (rule: unknown, param: string): Fault[] => (rule === undefined ? [] : checkRule(rule, param))

// Checked as the `where` of a condition, whose path is put right afterwards.
const HOLDER = 'tests'

/** The faults of tests at `param`. */
export function testFaults(where: readonly EventTest[] | undefined, param: string): Fault[] {
  if (where === undefined) return []
  const put = (text: string) => text.replaceAll(`${HOLDER}.where`, () => param)
  return checkRule({ event: 'event', where }, HOLDER).map((fault) => ({
    ...fault,
    param: put(fault.param ?? HOLDER),
    message: put(fault.message),
  }))
}

/** The fault of a duration outside these bounds. */
export function durationFaults(
  value: string | undefined,
  param: string,
  { leastMs = MINUTE_MS, mostMs }: { leastMs?: number; mostMs: number },
): Fault[] {
  if (value === undefined || (durationMs(value) >= leastMs && durationMs(value) <= mostMs)) return []
  return [broken(param, `The value of \`${param}\` must be at least 1 minute and at most ${Math.round(mostMs / 86_400_000)} days.`)]
}

/** The faults of paths with a name that another path of the step has already. */
export function pathFaults(items: readonly { path: string }[], member: string, others: readonly string[] = []): Fault[] {
  return items.flatMap(({ path }, at) => {
    const isTaken = others.includes(path) || items.findIndex((item) => item.path === path) < at
    return isTaken ? [broken(`${member}[${at}].path`, `The step already has a path \`${path}\`. Choose another name.`)] : []
  })
}

/**
 * Compiles tests to a function that tells whether data passes them; without tests, all data does. Call it once for the same tests, and only
 * with checked tests.
 */
export function testsOf(where: EventTest[] | undefined): (data: Record<string, unknown>, nowMs: number) => boolean {
  if (where === undefined || where.length === 0) return () => true
  return compileEventRule({ where }).passes
}

const compiled = new WeakMap<object, ReturnType<typeof testsOf>>()

/** Whether data passes tests. What was compiled is kept as long as the settings are. */
export function passes(where: EventTest[] | undefined, data: Record<string, unknown>, now: Date): boolean {
  if (where === undefined) return true
  const known = compiled.get(where) ?? testsOf(where)
  compiled.set(where, known)
  return known(data, now.getTime())
}

/** The value at a path such as `data.cart.id`; undefined if there is none. */
export function readPath(path: string, data: Record<string, unknown>): unknown {
  let value: unknown = data
  for (const key of pathOf(path) ?? [])
    value =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key) ? value[key as never] : undefined
  return value
}

/** The entry key at a path of event data. Undefined if the value is missing, not a scalar, or longer than 255 characters. */
export function entryKeyIn(path: string, data: Record<string, unknown>): string | undefined {
  const value = readPath(path, data)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && !isLongerThan(value, KEY_LENGTH_MAX) ? value : undefined
}

/** The dependencies of the rules of a published step. */
export const dependenciesOf = (rules: readonly (StepRule | undefined)[]): Dependency[] =>
  rules.flatMap((one) => (one === undefined ? [] : [...compileRule(one.rule as Rule).dependencies]))

/** A rule at a path in `data`, if there is one. */
export const ruleAt = (rule: unknown, param: string): StepRule[] => (rule === undefined ? [] : [{ rule, param }])

/** An id at a path in `data`, if there is one. */
export const idAt = (kind: StepReference['kind'], id: number | undefined, param: string): StepReference[] =>
  id === undefined ? [] : [{ kind, id, param }]

/** A duration in words, such as `3 days`. */
export const inWords = describeDuration

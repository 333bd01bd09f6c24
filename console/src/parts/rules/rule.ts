/** Rules as the builder changes them. What they are made of comes from `GET /rules/meta`. */
import type { components } from '@carillon/sdk'
import type { FieldSchema } from '../schema-fields.ts'

/** A rule that may be incomplete. */
export type Draft = Record<string, unknown>
export type Rule = components['schemas']['Rule']

/** What a new rule begins with. */
export const FIRST_RULE: Draft = { all: [{ attribute: '', is: '' }] }

type Part = { label: string; description: string; schema: ConditionSchema; example: unknown; sentence: string }
type ConditionSchema = FieldSchema & { oneOf?: { required?: string[] }[] }
export type Meta = {
  groups: Record<string, Part>
  conditions: Record<string, Part>
  attributes: Record<string, { label: string; type: string }>
  operators: Record<string, { label: string; types: string[]; argument: FieldSchema; example: unknown }>
  limits: { levels: number; conditions: number }
}

/** The kind of a group, or of a condition. */
export const groupOf = (rule: Draft, { groups }: Meta): string | undefined => Object.keys(groups).find((name) => name in rule)
export const kindOf = (rule: Draft, { conditions }: Meta): string | undefined => Object.keys(conditions).find((name) => name in rule)

/** A rule outside a group is drawn in one, so that others can be added. */
export const inGroup = (rule: Draft, meta: Meta): Draft => (groupOf(rule, meta) === undefined ? { all: [rule] } : rule)

/** The rules in a group. */
export function childrenOf(rule: Draft, group: string): Draft[] {
  const of = rule[group]
  return Array.isArray(of) ? (of as Draft[]) : [of as Draft]
}

/** Whether a kind of group takes one rule only. */
export const isSingle = (group: string, meta: Meta): boolean => meta.groups[group]?.schema.properties?.[group]?.type !== 'array'

/** A group of these rules. A kind that takes one rule gets several in a group of their own. */
export function groupWith(group: string, rules: Draft[], meta: Meta): Draft {
  if (!isSingle(group, meta)) return { [group]: rules }
  return { [group]: rules.length === 1 ? rules[0] : { all: rules } }
}

/** The path of a rule in a group, as the API writes it. */
export const pathIn = (path: string, group: string, index: number, meta: Meta): string =>
  `${path}.${group}${isSingle(group, meta) ? '' : `[${index}]`}`

/** Whether a schema compares: it takes exactly one of several operators. */
export const isComparison = (schema: FieldSchema): boolean => (schema.oneOf?.length ?? 0) > 1

/** The operators that a schema takes. */
export const operatorsOf = (schema: FieldSchema, { operators }: Meta): string[] =>
  Object.keys(schema.properties ?? {}).filter((name) => name in operators)

/** The operator that a comparison uses. */
export const operatorOf = (rule: Draft, schema: FieldSchema, meta: Meta): string | undefined =>
  operatorsOf(schema, meta).find((name) => name in rule)

const blankOf = (schema: FieldSchema | undefined): unknown => schema?.enum?.[0] ?? (schema?.type === 'boolean' ? true : '')

/** A condition of a kind whose values are still to be filled in. */
export function blankCondition(kind: string, meta: Meta): Draft {
  const { schema, example } = meta.conditions[kind] as Part
  const required = (schema.required ?? [kind]).map((name) => [name, blankOf(schema.properties?.[name])])
  const operator = isComparison(schema) ? operatorOf(example as Draft, schema, meta) : undefined
  return { ...Object.fromEntries(required), ...(operator !== undefined && { [operator]: '' }) }
}

/** Whether every value is filled in, so that the rule can be sent to the API. */
export function isComplete(value: unknown): boolean {
  if (value === '' || value === null || value === undefined) return false
  if (Array.isArray(value)) return value.length > 0 && value.every(isComplete)
  if (typeof value !== 'object') return true
  return Object.keys(value).length > 0 && Object.values(value).every(isComplete)
}

/** How many conditions a rule has. */
export function countOf(rule: Draft, meta: Meta): number {
  const group = groupOf(rule, meta)
  return group === undefined ? 1 : childrenOf(rule, group).reduce((sum, child) => sum + countOf(child, meta), 0)
}

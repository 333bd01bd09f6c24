/**
 * What the log keeps of what a request says. A value is kept only if the API description says what it can be and it is that: one of fixed
 * values, a boolean, a number, a time, or a text whose schema has `logged`. Of everything else the kind and the size are kept: texts, what
 * is free-form, and what the description does not know.
 */
import type { PathParam, Route } from '../../infra/http/route.ts'

type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  logged?: boolean
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/** Values that are looked at, so that a large body costs no more than a small one. */
const VALUES_MAX = 100
const ITEMS_MAX = 3
const LEVELS_MAX = 8
const LOGGED_LENGTH_MAX = 255
const SCHEMA_LEVELS_MAX = 4

const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/
/** The pattern of ids in queries. */
const DIGITS = /^\d{1,15}$/
const TIME_FORMATS = ['time', 'date-time', 'date', 'date-or-time']

/** The body of a request without what is personal or secret. Undefined without one. */
export function redactedBody({ body, form }: Pick<Route, 'body' | 'form'>, value: unknown): unknown {
  if (value === undefined) return undefined
  const schema = (body ?? form) as Schema | undefined
  return redacted(value, schema ? choicesOf(schema) : [], LEVELS_MAX, { left: VALUES_MAX })
}

/** The path parameters that are ids assigned by the server. */
export function redactedParams({ params = {} }: Pick<Route, 'params'>, given: Record<string, string>): Record<string, string> {
  const isId = ([name, text]: [string, string]) => {
    const schema = (params as Record<string, PathParam<unknown>>)[name]?.schema as Schema | undefined
    return schema?.type === 'integer' && DIGITS.test(text)
  }
  return Object.fromEntries(Object.entries(given).filter(isId))
}

const PAGING: Record<string, RegExp> = { limit: /^-?\d{1,6}$/, page: /^(?:next|prev)$/, direction: /^(?:asc|desc)$/ }

/** The query of a request, redacted by the same rules as a body. Nothing is kept of parameters that the route does not have. */
export function redactedQuery({ query, list }: Pick<Route, 'query' | 'list'>, text: string): Record<string, unknown> {
  const { properties = {} } = (query ?? {}) as Schema
  const kept: Record<string, unknown> = {}
  let count = 0
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > VALUES_MAX) break
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema) kept[name] = redacted(value, choicesOf(schema), 1, { left: 1 })
    else if (list && name === 'sort') kept[name] = Object.hasOwn(list.sorts, value) ? value : textOf(value)
    else if (list && (name === 'q' || name === 'cursor')) kept[name] = textOf(value)
    else if (list && Object.hasOwn(PAGING, name)) kept[name] = PAGING[name]?.test(value) ? value : textOf(value)
  }
  return kept
}

/** A parameter that an error names, up to the first part that the route does not have. */
export function redactedParam({ body, form, query, params = {}, list }: Route, param: string | undefined): string | null {
  if (param === undefined) return null
  if (HEADERS.includes(param) || (list && (param in PAGING || ['q', 'cursor', 'sort'].includes(param)))) return param
  const parts = param.slice(0, LOGGED_LENGTH_MAX).split(/[.[\]]+/)
  let schemas = [body, form, query, { properties: params }].flatMap((schema) => (schema ? choicesOf(schema as Schema) : []))
  let known = 0
  for (const part of parts) {
    const inner = /^\d{1,6}$/.test(part) ? schemas.flatMap(itemsOf) : schemas.flatMap((schema) => memberOf(schema, part))
    if (inner.length === 0 && part !== '') break
    if (part !== '') schemas = inner
    known++
  }
  if (known === parts.length) return param
  return known === 0 ? null : pathOf(parts.slice(0, known))
}

const HEADERS = ['body', 'Content-Type', 'Content-Encoding', 'Idempotency-Key', 'Service-Version', 'If-Match', 'If-None-Match']

const pathOf = (parts: string[]) =>
  parts.reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')

/** The schema with all of its alternatives. */
function choicesOf(schema: Schema, levels = SCHEMA_LEVELS_MAX): Schema[] {
  const inner = levels === 0 ? [] : [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return [schema, ...inner.flatMap((choice) => choicesOf(choice, levels - 1))]
}

const itemsOf = ({ items }: Schema): Schema[] => (items ? choicesOf(items) : [])

const memberOf = ({ properties }: Schema, name: string): Schema[] => {
  const found = properties && Object.hasOwn(properties, name) ? properties[name] : undefined
  return found ? choicesOf(found) : []
}

type Budget = { left: number }

function redacted(value: unknown, schemas: Schema[], levels: number, budget: Budget): unknown {
  if (budget.left-- <= 0 || levels === 0) return '[…]'
  switch (typeof value) {
    case 'string':
      return schemas.some((schema) => allowsText(schema, value)) ? value : textOf(value)
    case 'number':
      return schemas.some(isOfType('integer', 'number')) ? value : '[number]'
    case 'boolean':
      return schemas.some(isOfType('boolean')) ? value : '[boolean]'
    default:
      if (value === null) return null
      return Array.isArray(value) ? redactedArray(value, schemas, levels, budget) : redactedObject(value as object, schemas, levels, budget)
  }
}

const textOf = (value: string) => `[text, ${value.length} characters]`

const isOfType =
  (...names: string[]) =>
  ({ type }: Schema): boolean =>
    [type].flat().some((name) => name !== undefined && names.includes(name))

function allowsText(schema: Schema, value: string): boolean {
  if (schema.enum?.includes(value) || schema.const === value) return true
  if (schema.format !== undefined && TIME_FORMATS.includes(schema.format)) return TIME.test(value)
  if (schema.pattern === '^[0-9]{1,15}$') return DIGITS.test(value)
  return schema.logged === true && value.length <= LOGGED_LENGTH_MAX
}

function redactedArray(value: unknown[], schemas: Schema[], levels: number, budget: Budget): unknown {
  const items = schemas.flatMap(itemsOf)
  if (items.length === 0) return `[array, ${value.length} items]`
  const shown = value.slice(0, ITEMS_MAX).map((item) => redacted(item, items, levels - 1, budget))
  return value.length > ITEMS_MAX ? [...shown, `[${value.length - ITEMS_MAX} more]`] : shown
}

function redactedObject(value: object, schemas: Schema[], levels: number, budget: Budget): unknown {
  const names = Object.keys(value)
  const declared = names.filter((name) => schemas.some(({ properties }) => properties && Object.hasOwn(properties, name)))
  if (declared.length === 0 && names.length > 0) return `[object, ${names.length} members]`
  const kept = declared.slice(0, Math.max(0, budget.left)).map((name) => [
    name,
    redacted(
      (value as Record<string, unknown>)[name],
      schemas.flatMap((schema) => memberOf(schema, name)),
      levels - 1,
      budget,
    ),
  ])
  const left = names.length - kept.length
  return { ...Object.fromEntries(kept), ...(left > 0 && { '…': `[${left} more]` }) }
}

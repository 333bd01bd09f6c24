/** Turns schemas for validation into published ones: our own keywords become JSON Schema or a sentence of the description. */
import type { TSchema } from 'typebox'
import { componentRef } from '../../../lib/shapes.ts'
import type { Route } from '../route.ts'
import { resourceNameOf } from './names.ts'
import type { JsonSchema } from './types.ts'

const OWN_KEYWORDS = new Set([
  'trim',
  'notBlank',
  'numericRange',
  'freeForm',
  'itemwise',
  'logged',
  'problem',
  'optionalBody',
  'instant',
  'exactlyOne',
  'published',
  'component',
  'documented',
])
/** Our formats of dates with or without a time. In JSON Schema, `time` is a time of day. */
const OWN_FORMATS: unknown[] = ['time', 'date-or-time']

/** How the schema of a record with any keys says so. */
const ANY_KEY = '^.*$'

const FREE_FORM_KEYS_MAX = 300
const FREE_FORM_KEY_LENGTH_MAX = 255

/** The published schema: valid JSON Schema 2020-12 without our keywords. It is self-contained: no reference leads out of it. */
export const publicSchema = (schema: TSchema | JsonSchema): JsonSchema => published(schema as JsonSchema, publicSchema)

/**
 * The schema in the API description. A schema with `component` becomes a reference to that component. The keywords in `documented` replace
 * those of the schema, and may contain references too.
 */
export function documentedSchema(schema: TSchema | JsonSchema): JsonSchema {
  const { component, documented, type, description } = schema as JsonSchema & { component?: string; documented?: JsonSchema }
  if (component !== undefined) {
    const reference = componentRef(component)
    const described = description !== undefined && { description }
    return [type].flat().includes('null') ? { anyOf: [reference, { type: 'null' }], ...described } : { ...reference, ...described }
  }
  const own = published(schema as JsonSchema, documentedSchema)
  if (!documented?.oneOf && !documented?.anyOf) return { ...own, ...documented }
  // The choice says all of the shape.
  const { examples } = own
  return { ...(own.description !== undefined && { description: own.description }), ...(examples && { examples }), ...documented }
}

/** The schema of a component: as in the description, but not a reference to itself. */
export function componentSchema(schema: TSchema): JsonSchema {
  const { component: _, ...own } = schema as JsonSchema
  return documentedSchema(own)
}

function published(source: JsonSchema, map: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const result: JsonSchema = {}
  for (const [keyword, value] of Object.entries(source)) {
    if (OWN_KEYWORDS.has(keyword) || (keyword === 'format' && OWN_FORMATS.includes(value))) continue
    result[keyword] = mapKeyword(keyword, value, map)
  }
  // ECMA 262 has flags inside a pattern since 2025, and most readers of JSON Schema refuse them. The description says what is accepted.
  if (source.pattern?.includes('(?i:')) delete result.pattern
  openUp(result)
  if (source.notBlank === true) result.minLength = Math.max(1, source.minLength ?? 0)
  if (source.freeForm !== undefined) {
    Object.assign(result, { maxProperties: FREE_FORM_KEYS_MAX, propertyNames: { minLength: 1, maxLength: FREE_FORM_KEY_LENGTH_MAX } })
  }
  // Not a keyword of the validator, which would report a fault for each member that is missing. The module checks it.
  if (Array.isArray(source.exactlyOne)) result.oneOf = source.exactlyOne.map((name) => ({ required: [name] }))
  const description = sentencesOf(source)
  return { ...result, ...(description !== '' && { description }), ...(source.published as JsonSchema | undefined) }
}

/**
 * Says that an object without members may have any, and that a record may have any key. Generators of clients read an object that says
 * neither as one without members.
 */
function openUp(schema: JsonSchema): void {
  const { [ANY_KEY]: value, ...patterns } = schema.patternProperties ?? {}
  if (value && Object.keys(patterns).length === 0) {
    delete schema.patternProperties
    schema.additionalProperties = value
  }
  const hasMembers = ['properties', 'patternProperties', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'].some((word) => word in schema)
  if ([schema.type].flat().includes('object') && !hasMembers) schema.additionalProperties = true
}

function sentencesOf({ description, numericRange, freeForm, format }: JsonSchema): string {
  const given = description ?? ''
  const sentences = [given]
  if (Array.isArray(numericRange) && !given.includes(`${numericRange[0]} to ${numericRange[1]}`)) {
    sentences.push(`From ${numericRange[0]} to ${numericRange[1]}.`)
  }
  if (freeForm !== undefined) sentences.push(`At most ${(freeForm as { bytesMax: number }).bytesMax / 1024} KiB as JSON.`)
  if (OWN_FORMATS.includes(format) && !given.includes('ISO 8601')) sentences.push('ISO 8601.')
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

/** A schema and the name that it gets as a component. */
export type Use = { schema: JsonSchema; name: string }

export type Components = {
  schemas: Record<string, JsonSchema>
  /** Replaces every named object in a schema with a reference. */
  refer(schema: JsonSchema): JsonSchema
}

/**
 * Shared schemas: an object that is a body, a reply or an item of either is named by its `title`, or else after its path. Equal
 * objects are replaced by references. Shorter paths are named first, so the order of the routes does not matter. `shared` are
 * referred to by their names, and `more` are the schemas that no route has.
 */
export function componentsOf(routes: readonly Route[], { shared = [], more = [] }: { shared?: Use[]; more?: Use[] } = {}): Components {
  const names = namesOf(routes, shared, more)
  const refer = (schema: JsonSchema): JsonSchema => {
    const known = names.get(JSON.stringify(schema))
    if (!known) return mapInside(schema, refer)
    // A choice has no members, so its description says what it is for.
    return { ...componentRef(known.name), ...(isChoice(schema) && schema.description !== undefined && { description: schema.description }) }
  }
  const named = [...names.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return { schemas: Object.fromEntries(named.map(({ name, schema }) => [name, mapInside(schema, refer)])), refer }
}

/** The named schemas, by their JSON. */
function namesOf(routes: readonly Route[], shared: Use[], more: Use[]): Map<string, Use> {
  const byDepth = routes.toSorted((a, b) => depthOf(a) - depthOf(b))
  const names = new Map<string, Use>(shared.map((use) => [JSON.stringify(use.schema), use]))
  const taken = new Set<string>(shared.map(({ name }) => name))
  for (const { schema, name } of [...byDepth.flatMap(itemsOf), ...byDepth.flatMap(bodiesOf), ...more]) {
    const text = JSON.stringify(schema)
    if (names.has(text)) continue
    const free = freeName(schema.title ?? name, taken)
    taken.add(free)
    names.set(text, { schema, name: free })
  }
  return names
}

/** Applies `map` to each schema that is directly inside. */
function mapInside(schema: JsonSchema, map: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const result: JsonSchema = {}
  for (const [keyword, value] of Object.entries(schema)) result[keyword] = mapKeyword(keyword, value, map)
  return result
}

function mapKeyword(keyword: string, value: unknown, map: (inner: JsonSchema) => JsonSchema): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
      return Object.fromEntries(Object.entries(value as Record<string, JsonSchema>).map(([name, inner]) => [name, map(inner)]))
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return (value as JsonSchema[]).map(map)
    case 'items':
    case 'additionalProperties':
      return typeof value === 'object' && value !== null ? map(value as JsonSchema) : value
    default:
      return value
  }
}

// Paths without `me` are named before those with it.
const depthOf = ({ path }: Route) => path.split('/').length + (path.includes('/me') ? 0.5 : 0)

/** The items of a list, which get the name of the resource. */
function itemsOf(route: Route): Use[] {
  const items = route.reply && documentedSchema(route.reply).properties?.results?.items
  return items ? nameable(items, resourceNameOf(route)) : []
}

/** Replies and bodies. */
function bodiesOf(route: Route): Use[] {
  const resource = resourceNameOf(route)
  const reply = route.reply && documentedSchema(route.reply)
  const body = route.body ?? route.form
  return [
    ...(reply ? nameable(reply, `${resource}${reply.properties?.results ? (route.list ? 'Page' : 'List') : 'Reply'}`) : []),
    ...(body ? nameable(documentedSchema(body), `${resource}${inputOf(route, body)}`) : []),
  ]
}

/** What the body of a route is called after its resource. */
function inputOf({ method }: Route, body: TSchema): 'Changes' | 'Deletion' | 'Input' {
  if (isArray(body)) return 'Input'
  return method === 'PATCH' ? 'Changes' : method === 'DELETE' ? 'Deletion' : 'Input'
}

const isArray = (schema: TSchema) => (schema as JsonSchema).type === 'array'

/** An object with members, a choice of such objects, or the items of an array of them. */
function nameable(schema: JsonSchema, name: string): Use[] {
  if (schema.items) return nameable(schema.items, name)
  return isChoice(schema) || (schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0) ? [{ schema, name }] : []
}

const isChoice = ({ oneOf, type }: JsonSchema): boolean => oneOf !== undefined && type === undefined

function freeName(name: string, taken: Set<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}${number}`
    if (!taken.has(candidate)) return candidate
  }
}

/** What the routes do not say: descriptions of groups and members, examples, and the requests to webhook endpoints. */
import type { TSchema } from 'typebox'
import type { JsonSchema } from './types.ts'

/** The example of a body and of a reply. */
export type Example = { body?: unknown; reply?: unknown }

/** An event that is sent to webhook endpoints. */
export type Webhook = {
  type: string
  summary: string
  description: string
  /** The name of the component with the body of the request. */
  name: string
  payload: TSchema
  example: unknown
}

export type Words = {
  /** The description of each group of operations. */
  groups: Record<string, string>
  /** Describes a member that its schema does not describe. `path` begins with the name of a component, such as `Campaign.delivery.sent`. */
  memberOf: (path: string) => string | undefined
  /** Examples by the name of a component. */
  examples: Record<string, unknown>
  /** Examples of path parameters by name. */
  parameters: Record<string, unknown>
  /** Examples by operation id, for those whose schema has no component, or another example. */
  operations: Record<string, Example>
  webhooks: Webhook[]
  /** Components that schemas refer to, by name. */
  schemas: Record<string, TSchema>
}

export const NO_WORDS: Words = {
  groups: {},
  memberOf: () => undefined,
  examples: {},
  parameters: {},
  operations: {},
  webhooks: [],
  schemas: {},
}

/** Describes every member of a schema that has no description. */
export function describeMembers(schema: JsonSchema, path: string, memberOf: Words['memberOf']): JsonSchema {
  const inside = (inner: JsonSchema) => describeMembers(inner, path, memberOf)
  const result = { ...schema }
  if (schema.properties) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, describeMember(member, `${path}.${name}`, memberOf)]),
    )
  }
  if (schema.items) result.items = inside(schema.items)
  if (typeof schema.additionalProperties === 'object') result.additionalProperties = inside(schema.additionalProperties)
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = schema[keyword]
    if (branches) result[keyword] = branches.map(inside)
  }
  return result
}

function describeMember(member: JsonSchema, path: string, memberOf: Words['memberOf']): JsonSchema {
  const inner = describeMembers(member, path, memberOf)
  const description = inner.description ?? memberOf(path)
  return description === undefined ? inner : { ...inner, description }
}

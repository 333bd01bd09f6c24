/** Examples that schemas have themselves. */
import type { JsonSchema } from './types.ts'

/** The example of a body, from the examples of its members. Undefined if a required member has none; no value is made up. */
export function exampleOf(schema: JsonSchema): unknown {
  const { type, items, properties, required = [] } = schema
  const offered = schema.examples?.[0] ?? schema.default ?? schema.const
  if (offered !== undefined) return offered
  if (type === 'array' && items) {
    const item = exampleOf(items)
    return item === undefined ? undefined : [item]
  }
  if (type !== 'object' || !properties) return undefined
  const members = Object.entries(properties).map(([name, property]) => [name, exampleOf(property)] as const)
  const given = members.filter(([, value]) => value !== undefined)
  const isWhole = required.every((name) => given.some(([given]) => given === name))
  return given.length > 0 && isWhole ? Object.fromEntries(given) : undefined
}

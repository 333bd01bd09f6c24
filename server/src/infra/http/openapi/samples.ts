/** Sample values for schemas: the schema’s own example, or else the smallest value that it accepts. */
import type { JsonSchema } from './types.ts'

type Resolve = (schema: JsonSchema) => JsonSchema

/** For text that only the caller can know. */
const PLACEHOLDER = '…'

const OF_FORMAT: Record<string, string> = {
  email: 'kim@example.com',
  timezone: 'Australia/Sydney',
  locale: 'en-AU',
  phone: '+61412345678',
  'date-time': '2026-11-20T02:56:21.664Z',
  'website-url': 'https://example.com/shop',
  'deeplink-url': 'https://links.example.com',
  'https-url': 'https://example.com/hooks',
  'hostname-or-ip': 'mail.example.com',
  'spf-domain': 'example.com',
}

/** How many optional members a sample has if none is required. */
const OPTIONAL_SHOWN = 3

/**
 * A sample request: the required members, or some optional ones if none is required.
 * With `'all'`, a sample reply with every member.
 */
export function sampleOf(schema: JsonSchema, resolve: Resolve, members: 'all' | 'needed'): unknown {
  const known = resolve(schema)
  const offered = offeredBy(known)
  if (offered !== undefined) return offered
  if (known.anyOf?.[0]) return sampleOf(known.anyOf[0], resolve, members)
  switch ([known.type].flat()[0]) {
    case 'object':
      return objectSample(known, resolve, members)
    case 'array':
      return known.items ? [sampleOf(known.items, resolve, members)] : []
    case 'integer':
    case 'number':
      return known.minimum ?? 0
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return OF_FORMAT[known.format ?? ''] ?? PLACEHOLDER.repeat(Math.max(1, known.minLength ?? 0))
  }
}

function offeredBy({ examples, default: fallback, const: only, enum: choices }: JsonSchema): unknown {
  return examples?.[0] ?? fallback ?? only ?? choices?.[0]
}

function objectSample({ properties = {}, required = [] }: JsonSchema, resolve: Resolve, members: 'all' | 'needed') {
  const names = Object.keys(properties)
  const shown = members === 'all' ? names : required.length > 0 ? required : withOwnSample(properties, resolve)
  return Object.fromEntries(shown.map((name) => [name, sampleOf(properties[name] ?? {}, resolve, members)]))
}

/** The optional members that have a meaningful sample. */
function withOwnSample(properties: Record<string, JsonSchema>, resolve: Resolve): string[] {
  const names = Object.keys(properties)
  const meaningful = names.filter((name) => {
    const property = resolve(properties[name] ?? {})
    return offeredBy(property) !== undefined || OF_FORMAT[property.format ?? ''] !== undefined
  })
  return meaningful.length > 0 ? meaningful.slice(0, OPTIONAL_SHOWN) : names.slice(0, 1)
}

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

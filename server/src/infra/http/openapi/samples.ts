/** A value of a schema to show: what the schema itself offers, else the least that it accepts. */
import type { JsonSchema } from './types.ts'

type Resolve = (schema: JsonSchema) => JsonSchema

/** Stands where only the reader knows the text. */
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

/** How many optional members a sample shows when none is required. */
const OPTIONAL_SHOWN = 3

/**
 * What a caller might send: required members, or some optional ones when nothing is required.
 * `'all'` shows every member, as a reply does.
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
  const shown = members === 'all' ? names : required.length > 0 ? required : tellingOnes(properties, resolve)
  return Object.fromEntries(shown.map((name) => [name, sampleOf(properties[name] ?? {}, resolve, members)]))
}

/** The optional members whose sample says something. */
function tellingOnes(properties: Record<string, JsonSchema>, resolve: Resolve): string[] {
  const names = Object.keys(properties)
  const telling = names.filter((name) => {
    const property = resolve(properties[name] ?? {})
    return offeredBy(property) !== undefined || OF_FORMAT[property.format ?? ''] !== undefined
  })
  return telling.length > 0 ? telling.slice(0, OPTIONAL_SHOWN) : names.slice(0, 1)
}

/** The example of a whole body, when the schema offers one for each member that is required or has one. Nothing is made up. */
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

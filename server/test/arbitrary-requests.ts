/** Arbitrary bodies and parameters for the operations of the API: near what its reference allows, and far from it. */
import fc from 'fast-check'
import type { JsonSchema } from '../src/infra/http/openapi/types.ts'

/** Numbers are kept as text: those that JavaScript cannot hold are sent too. */
class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const TEXTS = [
  ...['', ' ', 'a', '1', '-1', '1.5', 'ana', 'cart', 'email', 'null', 'true', 'draft', 'live', '*', '__proto__', 'constructor'],
  ...['x'.repeat(300), 'x'.repeat(70_000), '\0', 'a\0b', '\ud800', '\r\nX: y', '\u202e', '🙂'.repeat(100), '%', '%_\\', "'", '"', '../..'],
  ...['2026-11-25', '2026-02-30', '9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00Z', '-271821-04-20T00:00:00Z', '+275760-09-13T00:00:00Z'],
  ...['24:00', '1d', '0m', '200y', '201y', '999999999y', 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0', 'FREQ=YEARLY;COUNT=99999999'],
  ...['{{ user', '{{ user.email | append: "x" }}', '{% for i in (1..999999999) %}x{% endfor %}', '{{ "x" | date: "%9999999999Y" }}'],
  ...['<mj-text>', '</', 'ana@example.com', 'a@b', 'ünï@exämple.com', 'https://example.com/', 'https://[::1', 'javascript:alert(1)'],
  ...['9223372036854775808', '1e999', 'NaN', 'data.plan', `data.${'a.'.repeat(200)}a`, 'Australia/Sydney', 'en-AU', '+61412345678'],
]
const NUMBERS = [
  ...[
    '0',
    '1',
    '-1',
    '2',
    '1.5',
    '-0',
    '100',
    '400',
    '3650',
    '86400',
    '32768',
    '2147483647',
    '2147483648',
    '-2147483649',
    '9007199254740991',
  ],
  ...['9007199254740993', '9223372036854775807', '9223372036854775808', '1e21', '1e308', '-1e308', '5e-324', '1e400'],
]

const text = fc.constantFrom(...TEXTS)
const number = fc.constantFrom(...NUMBERS).map((written) => new NumberText(written))
const nested = fc.constantFrom(2, 200).map((depth) => Array.from({ length: depth }).reduce<unknown>((inner) => ({ a: [inner] }), 1))
const anything = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 3, arbitrary: number },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, [], {}) },
  { weight: 1, arbitrary: nested },
)

const DEPTH_MAX = 6

/** Values of a schema, some of which it does not allow. */
export function arbitraryOf(schema: JsonSchema, resolve: (ref: string) => JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return arbitraryOf(resolve(schema.$ref), resolve, depth)
  if (depth > DEPTH_MAX) return anything
  const inside = (inner: JsonSchema) => arbitraryOf(inner, resolve, depth + 1)
  return fc.oneof({ weight: 40, arbitrary: fitting(schema, inside) }, { weight: 1, arbitrary: anything })
}

function fitting(schema: JsonSchema, inside: (schema: JsonSchema) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { type, anyOf, oneOf, allOf, properties, items } = schema
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (anyOf || oneOf) return fc.oneof(...(anyOf ?? oneOf ?? []).map(inside))
  if (allOf) return fc.tuple(...allOf.map(inside)).map((parts) => Object.assign({}, ...parts))
  const one = Array.isArray(type) ? type[0] : type
  if (one === 'object' || properties) return object(schema, inside)
  if (one === 'array')
    return fc.array(inside(items ?? {}), { minLength: schema.minItems ?? 0, maxLength: Math.max(2, schema.minItems ?? 0) })
  if (one === 'boolean') return fc.boolean()
  if (one === 'integer' || one === 'number') return fc.oneof(bounds(schema), number)
  return one === 'string' ? fc.oneof(fc.constantFrom('ana', 'cart', 'a'), text) : anything
}

const bounds = ({ minimum = 0, maximum = 1 }: JsonSchema) => fc.constantFrom(minimum, maximum, 1)

function object(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  inside: (schema: JsonSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const known = fc.record(Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, inside(member)])), {
    requiredKeys: required.filter((name) => name in properties),
  })
  if (!additionalProperties) return known
  const others = fc.dictionary(
    fc.constantFrom('a', 'start', 'cart', 'x y', ''),
    additionalProperties === true ? anything : inside(additionalProperties),
    { maxKeys: 2 },
  )
  return fc.tuple(known, others).map(([known, others]) => ({ ...others, ...(known as object) }))
}

/** A value with one of its parts replaced by anything. */
export const alteredFrom = (value: unknown): fc.Arbitrary<unknown> => {
  const places = placesIn(value)
  return fc.tuple(fc.constantFrom(...places), anything).map(([place, part]) => replaced(value, place, part))
}

type Place = (string | number)[]

function placesIn(value: unknown): Place[] {
  const isInner = typeof value === 'object' && value !== null
  return [[], ...(isInner ? Object.entries(value).flatMap(([key, part]) => placesIn(part).map((rest) => [key, ...rest])) : [])]
}

function replaced(value: unknown, [key, ...rest]: Place, part: unknown): unknown {
  if (key === undefined) return part
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  copy[key] = replaced(copy[key], rest, part)
  return copy
}

/** A value as JSON, with its numbers as they are written. */
export function jsonOf(value: unknown): string {
  if (value instanceof NumberText) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return `{${Object.entries(value)
    .map(([key, part]) => `${JSON.stringify(key)}:${jsonOf(part)}`)
    .join(',')}}`
}

/** A value in a URL or a form. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, 3000).toWellFormed() : jsonOf(value).slice(0, 3000)

/** Lists the members of a schema with name, type, limits, default and description. Nested members can be unfolded. */
import type { JsonSchema } from '../infra/http/openapi/types.ts'
import { type Html, html } from '../lib/html.ts'
import { inline } from './markdown.ts'

export type Resolve = (schema: JsonSchema) => JsonSchema

/** For a request, required members are shown; for a reply, those that may be absent. */
export type Reading = { resolve: Resolve; of: 'request' | 'reply' }

const nameIn = ({ $ref }: JsonSchema): string | undefined => $ref?.split('/').at(-1)

/** What a schema refers to, with its own description if it has one. */
function resolved(schema: JsonSchema, resolve: Resolve): JsonSchema {
  const known = resolve(schema)
  return schema.$ref !== undefined && schema.description !== undefined ? { ...known, description: schema.description } : known
}

/** Whether a component contains itself, as a rule contains rules. Its members are not shown, because there would be no end. */
function isRecursive(schema: JsonSchema, resolve: Resolve): boolean {
  const name = nameIn(schema)
  if (name === undefined) return false
  const seen = new Set<string>()
  const reaches = (inner: JsonSchema): boolean =>
    innerOf(inner).some((one) => {
      const next = nameIn(one)
      if (next === name) return true
      if (next === undefined) return reaches(one)
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(resolve(one))
    })
  return reaches(resolve(schema))
}

const innerOf = ({ properties = {}, items, additionalProperties, oneOf = [], anyOf = [] }: JsonSchema): JsonSchema[] => [
  ...Object.values(properties),
  ...(items ? [items] : []),
  ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ...oneOf,
  ...anyOf,
]

/** The members of a body or reply, or of its items if it is an array. */
export function fieldsOf(schema: JsonSchema, reading: Reading): Html {
  const { resolve } = reading
  const known = resolve(schema)
  if (known.type === 'array' && known.items) {
    return html`<p class="note">An array of ${countOf(known)} objects with:</p>${fieldsOf(known.items, reading)}`
  }
  const branches = branchesOf(known, resolve)
  if (branches.length > 0) return variants(branches, reading)
  const members = membersOf(known)
  if (members.length === 0) return html`${known.description !== undefined && html`<p class="note">${inline(known.description)}</p>`}`
  return html`<ul class="fields">${members.map(({ name, schema, required }) => field(name, schema, required, reading))}</ul>`
}

/** A member or a parameter. */
export function field(name: string, schema: JsonSchema, required: boolean, reading: Reading): Html {
  const { resolve } = reading
  const known = resolved(schema, resolve)
  const { inner, opens } = isRecursive(schema, resolve) ? CLOSED : insideOf(known, reading)
  const limits = limitsOf(known)
  return html`<li>
  <div class="field"><code class="name">${name}</code> <span class="type">${typeOf(known, resolve)}</span>${presenceOf(required, reading)}</div>
  ${known.description !== undefined && html`<p>${inline(known.description)}</p>`}
  ${choicesOf(known)}
  ${limits !== '' && html`<p class="limits">${inline(limits)}</p>`}
  ${inner && html`<details><summary>${opens}</summary>${inner}</details>`}
</li>`
}

function presenceOf(required: boolean, { of }: Reading): Html | false {
  if (of === 'reply') return !required && html` <span class="type">may be absent</span>`
  return required && html` <span class="required">required</span>`
}

type Member = { name: string; schema: JsonSchema; required: boolean }

function membersOf({ properties = {}, additionalProperties, required = [] }: JsonSchema): Member[] {
  const own = Object.entries(properties).map(([name, schema]) => ({ name, schema, required: required.includes(name) }))
  const record = typeof additionalProperties === 'object' ? [{ name: '{key}', schema: additionalProperties, required: false }] : []
  return [...own, ...record]
}

const CLOSED = { inner: undefined, opens: '' }

/** The objects with members of a choice. */
const branchesOf = ({ anyOf, oneOf }: JsonSchema, resolve: Resolve): JsonSchema[] =>
  (anyOf ?? oneOf ?? []).flatMap((branch) => {
    const known = resolve(branch)
    if (known.anyOf || known.oneOf) return branchesOf(known, resolve)
    return known.type !== 'null' && membersOf(known).length > 0 ? [known] : []
  })

const variants = (branches: JsonSchema[], reading: Reading): Html =>
  html`${branches.map((branch) => html`<div class="branch">${branches.length > 1 && branch.description !== undefined && html`<p class="note">${inline(branch.description)}</p>`}${fieldsOf(branch, reading)}</div>`)}`

/** The members inside an object, an array of objects or a choice of objects. */
function insideOf(schema: JsonSchema, reading: Reading): { inner: Html | undefined; opens: string } {
  const { resolve } = reading
  if (schema.items && isRecursive(schema.items, resolve)) return CLOSED
  const item = schema.items ? resolve(schema.items) : undefined
  const target = item ?? schema
  const branches = branchesOf(target, resolve)
  if (branches.length > 0) {
    const opens = branches.length === 1 ? 'Show members' : `Show ${branches.length} variants`
    return { inner: variants(branches, reading), opens }
  }
  const { length } = membersOf(target)
  if (length === 0) return { inner: undefined, opens: '' }
  return { inner: fieldsOf(target, reading), opens: `Show ${length} member${length === 1 ? '' : 's'}${item ? ' of each' : ''}` }
}

/** `string or null`, `array of integer`. */
function typeOf(schema: JsonSchema, resolve: Resolve): string {
  const { type, const: only, format } = schema
  if (only !== undefined) return JSON.stringify(only)
  const branches = type === undefined ? (schema.anyOf ?? schema.oneOf) : undefined
  if (branches) return [...new Set(branches.map((branch) => typeOf(resolve(branch), resolve)))].join(' or ')
  if (type === 'array' && schema.items) return `array of ${typeOf(resolve(schema.items), resolve)}`
  const names = [type ?? 'any'].flat().join(' or ')
  return format === 'date-time' ? names.replace('string', 'time') : names
}

/** The allowed values, unless the description contains all of them. */
function choicesOf({ enum: choices, type, items, description = '' }: JsonSchema): Html | false {
  const values = (choices ?? (type === 'array' ? items?.enum : undefined))?.filter((choice) => choice !== null)
  if (!values || values.every((value) => description.includes(`\`${value}\``))) return false
  return html`<p class="choices">${values.map((choice) => html`<code>${String(choice)}</code> `)}</p>`
}

/** The limits and the default as text, without those of ids and of text that must not be empty. */
function limitsOf(schema: JsonSchema): string {
  const { minLength = 0, maxLength, minimum, maximum, default: fallback } = schema
  const parts: string[] = []
  if (maxLength !== undefined)
    parts.push(minLength > 1 ? `${minLength} to ${number(maxLength)} characters` : `up to ${number(maxLength)} characters`)
  const hasMaximum = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
  if (minimum !== undefined && hasMaximum) parts.push(`${number(minimum)} to ${number(maximum)}`)
  else if (hasMaximum) parts.push(`at most ${number(maximum)}`)
  if (schema.type === 'array') parts.push(itemsOf(schema))
  if (fallback !== undefined) parts.push(`default ${fallback === '' ? 'empty' : `\`${String(fallback)}\``}`)
  const sentence = parts.filter((part) => part !== '').join(' · ')
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

function itemsOf(schema: JsonSchema): string {
  const count = countOf(schema)
  return count === '' ? '' : `${count} items`
}

function countOf({ minItems = 0, maxItems }: JsonSchema): string {
  if (maxItems === undefined) return minItems > 0 ? `at least ${minItems}` : ''
  return minItems > 0 ? `${minItems} to ${number(maxItems)}` : `up to ${number(maxItems)}`
}

const number = (value: number) => value.toLocaleString('en-AU')

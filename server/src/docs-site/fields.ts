/** Lists the members of a schema with name, type, limits, default and description. Nested members can be unfolded. */
import type { JsonSchema } from '../infra/http/openapi/types.ts'
import { type Html, html } from '../lib/html.ts'
import { inline } from './markdown.ts'

export type Resolve = (schema: JsonSchema) => JsonSchema

/** For a request, required members are shown; for a reply, those that may be absent. */
export type Reading = { resolve: Resolve; of: 'request' | 'reply' }

/** The members of a body or reply, or of its items if it is an array. */
export function fieldsOf(schema: JsonSchema, reading: Reading): Html {
  const { resolve } = reading
  const known = resolve(schema)
  if (known.type === 'array' && known.items) {
    return html`<p class="note">An array of ${countOf(known)} objects with:</p>${fieldsOf(known.items, reading)}`
  }
  const members = membersOf(known)
  if (members.length === 0) return html`${known.description !== undefined && html`<p class="note">${inline(known.description)}</p>`}`
  return html`<ul class="fields">${members.map(({ name, schema, required }) => field(name, schema, required, reading))}</ul>`
}

/** A member or a parameter. */
export function field(name: string, schema: JsonSchema, required: boolean, reading: Reading): Html {
  const { resolve } = reading
  const known = resolve(schema)
  const { inner, opens } = insideOf(known, reading)
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

/** The members inside an object, an array of objects or a choice of objects. */
function insideOf(schema: JsonSchema, reading: Reading): { inner: Html | undefined; opens: string } {
  const { resolve } = reading
  const item = schema.items ? resolve(schema.items) : undefined
  const target = item ?? schema
  const branches = (target.anyOf ?? target.oneOf ?? [])
    .map(resolve)
    .filter((branch) => branch.type !== 'null' && membersOf(branch).length > 0)
  if (branches.length > 0) {
    const opens = branches.length === 1 ? 'Show members' : `Show ${branches.length} variants`
    return { inner: html`${branches.map((branch) => html`<div class="branch">${fieldsOf(branch, reading)}</div>`)}`, opens }
  }
  const { length } = membersOf(target)
  if (length === 0) return { inner: undefined, opens: '' }
  return { inner: fieldsOf(target, reading), opens: `Show ${length} member${length === 1 ? '' : 's'}${item ? ' of each' : ''}` }
}

/** `string or null`, `array of integer`. */
function typeOf(schema: JsonSchema, resolve: Resolve): string {
  const { type, const: only, format } = schema
  if (only !== undefined) return JSON.stringify(only)
  const branches = schema.anyOf ?? schema.oneOf
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

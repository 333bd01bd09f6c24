/** The attributes of a user that a rule can compare. */
import { getAllTimezones } from 'countries-and-timezones'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import { pathOf, valueAt } from '../../../lib/attribute-paths.ts'
import { json, type ValueKind } from '../operators/operator.ts'
import type { ComparedKind } from './comparison.ts'
import type { Dependency, UserFacts } from './condition.ts'
import { describeName, pathSql, pathTextSql } from './path.ts'

type User = UserFacts['user']

type FieldBase = { dependency: Dependency; description: string }

/** A JSON value; in SQL, of `users u`, a `jsonb` or null. `text` is its text if it is a string. */
export type ValueField = FieldBase & { kind: Exclude<ComparedKind, 'date'>; value(user: User): unknown; sql: Sql; text?: Sql }

/** An instant in milliseconds, or null; in SQL, of `users u`, a `timestamptz`. */
export type InstantField = FieldBase & { kind: 'date'; instant(user: User): number | null; evidence(user: User): unknown; sql: Sql }

export type Field = ValueField | InstantField

type FieldOfKind = Field & { kind: ValueKind }

const countryOf = Object.fromEntries(
  Object.values(getAllTimezones({ deprecated: true })).flatMap(({ name, countries }) => (countries[0] ? [[name, countries[0]]] : [])),
)
const COUNTRIES = new Map<string, string>(Object.entries(countryOf))

const regionOf = (timezone: string) => timezone.slice(0, `${timezone}/`.indexOf('/'))

const text = (
  name: 'email' | 'phone' | 'timezone' | 'locale' | 'external_id' | 'anonymous_id',
  description: string,
  column: Sql,
): FieldOfKind => ({
  kind: 'string',
  dependency: `attribute:${name}`,
  description,
  value: (user) => user[name],
  sql: sql`to_jsonb(${column})`,
  text: column,
})

/** The attributes outside `data`. */
export const FIELDS: Record<string, FieldOfKind> = {
  email: text('email', 'email', sql`u.email`),
  phone: text('phone', 'phone', sql`u.phone`),
  timezone: text('timezone', 'time zone', sql`u.timezone`),
  locale: text('locale', 'locale', sql`u.locale`),
  external_id: text('external_id', 'external id', sql`u.external_id`),
  anonymous_id: text('anonymous_id', 'anonymous id', sql`u.anonymous_id`),
  created_at: {
    kind: 'date',
    dependency: 'attribute:created_at',
    description: 'time of creation',
    instant: (user) => user.created_at.getTime(),
    evidence: (user) => user.created_at.toISOString(),
    sql: sql`u.created_at`,
  },
  has_push_device: {
    kind: 'boolean',
    dependency: 'attribute:has_push_device',
    description: 'having a push device',
    value: (user) => user.has_push_device,
    sql: sql`to_jsonb(u.has_push_device)`,
  },
  // The country is derived from the time zone.
  'timezone.country': {
    kind: 'string',
    dependency: 'attribute:timezone',
    description: 'country of the time zone',
    value: ({ timezone }) => (timezone === null ? null : (COUNTRIES.get(timezone) ?? null)),
    sql: sql`(${json(countryOf)} -> u.timezone)`,
  },
  'timezone.region': {
    kind: 'string',
    dependency: 'attribute:timezone',
    description: 'region of the time zone',
    value: ({ timezone }) => (timezone === null ? null : regionOf(timezone)),
    sql: sql`to_jsonb(split_part(u.timezone, '/', 1))`,
  },
}

export const FIELD_NAMES = Object.keys(FIELDS)

/** The field of an attribute in a rule; undefined if there is none. */
export function fieldOf(attribute: string): Field | undefined {
  if (Object.hasOwn(FIELDS, attribute)) return FIELDS[attribute]
  const path = pathOf(attribute)
  if (!path) return undefined
  const read = valueAt(path)
  return {
    kind: 'any',
    dependency: `attribute:data.${path[0]}`,
    description: describePath(attribute),
    value: (user) => read(user.data),
    sql: sql`(${pathSql(sql`u.data`, path)})`,
    text: pathTextSql(sql`u.data`, path),
  }
}

/** `data.plan` is described as `plan`, unless another field has that name. */
function describePath(attribute: string): string {
  const name = attribute.slice('data.'.length)
  return describeName(Object.hasOwn(FIELDS, name) ? attribute : name)
}

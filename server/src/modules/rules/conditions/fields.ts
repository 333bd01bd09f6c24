/** The attributes of a person that a rule can compare. */
import { getAllTimezones } from 'countries-and-timezones'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import { json } from '../operators/operator.ts'
import type { ComparedKind } from './comparison.ts'
import type { Dependency, UserFacts } from './condition.ts'
import { pathOf, pathSql, sayName, valueAt } from './path.ts'

type User = UserFacts['user']

type Named = { mention: Dependency; says: string }

/** A value as JSON has it; in SQL, of `users u`, a `jsonb` or null. */
export type ValueField = Named & { kind: Exclude<ComparedKind, 'date'>; value(user: User): unknown; sql: Sql }

/** An instant that everybody has; in SQL, of `users u`, a `timestamptz`. */
export type InstantField = Named & { kind: 'date'; instant(user: User): Date; sql: Sql }

export type Field = ValueField | InstantField

const countryOf = Object.fromEntries(
  Object.values(getAllTimezones({ deprecated: true })).flatMap(({ name, countries }) => (countries[0] ? [[name, countries[0]]] : [])),
)
const COUNTRIES = new Map<string, string>(Object.entries(countryOf))

const regionOf = (timezone: string) => timezone.slice(0, `${timezone}/`.indexOf('/'))

const text = (name: 'email' | 'phone' | 'timezone' | 'locale' | 'external_id' | 'anonymous_id', says: string, column: Sql): ValueField => ({
  kind: 'string',
  mention: `attribute:${name}`,
  says,
  value: (user) => user[name],
  sql: sql`to_jsonb(${column})`,
})

const FIELDS: Record<string, Field> = {
  email: text('email', 'email', sql`u.email`),
  phone: text('phone', 'phone', sql`u.phone`),
  timezone: text('timezone', 'time zone', sql`u.timezone`),
  locale: text('locale', 'locale', sql`u.locale`),
  external_id: text('external_id', 'external id', sql`u.external_id`),
  anonymous_id: text('anonymous_id', 'anonymous id', sql`u.anonymous_id`),
  created_at: {
    kind: 'date',
    mention: 'attribute:created_at',
    says: 'time of creation',
    instant: (user) => user.created_at,
    sql: sql`u.created_at`,
  },
  has_push_device: {
    kind: 'boolean',
    mention: 'attribute:has_push_device',
    says: 'having a push device',
    value: (user) => user.has_push_device,
    sql: sql`to_jsonb(u.has_push_device)`,
  },
  // As far as the zone tells.
  'timezone.country': {
    kind: 'string',
    mention: 'attribute:timezone',
    says: 'country of the time zone',
    value: ({ timezone }) => (timezone === null ? null : (COUNTRIES.get(timezone) ?? null)),
    sql: sql`(${json(countryOf)} -> u.timezone)`,
  },
  'timezone.region': {
    kind: 'string',
    mention: 'attribute:timezone',
    says: 'region of the time zone',
    value: ({ timezone }) => (timezone === null ? null : regionOf(timezone)),
    sql: sql`to_jsonb(split_part(u.timezone, '/', 1))`,
  },
}

/** Every attribute that has a name of its own. */
export const FIELD_NAMES = Object.keys(FIELDS)

/** The field that an attribute of a rule means; undefined when there is none. */
export function fieldOf(attribute: string): Field | undefined {
  if (Object.hasOwn(FIELDS, attribute)) return FIELDS[attribute]
  const path = pathOf(attribute)
  if (!path) return undefined
  const read = valueAt(path)
  return {
    kind: 'any',
    mention: `attribute:data.${path[0]}`,
    says: sayPath(attribute),
    value: (user) => read(user.data),
    sql: sql`(${pathSql(sql`u.data`, path)})`,
  }
}

/** `data.plan` is read as `plan`, unless something else is called that. */
function sayPath(attribute: string): string {
  const name = attribute.slice('data.'.length)
  return sayName(Object.hasOwn(FIELDS, name) ? attribute : name)
}

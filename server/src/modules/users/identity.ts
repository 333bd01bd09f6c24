/**
 * Which person do these ids mean, and what becomes of them: update, create, link, promote, merge (D-USER-1).
 * Works on people held in memory, item after item; the service loads them before and saves what changed after.
 */
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { freeFormProblem } from '../../lib/validate.ts'
import { DATA_BYTES_MAX } from './schema.ts'

/** A person in memory. Values are replaced, never changed in place, so that a shallow copy is a snapshot. */
export type Person = {
  /** Negative until the row has an id. */
  id: UserId
  external_id: string | null
  /** The most recently linked one. */
  anonymous_id: string | null
  /** All of them, oldest first, as far as they were loaded. */
  aliases: string[]
  email: string | null
  phone: string | null
  timezone: string | null
  locale: string | null
  data: Record<string, unknown>
  has_push_device: boolean
  created_at: Date
  updated_at: Date
  mergedInto: Person | null
}

/** What an item says about one person; absent keeps, null clears. Ids are absent rather than null. */
export type Profile = {
  external_id?: string
  anonymous_id?: string
  email?: string | null
  phone?: string | null
  timezone?: string | null
  locale?: string | null
  data?: Record<string, unknown>
}

export type People = {
  byExternalId: Map<string, Person>
  byAnonymousId: Map<string, Person>
  created: Set<Person>
  touched: Set<Person>
  /** Anonymous ids that the database knows, and this transaction holds. */
  stored: Set<string>
  /** Anonymous ids that now point elsewhere than in the database. */
  linked: Set<string>
  merges: { from: Person; into: Person }[]
}

export const noPeople = (): People => ({
  byExternalId: new Map(),
  byAnonymousId: new Map(),
  created: new Set(),
  touched: new Set(),
  stored: new Set(),
  linked: new Set(),
  merges: [],
})

/** What the ids of an item mean, before anything is done about it. */
type Meaning = { person: Person | null; absorbs: Person | null; takesExternalId: boolean; takesAnonymousId: boolean }

/** The table of D-USER-1. */
function meaningOf(people: People, { external_id, anonymous_id }: Profile): Meaning {
  const known = external_id === undefined ? undefined : people.byExternalId.get(external_id)
  const visitor = anonymous_id === undefined ? undefined : people.byAnonymousId.get(anonymous_id)
  const nothing = { absorbs: null, takesExternalId: false, takesAnonymousId: false }
  if (external_id === undefined) return { ...nothing, person: visitor ?? null, takesAnonymousId: !visitor }
  if (anonymous_id === undefined) return { ...nothing, person: known ?? null, takesExternalId: !known }
  if (known)
    return {
      ...nothing,
      person: known,
      takesAnonymousId: known !== visitor,
      absorbs: visitor && visitor !== known && isAnonymous(visitor) ? visitor : null,
    }
  if (visitor && isAnonymous(visitor)) return { ...nothing, person: visitor, takesExternalId: true }
  return { ...nothing, person: null, takesExternalId: true, takesAnonymousId: true }
}

const isAnonymous = (person: Person) => person.external_id === null

/**
 * Applies one item: all of it, or (when a rule about the result is broken) none of it.
 * `now` is when the item arrived; `phoneOf` turns a phone number into E.164 or null.
 */
export function applyProfile(
  people: People,
  item: Profile,
  now: Date,
  phoneOf: (item: Profile, person: Person | null) => string | null,
): { person: Person } | { fault: Fault } {
  const meaning = meaningOf(people, item)
  const before = meaning.person && meaning.absorbs ? heir(meaning.person, meaning.absorbs) : meaning.person
  const changes = changesOf(item, before, phoneOf)
  if ('fault' in changes) return changes
  const person = meaning.person ?? newPerson(people, now)
  if (meaning.absorbs && before) absorb(people, person, meaning.absorbs, before, now)
  claimIds(people, person, item, meaning, now)
  change(people, person, changes.fields, now)
  return { person }
}

type Fields = Pick<Person, 'email' | 'phone' | 'timezone' | 'locale' | 'data'>

function changesOf(
  item: Profile,
  person: Person | null,
  phoneOf: (item: Profile, person: Person | null) => string | null,
): { fields: Fields } | { fault: Fault } {
  const keep = <K extends 'email' | 'timezone' | 'locale'>(name: K) =>
    item[name] === undefined ? (person?.[name] ?? null) : (item[name] ?? null)
  const phone = item.phone === undefined ? (person?.phone ?? null) : item.phone === null ? null : phoneOf(item, person)
  if (typeof item.phone === 'string' && phone === null) {
    return {
      fault: {
        code: 'parameter_invalid_format',
        param: 'phone',
        message: 'The value of `phone` is not a phone number that can be written as E.164. Start it with + and the country code.',
      },
    }
  }
  const data = item.data ? mergeData(person?.data ?? {}, item.data) : (person?.data ?? {})
  const problem = item.data ? freeFormProblem(data, DATA_BYTES_MAX) : null
  if (problem) return { fault: { code: 'validation_failed', param: 'data', message: `After merging, the parameter \`data\` ${problem}.` } }
  return { fields: { email: keep('email'), phone, timezone: keep('timezone'), locale: keep('locale'), data } }
}

/** Shallow merge; a null removes its key, nested values are replaced whole (D-USER-4). */
export function mergeData(old: Record<string, unknown>, given: Record<string, unknown>): Record<string, unknown> {
  // Entries rather than assignment: a member called `__proto__` is data like any other.
  const merged = new Map(Object.entries(old))
  for (const [key, value] of Object.entries(given)) {
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  }
  return Object.fromEntries(merged)
}

/** The survivor of a merge: keeps its values, inherits what it lacks. */
function heir(survivor: Person, from: Person): Person {
  return {
    ...survivor,
    email: survivor.email ?? from.email,
    phone: survivor.phone ?? from.phone,
    timezone: survivor.timezone ?? from.timezone,
    locale: survivor.locale ?? from.locale,
    data: Object.fromEntries([...Object.entries(from.data), ...Object.entries(survivor.data)]),
    has_push_device: survivor.has_push_device || from.has_push_device,
    created_at: new Date(Math.min(from.created_at.getTime(), survivor.created_at.getTime())),
  }
}

function newPerson(people: People, now: Date): Person {
  const person: Person = {
    id: -(people.created.size + 1) as UserId,
    external_id: null,
    anonymous_id: null,
    aliases: [],
    email: null,
    phone: null,
    timezone: null,
    locale: null,
    data: {},
    has_push_device: false,
    created_at: now,
    updated_at: now,
    mergedInto: null,
  }
  people.created.add(person)
  return person
}

function absorb(people: People, survivor: Person, from: Person, inherited: Person, now: Date) {
  const { email, phone, timezone, locale, data, has_push_device, created_at } = inherited
  Object.assign(survivor, { email, phone, timezone, locale, data, has_push_device, created_at, updated_at: now })
  survivor.aliases = [...survivor.aliases, ...from.aliases]
  Object.assign(from, { mergedInto: survivor, anonymous_id: null, aliases: [], updated_at: now })
  for (const [anonymousId, person] of people.byAnonymousId) {
    if (person !== from) continue
    people.byAnonymousId.set(anonymousId, survivor)
    people.linked.add(anonymousId)
  }
  people.merges.push({ from, into: survivor })
  people.touched.add(survivor).add(from)
}

function claimIds(people: People, person: Person, item: Profile, meaning: Meaning, now: Date) {
  if (meaning.takesExternalId && item.external_id !== undefined) {
    person.external_id = item.external_id
    person.updated_at = now
    people.byExternalId.set(item.external_id, person)
    people.touched.add(person)
  }
  if (!meaning.takesAnonymousId || item.anonymous_id === undefined) return
  const { anonymous_id } = item
  const former = people.byAnonymousId.get(anonymous_id)
  if (former && former !== person) loseAnonymousId(people, former, anonymous_id, now)
  person.anonymous_id = anonymous_id
  person.aliases = [...person.aliases.filter((alias) => alias !== anonymous_id), anonymous_id]
  person.updated_at = now
  people.byAnonymousId.set(anonymous_id, person)
  people.linked.add(anonymous_id)
  people.touched.add(person)
}

/** A shared device: the id follows whoever used it last. */
function loseAnonymousId(people: People, former: Person, anonymousId: string, now: Date) {
  former.aliases = former.aliases.filter((alias) => alias !== anonymousId)
  if (former.anonymous_id !== anonymousId) return
  former.anonymous_id = former.aliases.at(-1) ?? null
  former.updated_at = now
  people.touched.add(former)
}

function change(people: People, person: Person, fields: Fields, now: Date) {
  if (sameFields(person, fields)) return
  Object.assign(person, fields, { updated_at: now })
  people.touched.add(person)
}

const sameFields = (a: Fields, b: Fields) =>
  a.email === b.email &&
  a.phone === b.phone &&
  a.timezone === b.timezone &&
  a.locale === b.locale &&
  (a.data === b.data || sameJson(a.data, b.data))

/** Equal as JSON, whatever the order of members. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
  )
}

/**
 * Which person do these ids mean, and what becomes of them: update, create, link, promote, merge (D-USER-1).
 * Works on people held in memory, item after item; the service loads them before and saves what changed after.
 */
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { freeFormProblem } from '../../lib/validate.ts'
import { DATA_BYTES_MAX } from './schema.ts'

/** A person in memory. Values are replaced, never changed in place, so that a shallow copy is a snapshot. */
export type UserRecord = {
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
  mergedInto: UserRecord | null
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

export type Users = {
  byExternalId: Map<string, UserRecord>
  byAnonymousId: Map<string, UserRecord>
  created: Set<UserRecord>
  touched: Set<UserRecord>
  /** Anonymous ids that the database knows, and this transaction holds. */
  stored: Set<string>
  /** Anonymous ids that now point elsewhere than in the database. */
  linked: Set<string>
  merges: { from: UserRecord; into: UserRecord }[]
}

export const noUsers = (): Users => ({
  byExternalId: new Map(),
  byAnonymousId: new Map(),
  created: new Set(),
  touched: new Set(),
  stored: new Set(),
  linked: new Set(),
  merges: [],
})

/** What the ids of an item mean, before anything is done about it. */
type Meaning = { user: UserRecord | null; absorbs: UserRecord | null; takesExternalId: boolean; takesAnonymousId: boolean }

/** The table of D-USER-1. */
function meaningOf(users: Users, { external_id, anonymous_id }: Profile): Meaning {
  const known = external_id === undefined ? undefined : users.byExternalId.get(external_id)
  const visitor = anonymous_id === undefined ? undefined : users.byAnonymousId.get(anonymous_id)
  const nothing = { absorbs: null, takesExternalId: false, takesAnonymousId: false }
  if (external_id === undefined) return { ...nothing, user: visitor ?? null, takesAnonymousId: !visitor }
  if (anonymous_id === undefined) return { ...nothing, user: known ?? null, takesExternalId: !known }
  if (known)
    return {
      ...nothing,
      user: known,
      takesAnonymousId: known !== visitor,
      absorbs: visitor && visitor !== known && isAnonymous(visitor) ? visitor : null,
    }
  if (visitor && isAnonymous(visitor)) return { ...nothing, user: visitor, takesExternalId: true }
  return { ...nothing, user: null, takesExternalId: true, takesAnonymousId: true }
}

const isAnonymous = (user: UserRecord) => user.external_id === null

/**
 * Applies one item: all of it, or (when a rule about the result is broken) none of it.
 * `now` is when the item arrived; `phoneOf` turns a phone number into E.164 or null.
 */
export function applyProfile(
  users: Users,
  item: Profile,
  now: Date,
  phoneOf: (item: Profile, user: UserRecord | null) => string | null,
): { user: UserRecord } | { fault: Fault } {
  const meaning = meaningOf(users, item)
  const before = meaning.user && meaning.absorbs ? mergeTarget(meaning.user, meaning.absorbs) : meaning.user
  const changes = changesOf(item, before, phoneOf)
  if ('fault' in changes) return changes
  const user = meaning.user ?? newUser(users, now)
  if (meaning.absorbs && before) absorb(users, user, meaning.absorbs, before, now)
  claimIds(users, user, item, meaning, now)
  change(users, user, changes.fields, now)
  return { user }
}

type Fields = Pick<UserRecord, 'email' | 'phone' | 'timezone' | 'locale' | 'data'>

function changesOf(
  item: Profile,
  user: UserRecord | null,
  phoneOf: (item: Profile, user: UserRecord | null) => string | null,
): { fields: Fields } | { fault: Fault } {
  const keep = <K extends 'email' | 'timezone' | 'locale'>(name: K) =>
    item[name] === undefined ? (user?.[name] ?? null) : (item[name] ?? null)
  const phone = item.phone === undefined ? (user?.phone ?? null) : item.phone === null ? null : phoneOf(item, user)
  if (typeof item.phone === 'string' && phone === null) {
    return {
      fault: {
        code: 'parameter_invalid_format',
        param: 'phone',
        message: 'The value of `phone` is not a phone number that can be written as E.164. Start it with + and the country code.',
      },
    }
  }
  const data = item.data ? mergeData(user?.data ?? {}, item.data) : (user?.data ?? {})
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
function mergeTarget(mergedInto: UserRecord, from: UserRecord): UserRecord {
  return {
    ...mergedInto,
    email: mergedInto.email ?? from.email,
    phone: mergedInto.phone ?? from.phone,
    timezone: mergedInto.timezone ?? from.timezone,
    locale: mergedInto.locale ?? from.locale,
    data: Object.fromEntries([...Object.entries(from.data), ...Object.entries(mergedInto.data)]),
    has_push_device: mergedInto.has_push_device || from.has_push_device,
    created_at: new Date(Math.min(from.created_at.getTime(), mergedInto.created_at.getTime())),
  }
}

function newUser(users: Users, now: Date): UserRecord {
  const user: UserRecord = {
    id: -(users.created.size + 1) as UserId,
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
  users.created.add(user)
  return user
}

function absorb(users: Users, mergedInto: UserRecord, from: UserRecord, inherited: UserRecord, now: Date) {
  const { email, phone, timezone, locale, data, has_push_device, created_at } = inherited
  Object.assign(mergedInto, { email, phone, timezone, locale, data, has_push_device, created_at, updated_at: now })
  mergedInto.aliases = [...mergedInto.aliases, ...from.aliases]
  Object.assign(from, { mergedInto: mergedInto, anonymous_id: null, aliases: [], updated_at: now })
  for (const [anonymousId, user] of users.byAnonymousId) {
    if (user !== from) continue
    users.byAnonymousId.set(anonymousId, mergedInto)
    users.linked.add(anonymousId)
  }
  users.merges.push({ from, into: mergedInto })
  users.touched.add(mergedInto).add(from)
}

function claimIds(users: Users, user: UserRecord, item: Profile, meaning: Meaning, now: Date) {
  if (meaning.takesExternalId && item.external_id !== undefined) {
    user.external_id = item.external_id
    user.updated_at = now
    users.byExternalId.set(item.external_id, user)
    users.touched.add(user)
  }
  if (!meaning.takesAnonymousId || item.anonymous_id === undefined) return
  const { anonymous_id } = item
  const former = users.byAnonymousId.get(anonymous_id)
  if (former && former !== user) loseAnonymousId(users, former, anonymous_id, now)
  user.anonymous_id = anonymous_id
  user.aliases = [...user.aliases.filter((alias) => alias !== anonymous_id), anonymous_id]
  user.updated_at = now
  users.byAnonymousId.set(anonymous_id, user)
  users.linked.add(anonymous_id)
  users.touched.add(user)
}

/** A shared device: the id follows whoever used it last. */
function loseAnonymousId(users: Users, former: UserRecord, anonymousId: string, now: Date) {
  former.aliases = former.aliases.filter((alias) => alias !== anonymousId)
  if (former.anonymous_id !== anonymousId) return
  former.anonymous_id = former.aliases.at(-1) ?? null
  former.updated_at = now
  users.touched.add(former)
}

function change(users: Users, user: UserRecord, fields: Fields, now: Date) {
  if (sameFields(user, fields)) return
  Object.assign(user, fields, { updated_at: now })
  users.touched.add(user)
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

/**
 * Identity resolution: finds the user that ids belong to, and updates, creates, links, promotes or merges users (D-USER-1). Pure: it works
 * on users in memory, item by item. The service loads them before and saves what changed afterwards.
 */
import { pathOf, withValuesAt } from '../../lib/attribute-paths.ts'
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { jsonBytes } from '../../lib/json-bytes.ts'
import { freeFormProblem } from '../../lib/validate.ts'
import { DATA_BYTES_MAX } from './schema.ts'

/** A user in memory. Values are replaced, never changed in place, so that a shallow copy is a snapshot. */
export type UserRecord = {
  /** Negative until the row has an id. */
  id: UserId
  external_id: string | null
  /** The most recently linked one. */
  anonymous_id: string | null
  /** All anonymous ids that were loaded, oldest first. They may be thousands, so they are changed in place. */
  aliases: Set<string>
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

/** The ids and fields that an item gives for a user. An absent field keeps its value, and null clears it. Ids are never null. */
export type Profile = {
  external_id?: string
  anonymous_id?: string
  email?: string | null
  phone?: string | null
  timezone?: string | null
  locale?: string | null
  data?: Record<string, unknown>
  /** Values inside `data` by their paths, such as `data.address.city`. They leave the values around them alone. */
  paths?: Record<string, unknown>
}

/** A profile and the time when it was received. With a user token, `user_id` names the user in place of the ids. */
export type UserUpdate = {
  profile: Profile
  at: Date
  user_id?: UserId
  /** In the queue of accepted requests, of an update that comes from there. */
  position?: number
  /** Of the updates with the same one, the first that can be applied is, and those after it are ignored. */
  once?: string
}

export type Users = {
  byExternalId: Map<string, UserRecord>
  byAnonymousId: Map<string, UserRecord>
  created: Set<UserRecord>
  touched: Set<UserRecord>
  /** Anonymous ids that are stored, and that this transaction has locked. */
  stored: Set<string>
  /** Anonymous ids that belong to another user now than in the database, in the order in which they were linked. */
  linked: Set<string>
  merges: { from: UserRecord; into: UserRecord }[]
  /** Users before and after others were merged into them. */
  gains: { user: UserRecord; before: UserRecord; after: UserRecord }[]
}

export const noUsers = (): Users => ({
  byExternalId: new Map(),
  byAnonymousId: new Map(),
  created: new Set(),
  touched: new Set(),
  stored: new Set(),
  linked: new Set(),
  merges: [],
  gains: [],
})

/** The user that the ids of an item belong to, and the links and merges that this requires. */
type Resolution = { user: UserRecord | null; absorbs: UserRecord | null; takesExternalId: boolean; takesAnonymousId: boolean }

/** The table of D-USER-1. */
function resolve(users: Users, { external_id, anonymous_id }: Profile): Resolution {
  const byExternal = external_id === undefined ? undefined : users.byExternalId.get(external_id)
  const byAnonymous = anonymous_id === undefined ? undefined : users.byAnonymousId.get(anonymous_id)
  const nothing = { absorbs: null, takesExternalId: false, takesAnonymousId: false }
  if (external_id === undefined) return { ...nothing, user: byAnonymous ?? null, takesAnonymousId: !byAnonymous }
  if (anonymous_id === undefined) return { ...nothing, user: byExternal ?? null, takesExternalId: !byExternal }
  if (byExternal)
    return {
      ...nothing,
      user: byExternal,
      takesAnonymousId: byExternal !== byAnonymous,
      absorbs: byAnonymous && byAnonymous !== byExternal && isAnonymous(byAnonymous) ? byAnonymous : null,
    }
  if (byAnonymous && isAnonymous(byAnonymous)) return { ...nothing, user: byAnonymous, takesExternalId: true }
  return { ...nothing, user: null, takesExternalId: true, takesAnonymousId: true }
}

const isAnonymous = (user: UserRecord) => user.external_id === null

/**
 * Applies one item, or none of it when the result would be invalid. `now` is when the item was received; `phoneOf` returns a phone number
 * in E.164, or null.
 */
export function applyProfile(
  users: Users,
  item: Profile,
  now: Date,
  phoneOf: (item: Profile, user: UserRecord | null) => string | null,
): { user: UserRecord } | { fault: Fault } {
  const resolution = resolve(users, item)
  const before = resolution.user && resolution.absorbs ? merged(resolution.user, resolution.absorbs) : resolution.user
  const changes = changesOf(item, before, phoneOf)
  if ('fault' in changes) return changes
  const user = resolution.user ?? newUser(users, now)
  const own = { ...user }
  if (resolution.absorbs && before) absorb(users, user, resolution.absorbs, before, now)
  claimIds(users, user, item, resolution, now)
  if (resolution.absorbs) users.gains.push({ user, before: own, after: { ...user } })
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
  const data = dataAfter(user?.data ?? {}, item)
  const problem = item.data || item.paths ? dataProblem(user?.data ?? {}, data) : null
  if (problem) return { fault: { code: 'validation_failed', param: 'data', message: `After merging, the parameter \`data\` ${problem}.` } }
  return { fields: { email: keep('email'), phone, timezone: keep('timezone'), locale: keep('locale'), data } }
}

/**
 * Which limit an item makes data exceed. Data that exceeds one already, by a merge, may change as long as it does not grow: no event with a
 * profile could be stored for the user otherwise.
 */
function dataProblem(before: Record<string, unknown>, after: Record<string, unknown>): string | null {
  const problem = freeFormProblem(after, DATA_BYTES_MAX)
  if (problem === null) return null
  return freeFormProblem(after, Math.max(DATA_BYTES_MAX, jsonBytes(before)), Object.keys(before).length) && problem
}

/** The data of a user after an item: its `data` is merged, then its values at paths are set (D-USER-4). */
function dataAfter(old: Record<string, unknown>, { data, paths }: Profile): Record<string, unknown> {
  const after = data ? mergeData(old, data) : old
  return paths ? withValuesAtPaths(after, paths) : after
}

/** The data with these values at their paths, which were checked. */
export const withValuesAtPaths = (data: Record<string, unknown>, paths: Record<string, unknown>): Record<string, unknown> =>
  withValuesAt(
    data,
    Object.entries(paths).map(([path, value]) => [pathOf(path) ?? [], value]),
  )

/** Merges the top level: null removes a key, and nested values are replaced as a whole (D-USER-4). */
export function mergeData(old: Record<string, unknown>, given: Record<string, unknown>): Record<string, unknown> {
  // Spread rather than assignment: a member called `__proto__` is data like any other.
  const merged: Record<string, unknown> = { ...old, ...given }
  for (const key of Object.keys(given)) if (given[key] === null) delete merged[key]
  return merged
}

/** The user after a merge: it keeps its values and inherits those that it does not have. */
function merged(mergedInto: UserRecord, from: UserRecord): UserRecord {
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
    aliases: new Set(),
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

/** `updated_at` does not move back when an item is applied after others that were received later. */
const later = (one: Date, other: Date): Date => (one > other ? one : other)

function absorb(users: Users, mergedInto: UserRecord, from: UserRecord, inherited: UserRecord, now: Date) {
  const { email, phone, timezone, locale, data, has_push_device, created_at } = inherited
  const updated_at = later(mergedInto.updated_at, now)
  Object.assign(mergedInto, { email, phone, timezone, locale, data, has_push_device, created_at, updated_at })
  for (const anonymousId of from.aliases) {
    mergedInto.aliases.add(anonymousId)
    // Those that no item names are stored for the other user with its row.
    if (users.byAnonymousId.get(anonymousId) !== from) continue
    users.byAnonymousId.set(anonymousId, mergedInto)
    users.linked.add(anonymousId)
  }
  Object.assign(from, { mergedInto, anonymous_id: null, aliases: new Set(), updated_at: later(from.updated_at, now) })
  users.merges.push({ from, into: mergedInto })
  users.touched.add(mergedInto).add(from)
}

function claimIds(users: Users, user: UserRecord, item: Profile, resolution: Resolution, now: Date) {
  if (resolution.takesExternalId && item.external_id !== undefined) {
    user.external_id = item.external_id
    user.updated_at = later(user.updated_at, now)
    users.byExternalId.set(item.external_id, user)
    users.touched.add(user)
  }
  if (!resolution.takesAnonymousId || item.anonymous_id === undefined) return
  const { anonymous_id } = item
  const former = users.byAnonymousId.get(anonymous_id)
  if (former && former !== user) loseAnonymousId(users, former, anonymous_id, now)
  user.anonymous_id = anonymous_id
  user.aliases.delete(anonymous_id)
  user.aliases.add(anonymous_id)
  user.updated_at = later(user.updated_at, now)
  users.byAnonymousId.set(anonymous_id, user)
  users.linked.delete(anonymous_id)
  users.linked.add(anonymous_id)
  users.touched.add(user)
}

/** On a shared device, the anonymous id moves to the user who used it last. */
function loseAnonymousId(users: Users, former: UserRecord, anonymousId: string, now: Date) {
  former.aliases.delete(anonymousId)
  if (former.anonymous_id !== anonymousId) return
  former.anonymous_id = [...former.aliases].at(-1) ?? null
  former.updated_at = later(former.updated_at, now)
  users.touched.add(former)
}

function change(users: Users, user: UserRecord, fields: Fields, now: Date) {
  if (sameFields(user, fields)) return
  Object.assign(user, fields, { updated_at: later(user.updated_at, now) })
  users.touched.add(user)
}

const sameFields = (a: Fields, b: Fields) =>
  a.email === b.email &&
  a.phone === b.phone &&
  a.timezone === b.timezone &&
  a.locale === b.locale &&
  (a.data === b.data || sameJson(a.data, b.data))

/** Whether the values are the same JSON, apart from the order of members. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
  )
}

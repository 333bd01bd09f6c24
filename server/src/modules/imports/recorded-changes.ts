/** What a batch of an import changed, as it is recorded, and what of it can be undone. Pure. */
import type { SubscriptionId, UserId } from '../../lib/ids.ts'
import { type Profile, sameJson, type UserChange, type UserChanges, type UserRecord } from '../users/index.ts'
import type { Joined } from './save-rows.ts'

const FIELDS = ['email', 'phone', 'timezone', 'locale'] as const

const IDS = ['external_id', 'anonymous_id'] as const
type Ids = Pick<UserRecord, (typeof IDS)[number]>

/** Values of fields and of keys of `data`; null for none. Ids are recorded of created users only. */
export type Values = { [name in (typeof FIELDS)[number] | keyof Ids]?: string | null } & { data?: Record<string, unknown> }

/** What an import changed about a user: its values, its membership of the list and its subscriptions. Ids and merges are not undone. */
export type RecordedChange = {
  user_id: UserId
  is_new: boolean
  before: Values
  after: Values
  joined: boolean
  subscription_ids: SubscriptionId[]
}

/** The changes of a batch in their order: the values by wave, then the memberships and subscriptions. */
export function recordedChanges(waves: UserChanges[], { added, subscribed }: Joined): RecordedChange[] {
  // The values of a merged user are those of two, which cannot be taken apart.
  const merged = new Set(waves.flatMap(({ merges }) => merges).flatMap(({ from_id, into_id }) => [from_id, into_id]))
  const values = waves.flatMap(({ changes }) => changes).filter(({ user_id }) => !merged.has(user_id))
  const recorded = values.flatMap((change) => valuesOf(change))
  const joined = new Set(added)
  const types = Map.groupBy(subscribed, ({ user_id }) => user_id)
  // They are part of the last change of their user, which halves the rows.
  const last = new Map(recorded.map((change) => [change.user_id, change]))
  for (const user_id of new Set([...joined, ...types.keys()])) {
    const known = last.get(user_id)
    const change = known ?? { user_id, is_new: false, before: {}, after: {}, joined: false, subscription_ids: [] }
    change.joined = joined.has(user_id)
    change.subscription_ids = (types.get(user_id) ?? []).map(({ subscription_id }) => subscription_id)
    if (!known) recorded.push(change)
  }
  return recorded
}

/** The ids of a user before and after the import linked some to it. */
export type LinkedIds = { user_id: UserId; before: Ids; after: Ids }

/** The users whose ids a batch changed, each once. */
export function linkedIds(waves: UserChanges[]): LinkedIds[] {
  const linked = new Map<UserId, LinkedIds>()
  for (const { user_id, user, former } of waves.flatMap(({ changes }) => changes)) {
    if (!user || !former || IDS.every((name) => user[name] === former[name])) continue
    linked.set(user_id, { user_id, before: linked.get(user_id)?.before ?? idsOf(former), after: idsOf(user) })
  }
  return [...linked.values()]
}

const idsOf = ({ external_id, anonymous_id }: Ids): Ids => ({ external_id, anonymous_id })

function valuesOf({ user_id, is_new, user, former }: UserChange): RecordedChange[] {
  if (!user || (!former && !is_new)) return []
  const nothing: Pick<UserRecord, 'data'> = { data: {} }
  const names = FIELDS.filter((name) => user[name] !== (former?.[name] ?? null))
  const data = former?.data ?? nothing.data
  const keys = [...new Set([...Object.keys(data), ...Object.keys(user.data)])].filter(
    (key) => !sameJson(valueAt(data, key), valueAt(user.data, key)),
  )
  if (!is_new && names.length + keys.length === 0) return []
  const part = (of: UserRecord | undefined): Values => ({
    ...Object.fromEntries(names.map((name) => [name, of?.[name] ?? null])),
    ...(keys.length > 0 && { data: Object.fromEntries(keys.map((key) => [key, valueAt(of?.data ?? {}, key)])) }),
  })
  const after = { ...part(user), ...(is_new && idsOf(user)) }
  return [{ user_id, is_new: is_new === true, before: part(former), after, joined: false, subscription_ids: [] }]
}

const valueAt = (data: Record<string, unknown>, key: string): unknown => (Object.hasOwn(data, key) ? data[key] : null)

type Current = Pick<UserRecord, (typeof FIELDS)[number] | 'data'>

/** The former values of a user, as far as they have not changed since; undefined if there is nothing to restore. */
export function formerValues(current: Current, { before, after }: Pick<RecordedChange, 'before' | 'after'>): Profile | undefined {
  const fields = FIELDS.filter((name) => name in after && current[name] === after[name])
  const keys = Object.keys(after.data ?? {}).filter((key) => sameJson(valueAt(current.data, key), valueAt(after.data ?? {}, key)))
  if (fields.length + keys.length === 0) return undefined
  return {
    ...Object.fromEntries(fields.map((name) => [name, before[name] ?? null])),
    ...(keys.length > 0 && { data: Object.fromEntries(keys.map((key) => [key, valueAt(before.data ?? {}, key)])) }),
  }
}

/** Whether a created user still has exactly the values and ids that the import gave it. Earlier releases recorded no ids. */
export const isAsCreated = (current: Current & Ids, { after }: Pick<RecordedChange, 'after'>): boolean =>
  FIELDS.every((name) => current[name] === (after[name] ?? null)) &&
  IDS.every((name) => after[name] === undefined || current[name] === after[name]) &&
  sameJson(current.data, after.data ?? {})

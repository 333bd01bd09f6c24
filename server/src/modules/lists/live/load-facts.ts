/** Loads the user facts that rules are evaluated on, for many users at once. */

import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId, ListId, ListVersionId, SubscriptionId, TrackerId, UserId } from '../../../lib/ids.ts'
import { journeyFactsOf } from '../../positions/index.ts'
import type { CompiledRule, UserFacts } from '../../rules/index.ts'
import { subscriptionStates } from '../../subscriptions/index.ts'
import { devicesOf, findUsers, type UserChange } from '../../users/index.ts'
import * as queries from './queries.ts'
import { loadRegistry, type Registry, type Version } from './registry.ts'
import { readTimes } from './times.queries.ts'

/** The times of events in milliseconds, by tracker and user. */
export type Times = Map<TrackerId, Map<UserId, readonly number[]>>

type User = UserFacts['user']
type Device = UserFacts['devices'][number]

export type Users = {
  /** Null when no rule needs them. A user that is not in it was erased or merged. */
  users: Map<UserId, User> | null
  memberships: Map<UserId, Map<ListVersionId, queries.MembershipRow>>
  subscriptions: Map<UserId, Map<number, 0 | 1 | 2>>
  devices: Map<UserId, Device[]>
  journeys: Awaited<ReturnType<typeof journeyFactsOf>>
  liveVersionOf: ReadonlyMap<ListId, ListVersionId>
}

const NO_TIMES: readonly number[] = []
const NO_DEVICES: readonly Device[] = []
const NO_MEMBERSHIPS: ReadonlyMap<ListVersionId, queries.MembershipRow> = new Map()

/** Reads the data of these users that the rules of these versions need. Users that are part of `changes` are not read again. */
export async function loadUserRows(
  ctx: ProjectCtx,
  { liveVersionOf }: Registry,
  versions: Pick<Version, 'id' | 'rule'>[],
  ids: UserId[],
  changes: ReadonlyMap<UserId, UserChange> = new Map(),
): Promise<Users> {
  const rules = versions.map(({ rule }) => rule)
  const named = rules.flatMap((rule) => rule.references.lists.flatMap((id) => liveVersionOf.get(id as ListId) ?? []))
  const memberships = await queries.findMemberships(ctx, ids, [...new Set([...versions.map(({ id }) => id), ...named])])
  return { ...(await loadNeeded(ctx, rules, ids, changes)), memberships: nested(memberships), liveVersionOf }
}

/** Reads what rules need beside memberships. */
export async function loadNeeded(ctx: ProjectCtx, rules: CompiledRule[], ids: UserId[], changes: ReadonlyMap<UserId, UserChange>) {
  const isNeeded = (need: keyof CompiledRule['needs']) => rules.some(({ needs }) => needs[need])
  const subscriptionIds = [...new Set(rules.flatMap(({ references }) => references.subscriptions))] as SubscriptionId[]
  const pairs = ids.flatMap((user_id) => subscriptionIds.map((subscription_id) => ({ user_id, subscription_id })))
  const states = pairs.length > 0 ? await subscriptionStates(ctx, pairs) : []
  const devices = isNeeded('devices') ? await devicesOf(ctx, ids) : []
  const journeyIds = [...new Set(rules.flatMap(({ references }) => references.journeys))] as JourneyId[]
  return {
    users: isNeeded('user') ? await loadUsers(ctx, ids, changes) : null,
    subscriptions: new Map(
      [...Map.groupBy(states, ({ user_id }) => user_id)].map(([id, rows]) => [
        id,
        new Map(rows.map(({ subscription_id, state }) => [subscription_id as number, state])),
      ]),
    ),
    devices: Map.groupBy(devices, ({ user_id }) => user_id) as Map<UserId, Device[]>,
    journeys: await journeyFactsOf(ctx, ids, journeyIds),
  }
}

async function loadUsers(ctx: ProjectCtx, ids: UserId[], changes: ReadonlyMap<UserId, UserChange>): Promise<Map<UserId, User>> {
  const users = new Map<UserId, User>()
  for (const id of ids) {
    const user = changes.get(id)?.user
    if (user) users.set(id, user)
  }
  const unknown = ids.filter((id) => !users.has(id))
  if (unknown.length > 0) for (const row of await findUsers(ctx, unknown)) users.set(row.id, row)
  return users
}

/** The facts about these users for one rule. With `events`, the times are read from all stored events. */
export async function loadFacts(
  ctx: ProjectCtx,
  rule: CompiledRule,
  trackerIds: readonly TrackerId[] | 'events',
  ids: UserId[],
): Promise<Map<UserId, UserFacts>> {
  const trackers = rule.trackers.map((tracker, index) => ({
    id: (trackerIds === 'events' ? index : trackerIds[index]) as TrackerId,
    tracker,
  }))
  const version = { id: 0 as ListVersionId, trackers, rule }
  const users = await loadUserRows(ctx, await loadRegistry(ctx), [version], ids)
  const times = trackerIds === 'events' ? await timesOfEvents(ctx, rule, ids) : await keptTimes(ctx, trackerIds, ids)
  return new Map(
    ids.flatMap((id): [UserId, UserFacts][] => {
      const facts = factsOf(version, users, times)
      return facts.select(id) ? [[id, facts.user]] : []
    }),
  )
}

/** The times of events that a rule counts, from all stored events. */
export async function timesOfEvents(ctx: ProjectCtx, { trackers }: CompiledRule, ids: UserId[]): Promise<Times> {
  const times: Times = new Map()
  for (const [index, tracker] of trackers.entries()) {
    const rows = await readTimes(ctx, tracker, ids)
    times.set(index as TrackerId, new Map(rows.map(({ user_id, times }) => [user_id, times])))
  }
  return times
}

async function keptTimes(ctx: ProjectCtx, trackerIds: readonly TrackerId[], ids: UserId[]): Promise<Times> {
  const times: Times = new Map(trackerIds.map((id) => [id, new Map()]))
  const wanted = new Map(trackerIds.map((id) => [id, new Set(ids)]))
  for (const row of await queries.findTimes(ctx, wanted)) times.get(row.tracker_id)?.set(row.user_id, row.times)
  return times
}

/** Memberships by user. */
export function nested(rows: queries.MembershipRow[]): Users['memberships'] {
  const memberships: Users['memberships'] = new Map()
  for (const row of rows) {
    const known = memberships.get(row.user_id)
    if (known) known.set(row.version_id, row)
    else memberships.set(row.user_id, new Map([[row.version_id, row]]))
  }
  return memberships
}

/**
 * The facts for one version. There is one object for all users: `select` fills it with a user, and returns false for a user who was erased
 * or merged.
 */
export function factsOf(version: Pick<Version, 'id' | 'trackers'>, users: Users, times: Times) {
  const kept = version.trackers.map(({ id }) => times.get(id))
  let current = 0 as UserId
  let memberships: ReadonlyMap<ListVersionId, queries.MembershipRow> = NO_MEMBERSHIPS
  const facts = {
    id: 0,
    user: NO_USER,
    devices: NO_DEVICES,
    times: (tracker: number) => kept[tracker]?.get(current) ?? NO_TIMES,
    isIn: (list: number) => {
      const live = users.liveVersionOf.get(list as ListId)
      return live !== undefined && memberships.get(live)?.is_member === true
    },
    journey: (id: number) => users.journeys.get(current)?.get(id),
    subscription: (id: number) => users.subscriptions.get(current)?.get(id) ?? 0,
  }
  return {
    user: facts as UserFacts,
    select: (id: UserId): boolean => {
      const user = users.users === null ? NO_USER : users.users.get(id)
      if (!user) return false
      current = id
      memberships = users.memberships.get(id) ?? NO_MEMBERSHIPS
      facts.id = id
      facts.user = user
      facts.devices = users.devices.get(id) ?? NO_DEVICES
      return true
    },
    membership: (id: UserId) => users.memberships.get(id)?.get(version.id),
  }
}

const NO_USER: User = {
  external_id: null,
  anonymous_id: null,
  email: null,
  phone: null,
  timezone: null,
  locale: null,
  data: {},
  has_push_device: false,
  created_at: new Date(0),
}

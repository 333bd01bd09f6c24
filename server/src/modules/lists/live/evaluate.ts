/**
 * Decides memberships again after a change. Only the lists that depend on the change are evaluated, only for the users that it is about,
 * and each list after the lists that its rule refers to. For each rank of lists, a few statements read what a batch needs, memberships are
 * decided in memory, and a few statements save them.
 */

import type { Partition } from '../../../infra/queue/partitions.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import type { StoredEvent } from '../../events/index.ts'
import { matchesTracker } from '../../rules/index.ts'
import { ownChanges, type UserChange, type UserChanges } from '../../users/index.ts'
import { CHECK_DUE } from '../job-names.ts'
import { factsOf, loadUserRows, type Times } from './load-facts.ts'
import { type MembershipChange, membershipEvent } from './membership-changes.ts'
import { mergedUsersOf } from './merged-users.ts'
import type { Brought } from './merges.ts'
import * as queries from './queries.ts'
import { isMaintained, type Registry, registryOf, type Version } from './registry.ts'
import { type Additions, add, loadTimes, openTimes, timesFor } from './times.ts'

/**
 * Evaluates the users that others were merged into for all lists, because any of their data may have changed. Such changes are inherited.
 * What a change of the user itself may decide is left to `evaluateMemberships`, with what depends on it. Comes before the events of the batch are stored, so that
 * they are not taken for what the merge brought. The caller holds the lock on lists.
 */
export async function evaluateMerges(ctx: InTx, changes: UserChanges, partition: Partition): Promise<MembershipChange[]> {
  if (changes.merges.length === 0) return []
  const users = mergedUsersOf(await registryOf(ctx), changes)
  const merged = users.map(({ user_id, atOnce }) => ({ user_id, versions: atOnce }))
  const later = new Map(users.map(({ user_id, later }) => [user_id, later]))
  const found = await evaluate(ctx, { merged, later }, partition)
  return found.map((change) => ({ ...change, inherited: true as const }))
}

/**
 * Evaluates memberships after these events and changes, and saves them. A user who enters a list that a user of its merges was in inherits
 * that, with what it changes in other lists. The caller holds the lock on lists.
 */
export async function evaluateMemberships(
  ctx: InTx,
  events: StoredEvent[],
  { changes, merges }: UserChanges,
  partition: Partition,
  brought: Brought[] = [],
): Promise<MembershipChange[]> {
  const mergedInto = new Map(merges.map(({ from_id, into_id }) => [from_id, into_id]))
  const reasons = {
    events: events.map(({ userId, source, event: { name, data, createdAt } }) => ({
      userId: mergedInto.get(userId) ?? userId,
      name,
      source,
      data,
      createdAtMs: createdAt.getTime(),
    })),
    changes,
    merged:
      merges.length === 0
        ? []
        : mergedUsersOf(await registryOf(ctx), { changes, merges }).map(({ user_id, after }) => ({ user_id, versions: after })),
  }
  return evaluate(ctx, { ...reasons, brought }, partition)
}

/** An event of a user, as rules see it. */
type RuleEvent = { userId: UserId; name: string; source: StoredEvent['source']; data: Record<string, unknown>; createdAtMs: number }

/** Why memberships are evaluated. */
type Reasons = {
  events?: RuleEvent[]
  changes?: UserChange[]
  /** Users that others were merged into, with versions that the merge may have changed. What nothing else changes is inherited. */
  merged?: { user_id: UserId; versions: readonly Version[] }[]
  /** Versions of these users that are left to a later evaluation. */
  later?: ReadonlyMap<UserId, ReadonlySet<Version>>
  /** Users with versions that a user of their merges was in: entering them is inherited, whatever the reason. */
  brought?: readonly Brought[]
  due?: { user_id: UserId; version_id: ListVersionId }[]
}

/** The users that are still to be evaluated, by version. */
type Pending = Map<Version, Set<UserId>>
type Work = {
  registry: Registry
  partition: Partition
  nowMs: number
  /** Lists up to this rank are decided. */
  rank: number
  pending: Pending
  /** Those of `pending` for which a merge is the only reason. */
  inherited: Pending
  later: ReadonlyMap<UserId, ReadonlySet<Version>>
  brought: ReadonlySet<string>
  additions: Additions
  /** Users of new events that a scan may have missed. */
  stale: Map<TrackerId, Set<UserId>>
  changes: Map<UserId, UserChange>
}

const NONE_LATER: Work['later'] = new Map()

const keyOf = (userId: UserId, versionId: ListVersionId) => `${userId} ${versionId}`

/** Evaluates memberships for these reasons, and saves them. Returns each change once. */
export async function evaluate(ctx: InTx, reasons: Reasons, partition: Partition): Promise<MembershipChange[]> {
  const registry = await registryOf(ctx)
  if (registry.versions.length === 0) return []
  const started = performance.now()
  const work: Work = {
    registry,
    partition,
    nowMs: ctx.clock.now().getTime(),
    rank: -1,
    pending: new Map(),
    inherited: new Map(),
    later: reasons.later ?? NONE_LATER,
    brought: new Set((reasons.brought ?? []).map(({ user_id, version_id }) => keyOf(user_id, version_id))),
    additions: new Map(),
    stale: new Map(),
    changes: new Map((reasons.changes ?? []).map((change) => [change.user_id, change])),
  }
  for (const { user_id, versions } of reasons.merged ?? []) for (const version of versions) addUser(work, version, user_id, 'merge')
  for (const event of reasons.events ?? []) addEvent(work, event, 'own')
  for (const change of reasons.changes ?? []) addChange(work, change)
  for (const { user_id, version_id } of reasons.due ?? []) {
    const version = registry.byId.get(version_id)
    if (version) addUser(work, version, user_id)
  }
  const changes: MembershipChange[] = []
  while (work.pending.size + work.additions.size > 0) {
    const found = await evaluateNextRank(ctx, work)
    for (const change of found) addMembershipChange(work, change)
    changes.push(...found)
  }
  if (work.stale.size > 0) await queries.markStale(ctx, work.stale)
  ctx.metrics.listsEvaluated('change', performance.now() - started)
  return changes
}

function addEvent(work: Work, { userId, ...event }: RuleEvent, reason: Reason): void {
  const { name, createdAtMs } = event
  for (const version of work.registry.dependingOn(`event:${name}`)) {
    const isKept = isMaintained(version, userId)
    if (!isKept && !version.isScanned) continue
    for (const { id, tracker } of version.trackers) {
      if (!matchesTracker(tracker, event, work.nowMs)) continue
      if (!isKept) {
        work.stale.set(id, (work.stale.get(id) ?? new Set()).add(userId))
        continue
      }
      if (version.rank > work.rank) add(work.additions, { version, id, tracker }, userId, createdAtMs, reason === 'merge')
    }
  }
}

/** What came by a merge is evaluated with the merge. */
function addChange(work: Work, { user_id, is_new, ...change }: UserChange): void {
  if (is_new) for (const version of work.registry.versions) addUser(work, version, user_id)
  else for (const name of ownChanges(change)) for (const version of work.registry.dependingOn(name)) addUser(work, version, user_id)
}

/** Why a membership is evaluated: for a merge only, or for what the user did itself too. */
type Reason = 'merge' | 'own'

function addUser(work: Work, version: Version, userId: UserId, reason: Reason = 'own'): void {
  if (!isMaintained(version, userId) || version.rank <= work.rank) return
  queue(work, version, userId, reason)
}

function queue({ pending, inherited, later }: Work, version: Version, userId: UserId, reason: Reason): void {
  if (later.size > 0 && later.get(userId)?.has(version)) return
  if (reason === 'own') inherited.get(version)?.delete(userId)
  else if (!pending.get(version)?.has(userId)) addTo(inherited, version, userId)
  addTo(pending, version, userId)
}

function addTo(to: Pending, version: Version, userId: UserId): void {
  const users = to.get(version)
  if (users) users.add(userId)
  else to.set(version, new Set([userId]))
}

/** Lists can depend on a list, and count the events of its membership changes. */
function addMembershipChange(work: Work, { userId, listId, entered, inherited }: MembershipChange): void {
  const reason = inherited ? 'merge' : 'own'
  for (const version of work.registry.dependingOn(`list:${listId}`)) addUser(work, version, userId, reason)
  const { name, data } = membershipEvent(listId, entered, new Date(work.nowMs))
  addEvent(work, { userId, name, source: 'system', data, createdAtMs: work.nowMs }, reason)
}

async function evaluateNextRank(ctx: InTx, work: Work): Promise<MembershipChange[]> {
  const additions = [...work.additions.values()]
  work.rank = Math.min(...[...work.pending.keys(), ...additions.map(({ version }) => version)].map((version) => version.rank))
  const added = additions.filter(({ version }) => version.rank === work.rank)
  for (const { id } of added) work.additions.delete(id)
  const times = openTimes(work.nowMs)
  // Events that leave the tracked times as they are cannot change a membership.
  for (const { version, userId, isInherited } of await loadTimes(ctx, times, added))
    queue(work, version, userId, isInherited ? 'merge' : 'own')
  const now = [...work.pending].filter(([version]) => version.rank === work.rank)
  for (const [version] of now) work.pending.delete(version)
  return now.length === 0 ? [] : decideAll(ctx, work, now, await timesFor(ctx, times, now))
}

async function decideAll(ctx: InTx, work: Work, now: [Version, Set<UserId>][], times: Times): Promise<MembershipChange[]> {
  const versions = now.map(([version]) => version)
  const userIds = [...new Set(now.flatMap(([, ids]) => [...ids]))]
  const users = await loadUserRows(ctx, work.registry, versions, userIds, work.changes)
  const outcome: Outcome = { saved: [], deleted: [], counts: new Map(), changes: [] }
  for (const [version, ids] of now) {
    const facts = factsOf(version, users, times)
    for (const id of ids) if (facts.select(id)) decide(work, version, id, facts.membership(id), facts.user, outcome)
  }
  if (outcome.saved.length > 0) await queries.saveMemberships(ctx, outcome.saved)
  if (outcome.saved.some(({ next_check_at }) => next_check_at !== null)) ctx.wake(CHECK_DUE)
  if (outcome.deleted.length > 0) await queries.removeMemberships(ctx, outcome.deleted)
  await queries.addToCounts(ctx, work.partition, outcome.counts)
  return outcome.changes
}

type Outcome = {
  saved: queries.SavedMembership[]
  deleted: { user_id: UserId; version_id: ListVersionId }[]
  counts: Map<ListVersionId, number>
  changes: MembershipChange[]
}

/**
 * Decides the membership of a user in a version. A stored time to check again is kept when it is in the future and not later than the next
 * change: at worst the check is early, and an event that postpones the next change needs no write.
 */
function decide(
  { nowMs, inherited, brought }: Work,
  version: Version,
  userId: UserId,
  before: queries.MembershipRow | undefined,
  facts: Parameters<Version['rule']['holds']>[0],
  outcome: Outcome,
): void {
  const wasIn = before?.is_member ?? false
  const isIn = version.rule.holds(facts, nowMs)
  const nextChange = version.rule.nextChangeAt(facts, nowMs)
  const known = before?.next_check_at?.getTime() ?? null
  const check = known !== null && known > nowMs && (nextChange === null || known <= nextChange) ? known : nextChange
  if (isIn !== wasIn) {
    outcome.counts.set(version.id, (outcome.counts.get(version.id) ?? 0) + (isIn ? 1 : -1))
    const isInherited = inherited.get(version)?.has(userId) === true || (isIn && brought.has(keyOf(userId, version.id)))
    if (version.isLive) outcome.changes.push({ userId, listId: version.listId, entered: isIn, ...(isInherited && { inherited: true }) })
  }
  if (!isIn && check === null) {
    if (before) outcome.deleted.push({ user_id: userId, version_id: version.id })
  } else if (isIn !== wasIn || check !== known) {
    outcome.saved.push({
      user_id: userId,
      version_id: version.id,
      is_member: isIn,
      changed_at: new Date(nowMs),
      next_check_at: check === null ? null : new Date(check),
    })
  }
}

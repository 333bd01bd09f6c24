/**
 * Who moves into a list or out of it because of what happened. Only the lists that mention what changed are looked at, only for
 * the people it happened to, in the order in which lists mention each other. Everything a batch needs is read by a few statements
 * for each rank, decided in memory, and written by a few.
 */

import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import { matchesTracker } from '../../rules/index.ts'
import type { UserChange } from '../../users/index.ts'
import { factsOf, loadUserRows, type Times } from './load-facts.ts'
import * as queries from './queries.ts'
import { isMaintained, type Registry, type Version } from './registry.ts'
import { type Additions, add, loadTimes, openTimes, timesFor } from './times.ts'

/** Somebody entered a list, or left it. */
export type MembershipChange = { userId: UserId; listId: ListId; entered: boolean }

/** An event that was stored, as the rules see it. */
export type StoredEvent = { userId: UserId; name: string; data: Record<string, unknown>; createdAtMs: number }

export type Evaluation = {
  occurrences?: StoredEvent[]
  changes?: UserChange[]
  /** Whose time has come. */
  due?: { user_id: UserId; version_id: ListVersionId }[]
}

/** What is still to be looked at: people by version. */
type Pending = Map<Version, Set<UserId>>
type Work = {
  registry: Registry
  partition: number
  nowMs: number
  /** Up to this rank everything is decided. */
  rank: number
  pending: Pending
  additions: Additions
  /** Who did something that the reading of past events may have missed. */
  marks: Map<TrackerId, Set<UserId>>
  changes: Map<UserId, UserChange>
}

/** Looks again, and writes down where people stand now. The answer is who moved, each once. */
export async function evaluateMemberships(
  ctx: InTx,
  registry: Registry,
  partition: number,
  happened: Evaluation,
): Promise<MembershipChange[]> {
  if (registry.versions.length === 0) return []
  const work: Work = {
    registry,
    partition,
    nowMs: ctx.clock.now().getTime(),
    rank: -1,
    pending: new Map(),
    additions: new Map(),
    marks: new Map(),
    changes: new Map((happened.changes ?? []).map((change) => [change.user_id, change])),
  }
  for (const occurrence of happened.occurrences ?? []) occurred(work, occurrence)
  for (const change of happened.changes ?? []) changed(work, change)
  for (const { user_id, version_id } of happened.due ?? []) {
    const version = registry.byId.get(version_id)
    if (version) lookAgain(work, version, user_id)
  }
  const moves: MembershipChange[] = []
  while (work.pending.size + work.additions.size > 0) {
    const moved = await nextRank(ctx, work)
    for (const move of moved) announce(work, move)
    moves.push(...moved)
  }
  if (work.marks.size > 0) await queries.markStale(ctx, work.marks)
  return moves
}

function occurred(work: Work, { userId, name, data, createdAtMs }: StoredEvent): void {
  const event = { name, data, createdAtMs }
  for (const version of work.registry.mentioning(`event:${name}`)) {
    const kept = isMaintained(version, userId)
    if (!kept && !version.isScanned) continue
    for (const { id, tracker } of version.trackers) {
      if (!matchesTracker(tracker, event, work.nowMs)) continue
      if (!kept) {
        work.marks.set(id, (work.marks.get(id) ?? new Set()).add(userId))
        continue
      }
      if (version.rank > work.rank) add(work.additions, { version, id, tracker }, userId, createdAtMs)
    }
  }
}

function changed(work: Work, { user_id, what, is_new }: UserChange): void {
  if (is_new) for (const version of work.registry.versions) lookAgain(work, version, user_id)
  else for (const name of what) for (const version of work.registry.mentioning(name)) lookAgain(work, version, user_id)
}

function lookAgain({ pending, rank }: Work, version: Version, userId: UserId): void {
  if (!isMaintained(version, userId) || version.rank <= rank) return
  queue(pending, version, userId)
}

function queue(pending: Pending, version: Version, userId: UserId): void {
  const users = pending.get(version)
  if (users) users.add(userId)
  else pending.set(version, new Set([userId]))
}

/** A move is a fact for the lists that mention the list, or count the moves. */
function announce(work: Work, { userId, listId, entered }: MembershipChange): void {
  for (const version of work.registry.mentioning(`list:${listId}`)) lookAgain(work, version, userId)
  occurred(work, { userId, name: entered ? 'list_entered' : 'list_left', data: { list_id: listId }, createdAtMs: work.nowMs })
}

async function nextRank(ctx: InTx, work: Work): Promise<MembershipChange[]> {
  const additions = [...work.additions.values()]
  work.rank = Math.min(...[...work.pending.keys(), ...additions.map(({ version }) => version)].map((version) => version.rank))
  const added = additions.filter(({ version }) => version.rank === work.rank)
  for (const { id } of added) work.additions.delete(id)
  const book = openTimes(work.nowMs)
  // Events that change none of the times that matter are no reason to look again.
  for (const { version, userId } of await loadTimes(ctx, book, added)) queue(work.pending, version, userId)
  const now = [...work.pending].filter(([version]) => version.rank === work.rank)
  for (const [version] of now) work.pending.delete(version)
  return now.length === 0 ? [] : settle(ctx, work, now, await timesFor(ctx, book, now))
}

async function settle(ctx: InTx, work: Work, now: [Version, Set<UserId>][], times: Times): Promise<MembershipChange[]> {
  const everybody = [...new Set(now.flatMap(([, users]) => [...users]))]
  const users = await loadUserRows(
    ctx,
    work.registry,
    now.map(([version]) => version),
    everybody,
    work.changes,
  )
  const outcome: Outcome = { saved: [], gone: [], counts: new Map(), moves: [] }
  for (const [version, ids] of now) {
    const facts = factsOf(version, users, times)
    for (const id of ids) if (facts.is(id)) decide(work, version, id, facts.standing(id), facts.user, outcome)
  }
  if (outcome.saved.length > 0) await queries.saveStandings(ctx, outcome.saved)
  if (outcome.gone.length > 0) await queries.deleteStandings(ctx, outcome.gone)
  await queries.addToCounts(ctx, work.partition, outcome.counts)
  return outcome.moves
}

type Outcome = {
  saved: queries.Standing[]
  gone: { user_id: UserId; version_id: ListVersionId }[]
  counts: Map<ListVersionId, number>
  moves: MembershipChange[]
}

/**
 * Where a person stands with a version now. An instant to look again that is on record and not later than the next turn is left
 * alone: it comes early at worst, and events that push the turn further away then cost nothing.
 */
function decide(
  { nowMs }: Work,
  version: Version,
  userId: UserId,
  before: queries.StandingRow | undefined,
  facts: Parameters<Version['rule']['holds']>[0],
  outcome: Outcome,
): void {
  const wasIn = before?.is_member ?? false
  const isIn = version.rule.holds(facts, nowMs)
  const turn = version.rule.nextTurn(facts, nowMs)
  const known = before?.next_check_at?.getTime() ?? null
  const check = known !== null && known > nowMs && (turn === null || known <= turn) ? known : turn
  if (isIn !== wasIn) {
    outcome.counts.set(version.id, (outcome.counts.get(version.id) ?? 0) + (isIn ? 1 : -1))
    if (version.isLive) outcome.moves.push({ userId, listId: version.listId, entered: isIn })
  }
  if (!isIn && check === null) {
    if (before) outcome.gone.push({ user_id: userId, version_id: version.id })
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

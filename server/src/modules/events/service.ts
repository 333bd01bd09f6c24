import { refuseWhenFull } from '../../infra/backlog.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../infra/ctx.ts'
import { parseJson } from '../../infra/http/body.ts'
import type { AcceptedKind, Appender, ClaimedRequest, ParkedItem } from '../../infra/stream.ts'
import { insertGroup } from '../../infra/stream.ts'
import { ApiError, type Fault, refuse } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import {
  type Arrival,
  checkForLater,
  checkItem,
  findUsers,
  type LoggedChange,
  type Profile,
  type SystemEvent,
  type UserRow,
} from '../users/index.ts'
import { type AcceptedEvent, checkForAcceptance, refuseUnlessAnonymous, toAcceptedEvent } from './accepted.ts'
import { missingMonths, monthOf } from './months.ts'
import * as queries from './queries.ts'
import { countEvents } from './stats.ts'

const DAY_MS = 86_400_000
const EVENT_ID_MEMORY_MS = 30 * DAY_MS
const MONTHS_AHEAD = 3

/** Checks the whole request, then stores it durably; answered only after the commit (D-EVT-1). */
export async function acceptEvents(ctx: ProjectCtx, appender: Appender, items: unknown[], body: Buffer, requestId: string): Promise<void> {
  const { caller } = ctx
  refuseUnlessAnonymous(items, caller)
  refuse(items.flatMap((item, at) => checkForAcceptance(item, at, ctx.project, caller.kind === 'user')))
  if (caller.kind === 'user') await refuseOthers(ctx, caller.userId, items)
  await append(ctx, appender, 'events', items.length, body, requestId)
  ctx.metrics.eventsIngested('accepted', items.length)
}

/** The same road for `PATCH /users` (D-PATCHU-1). */
export async function acceptUpserts(ctx: ProjectCtx, appender: Appender, items: unknown[], body: Buffer, requestId: string): Promise<void> {
  refuse(items.flatMap((item, at): Fault[] => checkForLater(item, at, ctx.project)))
  await append(ctx, appender, 'users', items.length, body, requestId)
}

async function append(
  ctx: ProjectCtx,
  appender: Appender,
  kind: AcceptedKind,
  items: number,
  body: Buffer,
  requestId: string,
): Promise<void> {
  await refuseWhenFull(ctx)
  const { caller, projectId } = ctx
  const userId = caller.kind === 'user' ? caller.userId : null
  const request = { projectId, kind, userId, requestId, receivedAt: ctx.clock.now(), items, body }
  // Under an Idempotency-Key the append commits with the record of the reply; otherwise it shares a commit with others.
  return 'inTransaction' in ctx.db ? insertGroup(ctx.db, [request]) : appender.append(request)
}

/** With a user token, ids may be left out; given, they must be that user's. */
async function refuseOthers(ctx: ProjectCtx, userId: UserId, items: unknown[]): Promise<void> {
  const [user] = await findUsers(ctx, [userId])
  const own = (user: UserRow | undefined, { external_id, anonymous_id }: Record<string, unknown>) =>
    (external_id === undefined || external_id === null || external_id === user?.external_id) &&
    (anonymous_id === undefined || anonymous_id === null || anonymous_id === user?.anonymous_id)
  if (items.every((item) => own(user, item as Record<string, unknown>))) return
  throw new ApiError('permission_denied', 'The ids of an event must be those of the user that the token is bound to, or be left out.', {
    reason: 'other_user',
  })
}

/** One item of the log: who it speaks of and, unless it is a queued upsert, the event; or what became different by another way. */
export type ReadItem = { key: string; source: Omit<ParkedItem, 'reason'> } & (
  | { arrival: Arrival; event?: AcceptedEvent }
  | { change: LoggedChange }
)

/** Reads the stored bytes again. What an older release accepted and this one does not understand is parked, not lost. */
export function readRequest({ position, kind, user_id, request_id, received_at, body }: ClaimedRequest): {
  items: ReadItem[]
  parked: ParkedItem[]
} {
  const items: ReadItem[] = []
  const parked: ParkedItem[] = []
  for (const [index, item] of (parseJson(body) as unknown[]).entries()) {
    const source = { kind, request_id, received_at, item }
    const key = `${position}-${index}`
    try {
      if (kind === 'changes') {
        items.push({ key, source, change: item as LoggedChange })
        continue
      }
      const { profile, event } = kind === 'events' ? toAcceptedEvent(item, key, received_at) : { profile: toUpsert(item), event: undefined }
      items.push({ key, source, arrival: { profile, at: received_at, ...(user_id !== null && { user_id }) }, ...(event && { event }) })
    } catch (error) {
      parked.push({ ...source, reason: (error as Error).message })
    }
  }
  return { items, parked }
}

function toUpsert(item: unknown): Profile {
  const checked = checkItem(item)
  if ('faults' in checked) throw new Error(checked.faults.map(({ message }) => message).join(' '))
  return checked.profile
}

/** A fact of the system's own, as an event under a key of its own. */
export const toSystemEvent = ({ name, data, created_at }: SystemEvent, key: string, receivedAt: Date): AcceptedEvent => ({
  key,
  name,
  data,
  createdAt: new Date(created_at),
  receivedAt,
  eventId: null,
})

/** An event that is stored: a fact about a person. */
export type Fact = { userId: UserId; event: AcceptedEvent; triggers: boolean }

/** An event with its person; a silent one triggers nothing. */
export type Arrived = { userId: UserId; event: AcceptedEvent; silent?: true }

/** Stores each event once. Repeats of an event id fall away; what is left are the facts, in order. */
export async function record(ctx: InTx, arrived: Arrived[], lane: number): Promise<Fact[]> {
  const fresh = await withoutRepeats(ctx, arrived)
  if (fresh.length === 0) return []
  await queries.copyEvents(
    ctx,
    fresh.map(({ userId, event }) => ({
      project_id: ctx.projectId,
      user_id: userId,
      name: event.name,
      data: event.data,
      created_at: event.createdAt,
      received_at: event.receivedAt,
    })),
  )
  await countEvents(ctx, fresh, lane)
  ctx.metrics.eventsIngested('processed', fresh.length)
  const oldest = ctx.clock.now().getTime() - ctx.config.EVENT_TRIGGER_MAX_AGE_H * 3_600_000
  return fresh.map(({ userId, event, silent }) => ({ userId, event, triggers: !silent && event.createdAt.getTime() >= oldest }))
}

async function withoutRepeats(ctx: InTx, arrived: Arrived[]): Promise<Arrived[]> {
  const seen = new Set<string>()
  const first = arrived.filter(({ event: { eventId } }) => eventId === null || (!seen.has(eventId) && seen.add(eventId)))
  const named = first.flatMap(({ event }) => (event.eventId === null ? [] : [{ event_id: event.eventId, received_at: event.receivedAt }]))
  if (named.length === 0) return first
  const since = new Date(ctx.clock.now().getTime() - EVENT_ID_MEMORY_MS)
  const known = new Set((await queries.rememberEventIds(ctx, named, since)).map(({ event_id }) => event_id))
  const fresh = first.filter(({ event: { eventId } }) => eventId === null || known.has(eventId))
  ctx.metrics.eventsIngested('duplicate', arrived.length - fresh.length)
  return fresh
}

/**
 * Makes the partitions up to three months ahead, without a gap since the first one;
 * the first time, also the home of everything older. The answer is how many were made.
 */
export async function preparePartitions(ctx: Ctx): Promise<number> {
  const now = ctx.clock.now()
  if (missingMonths(await queries.listPartitions(ctx), now, MONTHS_AHEAD).length === 0) return 0
  return inTx(ctx, async (ctx) => {
    await queries.lockPartitions(ctx)
    const there = await queries.listPartitions(ctx)
    const missing = missingMonths(there, now, MONTHS_AHEAD)
    if (!there.has('events_past')) await queries.createPast(ctx, monthOf(now))
    for (const month of missing) await queries.createPartition(ctx, month)
    return missing.length
  })
}

/** Forgets event ids after 30 days. */
export const forgetEventIds = (ctx: Ctx): Promise<number> =>
  queries.purgeEventIds(ctx, new Date(ctx.clock.now().getTime() - EVENT_ID_MEMORY_MS))

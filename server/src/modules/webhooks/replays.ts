/**
 * Replays: past events of a time are delivered to an endpoint again. They are queued some at a time, so that new events of the endpoint do not
 * wait behind them.
 */
import type { PageRequest } from '../../infra/http/paging.ts'
import { type Ctx, type InTx, inClaim, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, fault } from '../../lib/errors.ts'
import type { EndpointId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { DAY_MS, parseTime } from '../../lib/times.ts'
import { eventsWithin, nextPosition, type PastEvent, positionAt, rangesToNumber, transactionsStoring } from '../webhook-events/index.ts'
import * as deliveryQueries from './deliveries.queries.ts'
import { FAILING_PENDING_MAX, isFailing, roomOf } from './dispatch.ts'
import { DELIVER, REPLAY } from './job-names.ts'
import * as queries from './replays.queries.ts'
import type { ReplayInput, ReplayRow } from './schema.ts'
import { getEndpoint, KEPT_DAYS, lockActive } from './service.ts'

/** Throws 422 while another replay of the endpoint is running, or if the period is not within the past 30 days. */
export function startReplay(ctx: ProjectCtx, id: EndpointId, input: ReplayInput): Promise<ReplayRow> {
  const { since, until } = timeOf(input, ctx.clock.now())
  return inTx(ctx, async (ctx) => {
    const endpoint = await lockActive(ctx, id)
    const replay = await queries.insertReplay(ctx, id, {
      event_types: distinct(input.event_types ?? endpoint.event_types),
      since,
      until,
      unaccepted_only: input.unaccepted_only ?? false,
      position: await positionAt(ctx, since),
      open_transactions: await transactionsStoring(ctx),
    })
    if (!replay) throw new ApiError('validation_failed', 'Another replay of the endpoint is running. Wait until it is finished.')
    ctx.wake(REPLAY)
    return replay
  })
}

function timeOf({ since: start, until: end }: ReplayInput, now: Date): { since: Date; until: Date } {
  const since = parseTime(start) as Date
  const until = end === undefined ? now : (parseTime(end) as Date)
  if (since.getTime() < now.getTime() - KEPT_DAYS * DAY_MS)
    throw fault('validation_failed', 'since', `The time in \`since\` is more than ${KEPT_DAYS} days ago. Older events are deleted.`)
  if (since > until) throw fault('validation_failed', 'since', 'The time in `since` must not be after `until`, or in the future.')
  return { since, until }
}

export async function listReplays(ctx: ProjectCtx, id: EndpointId, page: PageRequest) {
  await getEndpoint(ctx, id)
  return queries.listReplays(ctx, id, page)
}

const REPLAYS_AT_ONCE = 50
const PER_PROJECT = 5
/** So many events are read for each replay in a run, most of which may be of another time. */
const EVENTS_READ = 500
/** A replay queues nothing while this many deliveries of its endpoint are due: half of what an endpoint may have. */
const DUE_MAX = 50
/** A replay that has found no room looks again after this time. */
const ROOM_EVERY_MS = 200
/** A failing endpoint gets one delivery in this time, when none is due. */
const FAILING_EVERY_MS = 60_000
/** A replay that has read all events so far looks again after this time while events from before it have no position. */
const NUMBERED_EVERY_MS = 1000

/** Queues the next deliveries of replays. Returns the number of events that were looked at. */
export async function replayDue(ctx: Ctx): Promise<number> {
  const done = await inClaim(ctx, round)
  if (done.deliveries > 0) ctx.wake(DELIVER)
  return done.events
}

async function round(ctx: InTx<Ctx>): Promise<{ events: number; deliveries: number }> {
  const replays = await withEnds(ctx, await queries.lockReplays(ctx, PER_PROJECT, REPLAYS_AT_ONCE))
  if (replays.length === 0) return { events: 0, deliveries: 0 }
  const backlogs = new Map(
    (await deliveryQueries.backlogsOf(ctx, replays, DUE_MAX, FAILING_PENDING_MAX)).map((row) => [row.endpoint_id, row]),
  )
  const placed = replays.map((replay): Placed => {
    const backlog = backlogs.get(replay.endpoint_id)
    return { ...replay, room: roomOf(backlog, DUE_MAX), isFailing: isFailing(backlog) }
  })
  const found = await readEvents(
    ctx,
    placed.filter(({ room }) => room > 0),
  )
  const parts = placed.map((replay) => {
    const part = nextPart(replay, found.get(replay.id) ?? [])
    return { ...part, replay, due_at: dueAfter(replay, part, ctx.clock.now()) }
  })
  const queued = await queries.repeatDeliveries(
    ctx,
    parts.flatMap(({ replay, events }) =>
      events.map(({ id, type, created_at }) => ({
        project_id: replay.project_id,
        endpoint_id: replay.endpoint_id,
        replay_id: replay.id,
        event_id: id,
        event_type: type,
        unaccepted_only: replay.unaccepted_only,
        created_at,
      })),
    ),
  )
  const queuedFor = Map.groupBy(queued, ({ endpoint_id }) => endpoint_id)
  await queries.saveProgress(
    ctx,
    parts.map(({ replay: { project_id, id, endpoint_id, end_position }, position, due_at }) => ({
      project_id,
      id,
      position,
      end_position,
      due_at,
      deliveries: queuedFor.get(endpoint_id)?.length ?? 0,
    })),
  )
  return { events: parts.reduce((sum, { read }) => sum + read, 0), deliveries: queued.length }
}

/** A replay, and how many deliveries its endpoint may get now. */
type Placed = queries.RunningReplay & { room: number; isFailing: boolean }

/** When a replay goes on; null if it is finished. */
function dueAfter({ room, isFailing, end_position }: Placed, { events, isLast }: Part, now: Date): Date | null {
  if (isLast && end_position !== queries.UNKNOWN_END) return null
  if (isFailing && events.length >= room) return new Date(now.getTime() + FAILING_EVERY_MS)
  if (isLast) return new Date(now.getTime() + NUMBERED_EVERY_MS)
  return new Date(now.getTime() + (room > 0 ? 0 : ROOM_EVERY_MS))
}

/**
 * Ends replays behind the events so far, once the transactions that were storing events when they began have ended, and those from before them
 * have positions. Called before events are read.
 */
async function withEnds(ctx: InTx<Ctx>, replays: queries.RunningReplay[]): Promise<queries.RunningReplay[]> {
  const open = replays.filter(({ end_position }) => end_position === queries.UNKNOWN_END)
  if (open.length === 0) return replays
  // Asked before the events are: those of a transaction that ends in between are found.
  const storing = new Set(await transactionsStoring(ctx))
  const early = await rangesToNumber(ctx, open)
  const end_position = await nextPosition(ctx)
  const mayEnd = ({ id, open_transactions }: queries.RunningReplay) =>
    !early.has(id) && !open_transactions.some((transaction) => storing.has(transaction))
  return replays.map((replay) => (open.includes(replay) && mayEnd(replay) ? { ...replay, end_position } : replay))
}

const isWithin = ({ since, until }: queries.RunningReplay, { occurred_at }: PastEvent) => occurred_at >= since && occurred_at <= until

/** A past event, and whether the replay leaves it out because the endpoint has accepted it. */
type ReadEvent = PastEvent & { isAccepted: boolean }

/** The next events of each replay. */
async function readEvents(ctx: InTx<Ctx>, replays: queries.RunningReplay[]): Promise<Map<number, ReadEvent[]>> {
  if (replays.length === 0) return new Map()
  const found = Map.groupBy(await eventsWithin(ctx, replays, EVENTS_READ), ({ replay_id }) => replay_id)
  const asked = replays
    .filter(({ unaccepted_only }) => unaccepted_only)
    .flatMap((replay) =>
      (found.get(replay.id) ?? [])
        .filter((event) => isWithin(replay, event))
        .map(({ id: event_id }) => ({ project_id: replay.project_id, endpoint_id: replay.endpoint_id, replay_id: replay.id, event_id })),
    )
  const accepted = asked.length > 0 ? await queries.acceptedAmong(ctx, asked) : []
  const names = new Set(accepted.map(({ replay_id, event_id }) => `${replay_id} ${event_id}`))
  const readOf = (event: PastEvent): ReadEvent => ({ ...event, isAccepted: names.has(`${event.replay_id} ${event.id}`) })
  return new Map([...found].map(([id, events]) => [id, events.map(readOf)]))
}

type Part = { events: PastEvent[]; read: number; position: number; isLast: boolean }

/** What of the events that were read is delivered now. Those of another time and those that are left out need no room. */
function nextPart(replay: Placed, read: ReadEvent[]): Part {
  const events: PastEvent[] = []
  let position = replay.position
  for (const [at, event] of read.entries()) {
    const isWanted = isWithin(replay, event) && !event.isAccepted
    if (isWanted && events.length >= replay.room) return { events, read: at, position, isLast: false }
    if (isWanted) events.push(event)
    position = event.position
  }
  return { events, read: read.length, position, isLast: replay.room > 0 && read.length < EVENTS_READ }
}

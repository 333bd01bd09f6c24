/**
 * The order in which a batch takes effect: users, then what other modules store about them, lists, events, lists again, messages. Each
 * function is one transaction, or runs in that of its caller. Its steps return their results, which later steps use.
 */

import { consumeDue } from './infra/queue/consume-due.ts'
import type { Consumer } from './infra/queue/consumer.ts'
import type { Started } from './infra/queue/jobs.ts'
import { TIMERS, UNDIVIDED } from './infra/queue/partitions.ts'
import { oldestEntryAt, type ParkedItem } from './infra/queue/queue.ts'
import { afterCommit, type Ctx, type InTx } from './infra/runtime/ctx.ts'
import type { Tracing } from './infra/runtime/tracing.ts'
import type { UserId } from './lib/ids.ts'
import { recordActivity } from './modules/activity/index.ts'
import { findTriggers, matchTriggers, type TriggersOf } from './modules/campaigns/index.ts'
import { requireEventMonths, type StoredEvent, storeEvents } from './modules/events/index.ts'
import {
  concernedUsers,
  type Item,
  itemsOfKept,
  type KnownUsers,
  newEventsOf,
  parkedOf,
  queuedChangesOf,
  requestReader,
  updatesOf,
  usersOfItems,
  wavesOf,
} from './modules/ingest/index.ts'
import {
  type Applied,
  appendListChanges,
  applyOccasions,
  applyTimers,
  applyTimersBefore,
  eraseJourneys,
  findDueTimers,
  mergeJourneys,
  nextTimerAt,
  occasionsOf,
  type Place,
  type Published,
  parkTimer,
  projectsWithDueTimers,
  publishedGraphs,
  publishedGraphsAhead,
  type UserItem,
} from './modules/journeys/index.ts'
import {
  dependenciesThrough,
  eraseMemberships,
  evaluateDueMemberships,
  evaluateMemberships,
  listsAhead,
  lockLists,
  lockListsShared,
  membershipEventsOf,
  mergeMemberships,
  projectsWithDueMemberships,
  tryLockListsShared,
} from './modules/lists/index.ts'
import { enqueueMessages } from './modules/messages/index.ts'
import { contextOf, inEachProject } from './modules/projects/index.ts'
import { recordSignUps } from './modules/subscriptions/index.ts'
import {
  type IdentifiedUser,
  identifyUsers,
  joinChanges,
  knownIdsAhead,
  requireSameErasures,
  systemEventsOf,
} from './modules/users/index.ts'
import { mergeUserData } from './user-changes.ts'

/** Applies accepted requests, and timers of journeys that are due: one batch for each project that has some. */
export async function applyAcceptedRequests(ctx: Ctx): Promise<Started> {
  await requireEventMonths(ctx)
  return consumeDue(ctx, consumerOf(ctx))
}

/** How batches are applied. `outside` is the context in which no transaction has begun. */
const consumerOf = (outside: Ctx): Consumer<Item, KnownUsers, TimerOfUser> => ({
  ...requestReader,
  contextOf,
  tryLock: tryLockListsShared,
  async readAhead(tx, projectId) {
    const ctx = { ...tx, projectId } as InTx
    await Promise.all([publishedGraphsAhead(ctx), knownIdsAhead(ctx), listsAhead(ctx)])
  },
  projectsDue: projectsWithDueTimers,
  findDue: async (ctx, upTo, max) => (await findDueTimers(ctx, upTo, max)).map((timer) => ({ userId: timer.user_id, timer })),
  apply: (ctx, items, known, partition, due) => applyBatch(ctx, { outside: outside.db, partition }, items, known, due),
  async parkDue(ctx, { timer }, reason) {
    const published = await publishedGraphs(ctx)
    if (published) await parkTimer(ctx, { outside: outside.db, partition: UNDIVIDED }, published, timer, reason)
  },
})

type TimerOfUser = { userId: UserId; timer: Parameters<typeof parkTimer>[3] }

/** When the oldest entry was accepted, or the next timer is due. */
export async function nextWorkAt(ctx: Ctx): Promise<Date | null> {
  const [entry, timer] = [await oldestEntryAt(ctx), await nextTimerAt(ctx)]
  return entry !== null && (timer === null || entry < timer) ? entry : timer
}

/**
 * A batch: its waves one after the other, and then the timers that are due up to it. Without journeys there is one wave. Of the items of a
 * user that journeys depend on, each is in a wave of its own.
 */
async function applyBatch(ctx: InTx, place: Place, items: Item[], known: KnownUsers, due: TimerOfUser[]): Promise<ParkedItem[]> {
  await lockListsShared(ctx)
  const published = await publishedGraphs(ctx)
  if (published === null) return applyWave(ctx, place, items, known, null)
  const watches = await dependenciesThrough(ctx, published.watches)
  const parked: ParkedItem[] = []
  for (const [number, wave] of wavesOf(items, known, watches).entries()) {
    const current = number === 0 ? known : await requestReader.lookUp(ctx, wave, false)
    const before = await applyTimersBefore(ctx, place, published, concernedUsers(wave, current, watches))
    await finishWave(ctx, [], before.applied)
    parked.push(...(await applyWave(ctx, place, wave, current, { published, rows: before.rows })))
  }
  const timers = due.map(({ timer }) => timer)
  if (timers.length > 0) await finishWave(ctx, [], await applyTimers(ctx, place, published, timers))
  return parked
}

/** The journeys that a wave is applied to, and the entrances of its users that were read. */
type Journeys = { published: Published; rows: Awaited<ReturnType<typeof applyTimersBefore>>['rows'] }

/** The order of a wave: users, what other modules store about them, events, memberships, journeys, messages. */
async function applyWave(ctx: InTx, place: Place, accepted: Item[], known: KnownUsers, journeys: Journeys | null): Promise<ParkedItem[]> {
  const items = itemsOfKept(accepted, known)
  if (items.length === 0) return []
  const startedAt = ctx.clock.now()
  const { partition } = place
  const identified = await identifyUsers(ctx, updatesOf(items), known.ids)
  if (identified.changes.changes.some(({ is_new }) => is_new)) await requireSameErasures(ctx, known.ids.erased)
  await mergeUserData(ctx, identified.changes.merges)
  await recordSignUps(ctx, identified.changes.changes)
  const queued = queuedChangesOf(items, known)
  const changes = joinChanges(identified.changes, queued)
  await mergeMemberships(ctx, changes.merges, partition)
  if (journeys) await mergeJourneys(ctx, place, journeys.published, changes.merges)
  await eraseMemberships(ctx, queued.erased, partition)
  if (journeys) await eraseJourneys(ctx, queued.erased)
  const systemEvents = [...queued.events, ...systemEventsOf(ctx, changes.changes)]
  const newEvents = newEventsOf(items, identified.users, systemEvents)
  const starting = newEvents.filter(({ starts = 'all' }) => starts === 'all').map(({ event }) => event.name)
  // Asked for together, so that they share a round trip.
  const [events, triggers] = await Promise.all([storeEvents(ctx, newEvents, partition), findTriggers(ctx, starting)])
  const memberships = await evaluateMemberships(ctx, events, changes, partition)
  const aboutLists = await storeEvents(ctx, membershipEventsOf(ctx, memberships), partition)
  const applied = journeys
    ? await applyOccasions(
        ctx,
        place,
        journeys.published,
        occasionsOf(
          { items: itemsOfUsers(items, identified.users, known), events, memberships, changes: changes.changes },
          ctx.clock.now(),
        ),
        changes.merges.length > 0 ? undefined : journeys.rows,
      )
    : NOTHING_APPLIED
  const requestOf = ctx.tracing ? requestsOfIntents(items, usersOfItems(items, identified.users, known)) : undefined
  await finishWave(ctx, [...events, ...aboutLists], applied, { requestOf, triggers })
  const { tracing } = ctx
  if (tracing) afterCommit(ctx, () => traceItems(ctx, tracing, items, startedAt))
  return parkedOf(items, identified.users)
}

const NOTHING_APPLIED: Applied = { events: [], intents: [] }

/** Records what users did, and creates the messages of trigger campaigns and of journeys, when everything that forbids them is known. */
async function finishWave(
  ctx: InTx,
  events: StoredEvent[],
  { events: ofSteps, intents }: Applied,
  { requestOf, triggers }: { requestOf?: RequestOf | undefined; triggers?: TriggersOf } = {},
): Promise<void> {
  await recordActivity(ctx, [...events, ...ofSteps])
  const all = [...(await matchTriggers(ctx, [...events, ...ofSteps], triggers)), ...intents]
  await enqueueMessages(ctx, requestOf ? all.map((intent) => withRequest(intent, requestOf(intent))) : all)
}

type RequestOf = (intent: { user_id: UserId; cause: string }) => string | undefined

const withRequest = <I extends object>(intent: I, requestId: string | undefined) => ({ ...intent, ...(requestId && { requestId }) })

/** Which request an intent of a wave came from: that of the event that caused it, or the last one about its user. */
function requestsOfIntents(items: Item[], owners: Map<Item, UserId>) {
  const byEvent = new Map(items.flatMap((item) => ('event' in item && item.event ? [[item.event.key, item.source.request_id]] : [])))
  const byUser = new Map(items.map((item) => [owners.get(item), item.source.request_id]))
  return ({ user_id, cause }: { user_id: UserId; cause: string }) =>
    byEvent.get(cause.slice(cause.indexOf('event:') + 'event:'.length)) || byUser.get(user_id) || undefined
}

/** A span for each request of a wave. */
function traceItems({ clock }: InTx, tracing: Tracing, items: Item[], startedAt: Date): void {
  const elapsedMs = clock.now().getTime() - startedAt.getTime()
  const byRequest = Map.groupBy(items, ({ source }) => source.request_id)
  for (const [requestId, { length }] of byRequest)
    if (requestId !== '')
      tracing.record(
        { name: 'apply', kind: 'consumer', requestId, startedAt, attributes: { 'carillon.items': length } },
        { elapsedMs, failed: false },
      )
}

/** The items of a wave with their users, as journeys read them. */
function itemsOfUsers(items: Item[], users: IdentifiedUser[], known: KnownUsers): UserItem[] {
  const owners = usersOfItems(items, users, known)
  return items.flatMap((item): UserItem[] => {
    const userId = owners.get(item)
    if (userId === undefined) return []
    const own = 'journey' in item ? (item.journey as UserItem['item']) : null
    return [{ userId, key: item.key, at: item.source.received_at, item: own }]
  })
}

/** Evaluates memberships whose time has come: one batch for each project. */
export const applyDueTimers = async (ctx: Ctx): Promise<number> => inEachProject(ctx, await projectsWithDueMemberships(ctx), applyDue)

async function applyDue(ctx: InTx): Promise<number> {
  await lockLists(ctx)
  const { changes, evaluated } = await evaluateDueMemberships(ctx)
  const events = await storeEvents(ctx, membershipEventsOf(ctx, changes), TIMERS)
  await appendListChanges(ctx, changes)
  await finishWave(ctx, events, NOTHING_APPLIED)
  return evaluated
}

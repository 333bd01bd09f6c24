/**
 * The order in which a batch takes effect: users, then what other modules store about them, lists, events, lists again, messages. Each
 * function is one transaction, or runs in that of its caller. Its steps return their results, which later steps use.
 */

import { TIMERS } from './infra/queue/partitions.ts'
import type { ParkedItem } from './infra/queue/queue.ts'
import { afterCommit, type Ctx, type InTx, inTx } from './infra/runtime/ctx.ts'
import type { ProjectId } from './lib/ids.ts'
import { recordActivity } from './modules/activity/index.ts'
import { findTriggers, matchTriggers, type TriggersOf } from './modules/campaigns/index.ts'
import { type StoredEvent, storeEvents } from './modules/events/index.ts'
import {
  finishRepeats,
  type Item,
  itemsOfKept,
  type KnownUsers,
  newEventsOf,
  parkedOf,
  queuedChangesOf,
  updatesOf,
  usersOfItems,
  withoutRepeats,
} from './modules/ingest/index.ts'
import {
  type Applied,
  appendListChanges,
  applyOccasions,
  type applyTimersBefore,
  eraseJourneys,
  mergeJourneys,
  occasionsOf,
  type Place,
  type Published,
} from './modules/journeys/index.ts'
import {
  CHECK_DUE,
  eraseMemberships,
  evaluateDueMemberships,
  evaluateMemberships,
  evaluateMerges,
  lockLists,
  membershipEventsOf,
  mergeMemberships,
  projectsWithDueMemberships,
} from './modules/lists/index.ts'
import { enqueueMessages, type Priority, TIMED, TRANSACTIONAL } from './modules/messages/index.ts'
import { eachAlone, failedIn, ofProject } from './modules/projects/index.ts'
import { recordSignUps } from './modules/subscriptions/index.ts'
import { identifyUsers, joinChanges, requireSameErasures, systemEventsOf } from './modules/users/index.ts'
import { mergeUserData } from './user-changes.ts'
import { itemsOfUsers, type RequestOf, requestsOfIntents, traceItems, withRequest } from './wave-items.ts'

/** The journeys that a wave is applied to, and the entrances of its users that were read. */
type Journeys = { published: Published; rows: Awaited<ReturnType<typeof applyTimersBefore>>['rows'] }

/** The order of a wave: ids of events, users, what other modules store about them, events, memberships, journeys, messages. */
export async function applyWave(
  ctx: InTx,
  place: Place,
  accepted: Item[],
  known: KnownUsers,
  journeys: Journeys | null,
): Promise<ParkedItem[]> {
  const items = await withoutRepeats(ctx, itemsOfKept(accepted, known))
  if (items.length === 0) return []
  const startedAt = ctx.clock.now()
  const { partition } = place
  const updates = updatesOf(items)
  const identified = await identifyUsers(ctx, updates, known.ids)
  await finishRepeats(ctx, items, identified.users)
  if (identified.changes.changes.some(({ is_new }) => is_new)) await requireSameErasures(ctx, known.ids.erased)
  await mergeUserData(ctx, identified.changes.merges)
  await recordSignUps(ctx, identified.changes, { updates, users: identified.users, erased: known.ids.erased })
  const queued = queuedChangesOf(items, known)
  const changes = joinChanges(identified.changes, queued)
  const brought = await mergeMemberships(ctx, changes.merges, partition)
  await mergeJourneys(ctx, place, journeys?.published ?? null, changes.merges)
  await eraseMemberships(ctx, queued.erased, partition)
  if (journeys) await eraseJourneys(ctx, queued.erased)
  const inherited = await evaluateMerges(ctx, changes, partition)
  const systemEvents = [...queued.events, ...systemEventsOf(ctx, changes.changes)]
  const newEvents = newEventsOf(items, identified.users, systemEvents)
  const starting = newEvents.filter(({ starts = 'all' }) => starts === 'all').map(({ event }) => event.name)
  // Asked for together, so that they share a round trip.
  const [events, triggers] = await Promise.all([storeEvents(ctx, newEvents, partition), findTriggers(ctx, starting)])
  const memberships = [...inherited, ...(await evaluateMemberships(ctx, events, changes, partition, brought))]
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
  return parkedOf(items, identified.users, known)
}

const NOTHING_APPLIED: Applied = { events: [], intents: [] }

/**
 * Records what users did, and creates the messages of trigger campaigns and of journeys, once everything that may forbid them is known. The
 * priority is that of trigger campaigns.
 */
export async function finishWave(
  ctx: InTx,
  events: StoredEvent[],
  { events: ofSteps, intents }: Applied,
  { requestOf, triggers, priority = TRANSACTIONAL }: { requestOf?: RequestOf | undefined; triggers?: TriggersOf; priority?: Priority } = {},
): Promise<void> {
  await recordActivity(ctx, [...events, ...ofSteps])
  const triggered = await matchTriggers(ctx, [...events, ...ofSteps], triggers)
  const all = [...triggered.map((intent) => ({ ...intent, priority })), ...intents]
  await enqueueMessages(ctx, requestOf ? all.map((intent) => withRequest(intent, requestOf(intent))) : all)
}

/** Evaluates memberships whose time has come: one batch for each project. */
export async function applyDueTimers(ctx: Ctx): Promise<number> {
  const failed = failedIn<ProjectId>(ctx, CHECK_DUE)
  const due = (await projectsWithDueMemberships(ctx)).filter(({ project_id }) => !failed.includes(project_id))
  return eachAlone(ctx, CHECK_DUE, due.map(ofProject), (ctx) => inTx(ctx, applyDue))
}

async function applyDue(ctx: InTx): Promise<number> {
  await lockLists(ctx)
  const { changes, evaluated } = await evaluateDueMemberships(ctx)
  const events = await storeEvents(ctx, membershipEventsOf(ctx, changes), TIMERS)
  await appendListChanges(ctx, changes)
  await finishWave(ctx, events, NOTHING_APPLIED, { priority: TIMED })
  return evaluated
}

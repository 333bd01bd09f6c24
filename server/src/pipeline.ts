/**
 * The order in which a batch takes effect: users, then what other modules store about them, lists, events, lists again, messages. Each
 * function is one transaction, or runs in that of its caller. Its steps return their results, which later steps use.
 */
import type { Consumer } from './infra/queue/consume.ts'
import { consumeDue } from './infra/queue/consume-due.ts'
import type { Started } from './infra/queue/jobs.ts'
import { TIMERS, UNDIVIDED } from './infra/queue/partitions.ts'
import { oldestEntryAt, type ParkedItem } from './infra/queue/queue.ts'
import { type Ctx, type InTx, inClaim } from './infra/runtime/ctx.ts'
import { CHANNELS } from './lib/channels.ts'
import { mapWithConcurrency } from './lib/concurrency.ts'
import type { UserId } from './lib/ids.ts'
import { matchTriggers } from './modules/campaigns/index.ts'
import { eraseEvents, requireEventMonths, type StoredEvent, storeEvents, usersWithEvents } from './modules/events/index.ts'
import {
  claimImportBatch,
  claimUndo,
  countFailedBatch,
  countFailedUndo,
  type DueImport,
  eraseImportData,
  finishImportBatch,
  type ImportToUndo,
  importsDue,
  importsToUndo,
  type ReadImport,
  readImport,
  saveImportedUsers,
  undoChanges,
} from './modules/imports/index.ts'
import {
  concernedUsers,
  type Item,
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
  type UserItem,
} from './modules/journeys/index.ts'
import {
  dependenciesThrough,
  eraseMemberships,
  evaluateDueMemberships,
  evaluateMemberships,
  lockLists,
  lockListsShared,
  membershipEventsOf,
  mergeMemberships,
  projectsWithDueMemberships,
  tryLockListsShared,
} from './modules/lists/index.ts'
import { enqueueMessages, eraseMessages, mergeMessages } from './modules/messages/index.ts'
import { contextOf, inEachProject, inProject } from './modules/projects/index.ts'
import { eraseSubscriptions, mergeSubscriptions, suppressErased } from './modules/subscriptions/index.ts'
import { eraseClicks, mergeClicks } from './modules/tracking/index.ts'
import {
  appendSavedChanges,
  eraseUsers as eraseUserRows,
  findErasable,
  finishErasure,
  type IdentifiedUser,
  identifyUsers,
  idsWithMerged,
  joinChanges,
  systemEventsOf,
  type UserChanges,
  type UserMerge,
  unlinkRemoved,
} from './modules/users/index.ts'
import { countUserData } from './user-data.ts'

const IMPORTS_AT_ONCE = 4

/** Events that the server writes about a user. They do not tell that the user has done anything. */
const WRITTEN_BY_SERVER = [
  ...['user_created', 'user_updated', 'subscribed', 'unsubscribed', 'list_entered', 'list_left'],
  ...CHANNELS.flatMap((channel) => ['sent', 'delivered', 'bounced', 'failed'].map((action) => `${channel}_${action}`)),
]

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
async function applyWave(ctx: InTx, place: Place, items: Item[], known: KnownUsers, journeys: Journeys | null): Promise<ParkedItem[]> {
  if (items.length === 0) return []
  const { partition } = place
  const identified = await identifyUsers(ctx, updatesOf(items), known.ids)
  await mergeUserData(ctx, identified.changes.merges)
  const queued = queuedChangesOf(items, known)
  const changes = joinChanges(identified.changes, queued)
  await mergeMemberships(ctx, changes.merges, partition)
  if (journeys) await mergeJourneys(ctx, place, journeys.published, changes.merges)
  await eraseMemberships(ctx, queued.erased, partition)
  if (journeys) await eraseJourneys(ctx, queued.erased)
  const systemEvents = [...queued.events, ...systemEventsOf(ctx, changes.changes)]
  const events = await storeEvents(ctx, newEventsOf(items, identified.users, systemEvents), partition)
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
  await finishWave(ctx, [...events, ...aboutLists], applied)
  return parkedOf(items, identified.users)
}

const NOTHING_APPLIED: Applied = { events: [], intents: [] }

/** Creates the messages of trigger campaigns and of journeys, when everything that forbids them is known. */
async function finishWave(ctx: InTx, events: StoredEvent[], { events: ofSteps, intents }: Applied): Promise<void> {
  await enqueueMessages(ctx, [...(await matchTriggers(ctx, [...events, ...ofSteps])), ...intents])
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

/** Follows up changes of users that did not come through the ingest queue. They are appended to it, and lists follow from there. */
export async function onUsersChanged(ctx: InTx, changes: UserChanges): Promise<void> {
  await mergeUserData(ctx, changes.merges)
  await appendSavedChanges(ctx, changes)
}

/** Moves what other modules store about merged users to the users who remain. */
async function mergeUserData(ctx: InTx, merges: UserMerge[]): Promise<void> {
  if (merges.length === 0) return
  await mergeSubscriptions(ctx, merges)
  await mergeMessages(ctx, merges)
  await mergeClicks(ctx, merges)
}

/** Imports users from files: one batch for each project that has an import. */
export async function importUsers(ctx: Ctx): Promise<number> {
  const readNext = (due: DueImport) => inProject(ctx, due.project_id, (ctx) => readImport(ctx, due))
  const read = await mapWithConcurrency(await inClaim(ctx, importsDue), IMPORTS_AT_ONCE, readNext)
  return inEachProject(ctx, read, importBatch, countFailedBatch)
}

async function importBatch(ctx: InTx, read: ReadImport): Promise<number> {
  const batch = await claimImportBatch(ctx, read)
  if (!batch) return 0
  const saved = await saveImportedUsers(ctx, batch)
  for (const { changes, merges } of saved.changes)
    await onUsersChanged(ctx, { changes: changes.map((change) => ({ ...change, is_import: true })), merges })
  await finishImportBatch(ctx, batch, saved)
  return 1
}

/** Erases the users whose erasure was requested, from every module. */
export const eraseUsers = async (ctx: Ctx): Promise<number> => inEachProject(ctx, await findErasable(ctx), erase)

async function erase(ctx: InTx, { id }: { id: UserId }): Promise<number> {
  await lockLists(ctx)
  const removed = await countUserData(ctx, await idsWithMerged(ctx, id))
  const erased = await eraseUserRows(ctx, [id])
  await eraseOtherData(ctx, erased)
  await suppressErased(ctx, erased)
  await finishErasure(ctx, id, removed)
  return 1
}

/** Deletes what the other modules store about users whose rows were deleted. The caller holds the lock on lists. */
async function eraseOtherData(ctx: InTx, erased: Awaited<ReturnType<typeof eraseUserRows>>): Promise<void> {
  const ids = erased.map(({ id }) => id)
  if (ids.length === 0) return
  await eraseMemberships(ctx, ids, TIMERS)
  await eraseMessages(ctx, ids)
  await eraseClicks(ctx, ids)
  await eraseSubscriptions(ctx, ids)
  await eraseImportData(ctx, erased)
  await eraseJourneys(ctx, ids)
  await eraseEvents(ctx, ids)
}

/** Undoes imports: one batch for each project that has one to undo. */
export const undoImports = async (ctx: Ctx): Promise<number> => inEachProject(ctx, await importsToUndo(ctx), undoBatch, countFailedUndo)

async function undoBatch(ctx: InTx, due: ImportToUndo): Promise<number> {
  const batch = await claimUndo(ctx, due)
  if (!batch) return 0
  const active = await usersWithEvents(ctx, batch.untouched, WRITTEN_BY_SERVER)
  const { changes, removed } = await undoChanges(
    ctx,
    batch,
    active.map(({ user_id }) => user_id),
  )
  await onUsersChanged(ctx, changes)
  if (removed.length > 0) {
    await unlinkRemoved(ctx, removed)
    // Their addresses are not suppressed: they may be in the corrected file.
    await eraseOtherData(ctx, await eraseUserRows(ctx, removed))
  }
  return 1
}

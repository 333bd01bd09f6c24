/**
 * The order in which a batch takes effect: users, then what other modules store about them, lists, events, lists again, messages. Each
 * function is one transaction, or runs in that of its caller. Its steps return their results, which later steps use.
 */
import { consumeDue } from './infra/queue/consume-due.ts'
import type { Started } from './infra/queue/jobs.ts'
import { type Partition, TIMERS } from './infra/queue/partitions.ts'
import type { ParkedItem } from './infra/queue/queue.ts'
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
import { type Item, type KnownUsers, newEventsOf, parkedOf, queuedChangesOf, requestReader, updatesOf } from './modules/ingest/index.ts'
import {
  eraseMemberships,
  evaluateDueMemberships,
  evaluateMemberships,
  lockLists,
  lockListsShared,
  type MembershipChange,
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
  identifyUsers,
  joinChanges,
  systemEventsOf,
  type UserChanges,
  type UserMerge,
  unlinkRemoved,
} from './modules/users/index.ts'

const IMPORTS_AT_ONCE = 4

/** Events that the server writes about a user. They do not tell that the user has done anything. */
const WRITTEN_BY_SERVER = [
  ...['user_created', 'user_updated', 'subscribed', 'unsubscribed', 'list_entered', 'list_left'],
  ...CHANNELS.flatMap((channel) => ['sent', 'delivered', 'bounced', 'failed'].map((action) => `${channel}_${action}`)),
]

const consumer = { ...requestReader, contextOf, tryLock: tryLockListsShared, apply: applyBatch }

/** Applies accepted requests: one batch for each project that has some. */
export async function applyAcceptedRequests(ctx: Ctx): Promise<Started> {
  await requireEventMonths(ctx)
  return consumeDue(ctx, consumer)
}

async function applyBatch(ctx: InTx, items: Item[], known: KnownUsers, partition: Partition): Promise<ParkedItem[]> {
  await lockListsShared(ctx)
  const identified = await identifyUsers(ctx, updatesOf(items), known.ids)
  await mergeUserData(ctx, identified.changes.merges)
  const queued = queuedChangesOf(items, known)
  const changes = joinChanges(identified.changes, queued)
  await mergeMemberships(ctx, changes.merges, partition)
  await eraseMemberships(ctx, queued.erased, partition)
  const systemEvents = [...queued.events, ...systemEventsOf(ctx, changes.changes)]
  const events = await storeEvents(ctx, newEventsOf(items, identified.users, systemEvents), partition)
  await followUp(ctx, events, await evaluateMemberships(ctx, events, changes, partition), partition)
  return parkedOf(items, identified.users)
}

/** Stores membership changes as events, and creates the messages of trigger campaigns. */
async function followUp(ctx: InTx, events: StoredEvent[], memberships: MembershipChange[], partition: Partition): Promise<void> {
  const membershipEvents = await storeEvents(ctx, membershipEventsOf(ctx, memberships), partition)
  await enqueueMessages(ctx, await matchTriggers(ctx, [...events, ...membershipEvents]))
}

/** Evaluates memberships whose time has come: one batch for each project. */
export const applyDueTimers = async (ctx: Ctx): Promise<number> => inEachProject(ctx, await projectsWithDueMemberships(ctx), applyDue)

async function applyDue(ctx: InTx): Promise<number> {
  await lockLists(ctx)
  const { changes, evaluated } = await evaluateDueMemberships(ctx)
  await followUp(ctx, [], changes, TIMERS)
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
  for (const changes of saved.changes) await onUsersChanged(ctx, changes)
  await finishImportBatch(ctx, batch, saved)
  return 1
}

/** Erases the users whose erasure was requested, from every module. */
export const eraseUsers = async (ctx: Ctx): Promise<number> => inEachProject(ctx, await findErasable(ctx), erase)

async function erase(ctx: InTx, { id }: { id: UserId }): Promise<number> {
  await lockLists(ctx)
  const erased = await eraseUserRows(ctx, [id])
  await eraseOtherData(ctx, erased)
  await suppressErased(ctx, erased)
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

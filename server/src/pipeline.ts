/**
 * The life of an event, top to bottom: the one file that says in which order things happen.
 * A batch of the log is read, its people are found, its events stored, lists looked at again, and what is owed because of all that
 * written down, in one transaction with the deletion of the log rows. Each step returns the next one's input.
 */
import { type Consumer, consumeNext } from './infra/queue/consume.ts'
import { type ParkedItem, projectsWithEntries } from './infra/queue/queue.ts'
import { type Ctx, type InTx, inTx } from './infra/runtime/ctx.ts'
import type { ProjectId, UserId } from './lib/ids.ts'
import { matchTriggers } from './modules/campaigns/index.ts'
import { createEventMonths, eraseEvents, type NewEvent, newSystemEvent, type StoredEvent, storeEvents } from './modules/events/index.ts'
import { type Item, readRequest } from './modules/ingest/index.ts'
import {
  eraseMemberships,
  evaluateDueMemberships,
  evaluateMemberships,
  loadRegistry,
  lockLists,
  lockListsShared,
  type MembershipChange,
  mergeMemberships,
  projectsWithDueMemberships,
  type Registry,
} from './modules/lists/index.ts'
import { enqueueMessages, eraseMessages, mergeMessages, SEND_TRANSACTIONAL } from './modules/messages/index.ts'
import { inProject } from './modules/projects/index.ts'
import { eraseSubscriptions, mergeSubscriptions, suppressErased } from './modules/subscriptions/index.ts'
import { eraseClicks, mergeClicks } from './modules/tracking/index.ts'
import {
  appendAllUserChanges,
  eraseUser,
  findErasable,
  findMergedInto,
  identifyUsers,
  identityKeysOf,
  type KnownIds,
  knownIds,
  type UserChange,
  type UserChanges,
  type UserMerge,
} from './modules/users/index.ts'

type EventItem = Extract<Item, { arrival: unknown }>
type ChangeItem = Extract<Item, { change: unknown }>

/** Whom the items of a batch mean. */
type Known = { ids: KnownIds; survivors: Map<UserId, UserId> }

const isEvent = (item: Item): item is EventItem => 'arrival' in item
const isChange = (item: Item): item is ChangeItem => 'change' in item

const work: Consumer<Item, Known> = {
  contextOf: (ctx, projectId) => inProject(ctx, projectId, async (ctx) => ctx),
  read: readRequest,
  async know(ctx, items, remember) {
    const arrivals = items.filter(isEvent).map(({ arrival }) => arrival)
    return { ids: await knownIds(ctx, arrivals, remember), survivors: await mergedIntoOf(ctx, items) }
  },
  keysOf: (item, { ids, survivors: mergedInto }) =>
    isEvent(item) ? identityKeysOf(item.arrival, ids) : usersOf(item).map((id) => `u${mergedInto.get(id) ?? id}`),
  apply,
}

const usersOf = ({ change }: ChangeItem): UserId[] => [change.user_id, ...(change.merged_from ?? [])]

async function mergedIntoOf(ctx: InTx, items: Item[]): Promise<Known['survivors']> {
  const ids = [...new Set(items.filter(isChange).flatMap(usersOf))]
  const rows = ids.length > 0 ? await findMergedInto(ctx, ctx.projectId, ids) : []
  return new Map(rows.map(({ id, merged_into }) => [id, merged_into]))
}

/** They did something, or are different now: applies what waits in the log, one batch for each project. */
export async function applyAcceptedRequests(ctx: Ctx): Promise<number> {
  let done = 0
  await createEventMonths(ctx)
  for (const { project_id } of await projectsWithEntries(ctx)) done += await consumeNext(ctx, project_id, work)
  // Somebody may be waiting for a message that this caused.
  if (done > 0) ctx.wake(SEND_TRANSACTIONAL)
  return done
}

/** The straight line. Answers the items that could not be applied. */
async function apply(ctx: InTx, items: Item[], known: Known, partition: number): Promise<ParkedItem[]> {
  await lockListsShared(ctx)
  const registry = await loadRegistry(ctx)
  const news: UserChanges = { changes: [], merges: [] }
  const events = items.filter(isEvent)
  const users = await identifyUsers(
    ctx,
    events.map(({ arrival }) => arrival),
    known.ids,
    async (ctx, { changes, merges }) => {
      news.changes.push(...changes)
      news.merges.push(...merges)
      if (merges.length > 0) await whenMerged(ctx, merges)
    },
  )
  const told = changesOf(items.filter(isChange), known.survivors)
  const merges = [...news.merges, ...told.merges]
  if (merges.length > 0) await mergeMemberships(ctx, registry, partition, merges)
  if (told.gone.length > 0) await eraseMemberships(ctx, partition, told.gone)
  const arrived = events.flatMap(({ event }, index) => {
    const user = users[index]
    return event && user && 'userId' in user ? [{ userId: user.userId, event }] : []
  })
  const changes = [...news.changes, ...told.changes]
  const facts = await storeEvents(ctx, [...arrived, ...told.arrived, ...ownNews(ctx, changes)], partition)
  await follow(ctx, registry, partition, { facts, changes, merges })
  return events.flatMap(({ source }, index) => {
    const user = users[index]
    return user && 'faults' in user ? [{ ...source, reason: user.faults.map(({ message }) => message).join(' ') }] : []
  })
}

const ATTRIBUTE = 'attribute:'

/**
 * That somebody is new, or has other attributes, is an event of theirs: one for each person of a batch, whatever brought it about.
 * It triggers nothing: an import must not send a million welcomes, and an update must not cause itself.
 */
function ownNews(ctx: InTx, changes: UserChange[]): NewEvent[] {
  const now = ctx.clock.now()
  return [...Map.groupBy(changes, ({ user_id }) => user_id)].flatMap(([userId, of]): NewEvent[] => {
    const changed = [...new Set(of.flatMap(({ what }) => what))].filter((name) => name.startsWith(ATTRIBUTE))
    const isNew = of.some(({ is_new }) => is_new)
    if (!isNew && changed.length === 0) return []
    const data = isNew ? {} : { changed: changed.map((name) => name.slice(ATTRIBUTE.length)) }
    const event = { name: isNew ? 'user_created' : 'user_updated', data, created_at: now.toISOString() }
    return [{ userId, event: newSystemEvent(event, `user-${userId}-${now.getTime()}`, now), silent: true }]
  })
}

type Told = { changes: UserChange[]; merges: UserMerge[]; arrived: NewEvent[]; gone: UserId[] }

/** What other requests have written down for us, about those who are still there. */
function changesOf(items: ChangeItem[], mergedInto: Known['survivors']): Told {
  const told: Told = { changes: [], merges: [], arrived: [], gone: [] }
  for (const { change, key, source } of items) {
    const into_id = mergedInto.get(change.user_id)
    const formers = into_id === undefined ? [] : usersOf({ change } as ChangeItem).filter((id) => id !== into_id)
    if (into_id === undefined) {
      told.gone.push(change.user_id)
      continue
    }
    told.merges.push(...formers.map((from_id) => ({ from_id, into_id })))
    told.changes.push({ user_id: into_id, what: change.what, ...(change.is_new && { is_new: true as const }) })
    if (change.event) {
      const event = newSystemEvent(change.event, key, source.received_at)
      told.arrived.push({ userId: into_id, event, ...(change.event.silent && { silent: true as const }) })
    }
  }
  return told
}

type Followed = { facts: StoredEvent[]; changes: UserChange[]; merges: UserMerge[] }

/** What follows: who moves between lists, and what is owed to whom because of it. */
async function follow(ctx: InTx, registry: Registry, partition: number, { facts, changes, merges }: Followed): Promise<void> {
  const mergedInto = new Map(merges.map(({ from_id, into_id }) => [from_id, into_id]))
  const mergeTargets = new Set(mergedInto.values())
  const moves = await evaluateMemberships(ctx, registry, partition, {
    occurrences: facts.map(({ userId, event: { name, data, createdAt } }) => ({
      userId: mergedInto.get(userId) ?? userId,
      name,
      data,
      createdAtMs: createdAt.getTime(),
    })),
    // Of a survivor everything may be different.
    changes: [
      ...changes.filter(({ user_id }) => !mergeTargets.has(user_id)),
      ...[...mergeTargets].map((user_id) => ({ user_id, what: [], is_new: true as const })),
    ],
  })
  const moved = await recordMoves(ctx, moves, partition)
  // What somebody inherits triggers nothing.
  await react(ctx, [...facts, ...moved.filter(({ userId }) => !mergeTargets.has(userId))])
}

/** A move between lists is an event of the person. */
async function recordMoves(ctx: InTx, moves: MembershipChange[], partition: number): Promise<StoredEvent[]> {
  const now = ctx.clock.now()
  return storeEvents(
    ctx,
    moves.map(({ userId, listId, entered }) => {
      const event = { name: entered ? 'list_entered' : 'list_left', data: { list_id: listId }, created_at: now.toISOString() }
      return { userId, event: newSystemEvent(event, `list-${listId}-${now.getTime()}`, now) }
    }),
    partition,
  )
}

/** What we owe people because of it. */
async function react(ctx: InTx, facts: StoredEvent[]): Promise<void> {
  const news = facts.filter(({ triggers }) => triggers)
  if (news.length === 0) return
  const intents = await matchTriggers(ctx, news)
  if (intents.length > 0) await enqueueMessages(ctx, intents)
}

/** Nobody did anything, and yet: a window has closed, a date has come. */
export async function applyDueTimers(ctx: Ctx): Promise<number> {
  let looked = 0
  for (const { project_id } of await projectsWithDueMemberships(ctx)) {
    looked += await inProjectTx(ctx, project_id, async (ctx) => {
      await lockLists(ctx)
      const { moves, looked } = await evaluateDueMemberships(ctx, await loadRegistry(ctx), TIMERS_PARTITION)
      await react(ctx, await recordMoves(ctx, moves, TIMERS_PARTITION))
      return looked
    })
  }
  return looked
}

const inProjectTx = <T>(ctx: Ctx, id: ProjectId, work: (ctx: InTx) => Promise<T>) => inProject(ctx, id, (ctx) => inTx(ctx, work))

const TIMERS_PARTITION = -3

/** Two people turned out to be one: every module moves what it keeps of them. Lists follow when the log is applied. */
async function whenMerged(ctx: InTx, pairs: UserMerge[]): Promise<void> {
  await mergeSubscriptions(ctx, pairs)
  await mergeMessages(ctx, pairs)
  await mergeClicks(ctx, pairs)
}

/** They are different now, by a request of its own: what follows is for those who apply the log. */
export async function onUsersChanged(ctx: InTx, news: UserChanges): Promise<void> {
  if (news.merges.length > 0) await whenMerged(ctx, news.merges)
  await appendAllUserChanges(ctx, news)
}

const ERASED_AT_ONCE = 20

/** Somebody asked to be forgotten: every module removes its copies. */
export async function eraseUsers(ctx: Ctx): Promise<number> {
  const users = await findErasable(ctx, ERASED_AT_ONCE)
  for (const { id, project_id } of users) {
    await inProjectTx(ctx, project_id, async (ctx) => {
      await lockLists(ctx)
      const erased = await eraseUser(ctx, id)
      const ids = erased.map(({ id }) => id)
      if (ids.length === 0) return
      await eraseMemberships(ctx, TIMERS_PARTITION, ids)
      await eraseMessages(ctx, ids)
      await eraseClicks(ctx, ids)
      await eraseSubscriptions(ctx, ids)
      await suppressErased(ctx, erased)
      await eraseEvents(ctx, ids)
    })
  }
  return users.length
}

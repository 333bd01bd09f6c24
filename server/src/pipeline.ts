/**
 * The life of an event, top to bottom: the one file that says in which order things happen.
 * A batch of the log is read, its people are found, its events stored, lists looked at again, and what is owed because of all that
 * written down, in one transaction with the deletion of the log rows. Each step returns the next one's input.
 */
import { applyNext, type LogWork } from './infra/queue/consume.ts'
import { type ParkedItem, projectsWaiting } from './infra/queue/queue.ts'
import { asSystem, type Ctx, type InTx, inTx } from './infra/runtime/ctx.ts'
import type { UserId } from './lib/ids.ts'
import { intentsOf } from './modules/campaigns/index.ts'
import { type Arrived, eraseEvents, type Fact, preparePartitions, record, toSystemEvent } from './modules/events/index.ts'
import { type ReadItem, readRequest } from './modules/ingest/index.ts'
import {
  erasePeople,
  lapse,
  loadRegistry,
  lockLists,
  lockListsShared,
  type Move,
  mergePeople,
  projectsDue,
  type Registry,
  reevaluate,
} from './modules/lists/index.ts'
import { enqueue, eraseMessages, mergeMessages } from './modules/messages/index.ts'
import { findProject } from './modules/projects/index.ts'
import { eraseSubscriptions, mergeSubscriptions, suppressErased } from './modules/subscriptions/index.ts'
import { eraseClicks, mergeClicks } from './modules/tracking/index.ts'
import {
  eraseUser,
  findErasable,
  findSurvivors,
  identify,
  type KnownIds,
  keysOfPeople,
  knownIds,
  logNews,
  type Merge,
  type News,
  type PersonChange,
} from './modules/users/index.ts'

type EventItem = Extract<ReadItem, { arrival: unknown }>
type ChangeItem = Extract<ReadItem, { change: unknown }>

/** Whom the items of a batch mean. */
type Known = { ids: KnownIds; survivors: Map<UserId, UserId> }

const isEvent = (item: ReadItem): item is EventItem => 'arrival' in item
const isChange = (item: ReadItem): item is ChangeItem => 'change' in item

const work: LogWork<ReadItem, Known> = {
  contextOf: async (ctx, projectId) => asSystem(ctx, projectId, await findProject(ctx, projectId)),
  read: readRequest,
  async know(ctx, items, remember) {
    const arrivals = items.filter(isEvent).map(({ arrival }) => arrival)
    return { ids: await knownIds(ctx, arrivals, remember), survivors: await survivorsOf(ctx, items) }
  },
  keysOf: (item, { ids, survivors }) =>
    isEvent(item) ? keysOfPeople(item.arrival, ids) : peopleOf(item).map((id) => `u${survivors.get(id) ?? id}`),
  apply,
}

const peopleOf = ({ change }: ChangeItem): UserId[] => [change.user_id, ...(change.merged_from ?? [])]

async function survivorsOf(ctx: InTx, items: ReadItem[]): Promise<Known['survivors']> {
  const ids = [...new Set(items.filter(isChange).flatMap(peopleOf))]
  const rows = ids.length > 0 ? await findSurvivors(ctx, ctx.projectId, ids) : []
  return new Map(rows.map(({ id, survivor_id }) => [id, survivor_id]))
}

/** They did something, or are different now: applies what waits in the log, one batch for each project. */
export async function whenPeopleAct(ctx: Ctx): Promise<number> {
  let done = 0
  await preparePartitions(ctx)
  for (const { project_id } of await projectsWaiting(ctx)) done += await applyNext(ctx, project_id, work)
  // Somebody may be waiting for a message that this caused.
  if (done > 0) ctx.wake('messages.send')
  return done
}

/** The straight line. Answers the items that could not be applied. */
async function apply(ctx: InTx, items: ReadItem[], known: Known, lane: number): Promise<ParkedItem[]> {
  await lockListsShared(ctx)
  const registry = await loadRegistry(ctx)
  const news: News = { changes: [], merges: [] }
  const events = items.filter(isEvent)
  const people = await identify(
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
  if (merges.length > 0) await mergePeople(ctx, registry, lane, merges)
  if (told.gone.length > 0) await erasePeople(ctx, lane, told.gone)
  const arrived = events.flatMap(({ event }, index) => {
    const person = people[index]
    return event && person && 'userId' in person ? [{ userId: person.userId, event }] : []
  })
  const changes = [...news.changes, ...told.changes]
  const facts = await record(ctx, [...arrived, ...told.arrived, ...ownNews(ctx, changes)], lane)
  await follow(ctx, registry, lane, { facts, changes, merges })
  return events.flatMap(({ source }, index) => {
    const person = people[index]
    return person && 'faults' in person ? [{ ...source, reason: person.faults.map(({ message }) => message).join(' ') }] : []
  })
}

const ATTRIBUTE = 'attribute:'

/**
 * That somebody is new, or has other attributes, is an event of theirs: one for each person of a batch, whatever brought it about.
 * It triggers nothing: an import must not send a million welcomes, and an update must not cause itself.
 */
function ownNews(ctx: InTx, changes: PersonChange[]): Arrived[] {
  const now = ctx.clock.now()
  return [...Map.groupBy(changes, ({ user_id }) => user_id)].flatMap(([userId, of]): Arrived[] => {
    const changed = [...new Set(of.flatMap(({ what }) => what))].filter((name) => name.startsWith(ATTRIBUTE))
    const isNew = of.some(({ is_new }) => is_new)
    if (!isNew && changed.length === 0) return []
    const data = isNew ? {} : { changed: changed.map((name) => name.slice(ATTRIBUTE.length)) }
    const event = { name: isNew ? 'user_created' : 'user_updated', data, created_at: now.toISOString() }
    return [{ userId, event: toSystemEvent(event, `user-${userId}-${now.getTime()}`, now), silent: true }]
  })
}

type Told = { changes: PersonChange[]; merges: Merge[]; arrived: Arrived[]; gone: UserId[] }

/** What other requests have written down for us, about those who are still there. */
function changesOf(items: ChangeItem[], survivors: Known['survivors']): Told {
  const told: Told = { changes: [], merges: [], arrived: [], gone: [] }
  for (const { change, key, source } of items) {
    const into_id = survivors.get(change.user_id)
    const formers = into_id === undefined ? [] : peopleOf({ change } as ChangeItem).filter((id) => id !== into_id)
    if (into_id === undefined) {
      told.gone.push(change.user_id)
      continue
    }
    told.merges.push(...formers.map((from_id) => ({ from_id, into_id })))
    told.changes.push({ user_id: into_id, what: change.what, ...(change.is_new && { is_new: true as const }) })
    if (change.event) {
      const event = toSystemEvent(change.event, key, source.received_at)
      told.arrived.push({ userId: into_id, event, ...(change.event.silent && { silent: true as const }) })
    }
  }
  return told
}

type Followed = { facts: Fact[]; changes: PersonChange[]; merges: Merge[] }

/** What follows: who moves between lists, and what is owed to whom because of it. */
async function follow(ctx: InTx, registry: Registry, lane: number, { facts, changes, merges }: Followed): Promise<void> {
  const survivors = new Map(merges.map(({ from_id, into_id }) => [from_id, into_id]))
  const heirs = new Set(survivors.values())
  const moves = await reevaluate(ctx, registry, lane, {
    occurrences: facts.map(({ userId, event: { name, data, createdAt } }) => ({
      userId: survivors.get(userId) ?? userId,
      name,
      data,
      createdAtMs: createdAt.getTime(),
    })),
    // Of a survivor everything may be different.
    changes: [
      ...changes.filter(({ user_id }) => !heirs.has(user_id)),
      ...[...heirs].map((user_id) => ({ user_id, what: [], is_new: true as const })),
    ],
  })
  const moved = await recordMoves(ctx, moves, lane)
  // What somebody inherits triggers nothing.
  await react(ctx, [...facts, ...moved.filter(({ userId }) => !heirs.has(userId))])
}

/** A move between lists is an event of the person. */
async function recordMoves(ctx: InTx, moves: Move[], lane: number): Promise<Fact[]> {
  const now = ctx.clock.now()
  return record(
    ctx,
    moves.map(({ userId, listId, entered }) => {
      const event = { name: entered ? 'list_entered' : 'list_left', data: { list_id: listId }, created_at: now.toISOString() }
      return { userId, event: toSystemEvent(event, `list-${listId}-${now.getTime()}`, now) }
    }),
    lane,
  )
}

/** What we owe people because of it. */
async function react(ctx: InTx, facts: Fact[]): Promise<void> {
  const news = facts.filter(({ triggers }) => triggers)
  if (news.length === 0) return
  const intents = await intentsOf(ctx, news)
  if (intents.length > 0) await enqueue(ctx, intents)
}

/** Nobody did anything, and yet: a window has closed, a date has come. */
export async function whenTimePasses(ctx: Ctx): Promise<number> {
  let looked = 0
  for (const { project_id } of await projectsDue(ctx)) {
    const inProject = asSystem(ctx, project_id, await findProject(ctx, project_id))
    looked += await inTx(inProject, async (ctx) => {
      await lockLists(ctx)
      const { moves, looked } = await lapse(ctx, await loadRegistry(ctx), LAPSE_LANE)
      await react(ctx, await recordMoves(ctx, moves, LAPSE_LANE))
      return looked
    })
  }
  return looked
}

const LAPSE_LANE = -3

/** Two people turned out to be one: every module moves what it keeps of them. Lists follow when the log is applied. */
async function whenMerged(ctx: InTx, pairs: Merge[]): Promise<void> {
  await mergeSubscriptions(ctx, pairs)
  await mergeMessages(ctx, pairs)
  await mergeClicks(ctx, pairs)
}

/** They are different now, by a request of its own: what follows is for those who apply the log. */
export async function whenPeopleChange(ctx: InTx, news: News): Promise<void> {
  if (news.merges.length > 0) await whenMerged(ctx, news.merges)
  await logNews(ctx, news)
}

const ERASED_AT_ONCE = 20

/** Somebody asked to be forgotten: every module removes its copies. */
export async function whenForgotten(ctx: Ctx): Promise<number> {
  const people = await findErasable(ctx, ERASED_AT_ONCE)
  for (const { id, project_id } of people) {
    await inTx(asSystem(ctx, project_id, await findProject(ctx, project_id)), async (ctx) => {
      await lockLists(ctx)
      const erased = await eraseUser(ctx, id)
      const ids = erased.map(({ id }) => id)
      if (ids.length === 0) return
      await erasePeople(ctx, LAPSE_LANE, ids)
      await eraseMessages(ctx, ids)
      await eraseClicks(ctx, ids)
      await eraseSubscriptions(ctx, ids)
      await suppressErased(ctx, erased)
      await eraseEvents(ctx, ids)
    })
  }
  return people.length
}

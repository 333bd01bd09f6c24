/**
 * The life of an event, top to bottom: the one file that says in which order things happen.
 * A batch of the log is read, its people are found, its events stored, and what is owed because of them is written down,
 * all in one transaction with the deletion of the log rows. Each step returns the next one's input.
 */
import { asSystem, type Ctx, type InTx, inTx } from './infra/ctx.ts'
import { isRace } from './infra/db.ts'
import { isDatabaseAway } from './infra/http/error-reply.ts'
import {
  type ClaimedRequest,
  claimRequests,
  deleteRequests,
  lockProject,
  type ParkedItem,
  parkItems,
  projectsWaiting,
} from './infra/stream.ts'
import type { ProjectId } from './lib/ids.ts'
import { runningTriggers, triggered } from './modules/campaigns/index.ts'
import { eraseEvents, type Fact, preparePartitions, type ReadItem, readRequest, record } from './modules/events/index.ts'
import { enqueue, eraseMessages, mergeMessages } from './modules/messages/index.ts'
import { findProject } from './modules/projects/index.ts'
import { eraseSubscriptions, mergeSubscriptions } from './modules/subscriptions/index.ts'
import { eraseUser, findErasable, identify, type Merge } from './modules/users/index.ts'

/** About so many items share a transaction. */
const BATCH_ITEMS = 2000

/** They did something, or are different now: applies what waits in the log, one batch for each project. */
export async function whenPeopleAct(ctx: Ctx): Promise<number> {
  let done = 0
  for (const { project_id } of await projectsWaiting(ctx)) done += await nextBatch(ctx, project_id)
  return done
}

async function nextBatch(ctx: Ctx, projectId: ProjectId): Promise<number> {
  await preparePartitions(ctx)
  try {
    return await applyBatch(ctx, projectId, BATCH_ITEMS)
  } catch (error) {
    // Somebody else wrote the same people at the same time, or the database is away: the batch is still there.
    if (isRace(error)) return 1
    if (isDatabaseAway(error)) throw error
    ctx.log.error({ err: error, project_id: projectId }, 'batch could not be applied; going on item by item')
    return applyOneByOne(ctx, projectId)
  }
}

function applyBatch(ctx: Ctx, projectId: ProjectId, itemsMax: number): Promise<number> {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId))) return 0
    const requests = await claimRequests(tx, projectId, itemsMax)
    if (requests.length === 0) return 0
    const ctx = asSystem(tx, projectId, await findProject(tx, projectId)) as InTx
    const { items, parked } = read(requests)
    const refused = await apply(ctx, items)
    if (parked.length + refused.length > 0) await park(ctx, [...parked, ...refused])
    await deleteRequests(
      tx,
      projectId,
      requests.map(({ position }) => position),
    )
    return requests.length
  })
}

/** The way around a poison item: the oldest request, each item in a savepoint of its own. What fails is parked with its reason. */
function applyOneByOne(ctx: Ctx, projectId: ProjectId): Promise<number> {
  return inTx(ctx, async (tx) => {
    if (!(await lockProject(tx, projectId))) return 0
    const requests = await claimRequests(tx, projectId, 1)
    const ctx = asSystem(tx, projectId, await findProject(tx, projectId)) as InTx
    const { items, parked } = read(requests)
    for (const item of items) {
      const refused = await tx.db
        .savepoint(() => apply(ctx, [item]))
        .catch((error: Error) => {
          if (isRace(error) || isDatabaseAway(error)) throw error
          return [{ ...item.source, reason: error.message }]
        })
      parked.push(...refused)
    }
    if (parked.length > 0) await park(ctx, parked)
    await deleteRequests(
      tx,
      projectId,
      requests.map(({ position }) => position),
    )
    return requests.length
  })
}

async function park(ctx: InTx, items: ParkedItem[]): Promise<void> {
  ctx.metrics.eventsIngested('parked', items.length)
  await parkItems(ctx, ctx.projectId, items)
}

function read(requests: ClaimedRequest[]): { items: ReadItem[]; parked: ParkedItem[] } {
  const all = requests.map(readRequest)
  return { items: all.flatMap(({ items }) => items), parked: all.flatMap(({ parked }) => parked) }
}

/** The straight line. Answers the items that could not be applied. */
async function apply(ctx: InTx, items: ReadItem[]): Promise<ParkedItem[]> {
  const people = await identify(
    ctx,
    items.map(({ arrival }) => arrival),
    whenMerged,
  )
  const arrived = items.flatMap(({ event }, index) => {
    const person = people[index]
    return event && person && 'userId' in person ? [{ userId: person.userId, event }] : []
  })
  const facts = await record(ctx, arrived)
  await react(ctx, facts)
  return items.flatMap(({ source }, index) => {
    const person = people[index]
    return person && 'faults' in person ? [{ ...source, reason: person.faults.map(({ message }) => message).join(' ') }] : []
  })
}

/** What we owe people because of it. */
async function react(ctx: InTx, facts: Fact[]): Promise<void> {
  const news = facts.filter(({ triggers }) => triggers)
  if (news.length === 0) return
  const triggers = await runningTriggers(ctx, [...new Set(news.map(({ event }) => event.name))])
  const intents = triggered(news, triggers)
  if (intents.length > 0) await enqueue(ctx, intents)
}

/** Two people turned out to be one: every module moves what it keeps of them. */
export async function whenMerged(ctx: InTx, pairs: Merge[]): Promise<void> {
  await mergeSubscriptions(ctx, pairs)
  await mergeMessages(ctx, pairs)
}

const ERASED_AT_ONCE = 20

/** Somebody asked to be forgotten: every module removes its copies. */
export async function whenForgotten(ctx: Ctx): Promise<number> {
  const people = await findErasable(ctx, ERASED_AT_ONCE)
  for (const { id, project_id } of people) {
    await inTx(asSystem(ctx, project_id, await findProject(ctx, project_id)), async (ctx) => {
      const ids = (await eraseUser(ctx, id)).map(({ id }) => id)
      if (ids.length === 0) return
      await eraseMessages(ctx, ids)
      await eraseSubscriptions(ctx, ids)
      await eraseEvents(ctx, ids)
    })
  }
  return people.length
}

/** How batches of the ingest queue are applied: which timers belong to a batch, and into which waves it is divided. */
import { consumeDue } from './infra/queue/consume-due.ts'
import type { Consumer } from './infra/queue/consumer.ts'
import type { Started } from './infra/queue/jobs.ts'
import { UNDIVIDED } from './infra/queue/partitions.ts'
import { oldestEntryAt, type ParkedItem } from './infra/queue/queue.ts'
import type { Ctx, InTx } from './infra/runtime/ctx.ts'
import type { UserId } from './lib/ids.ts'
import { requireEventMonths } from './modules/events/index.ts'
import { concernedUsers, type Item, type KnownUsers, requestReader, wavesOf } from './modules/ingest/index.ts'
import {
  applyTimers,
  applyTimersBefore,
  findDueTimers,
  nextTimerAt,
  type Place,
  parkTimer,
  projectsWithDueTimers,
  publishedGraphs,
  publishedGraphsAhead,
} from './modules/journeys/index.ts'
import { dependenciesThrough, listsAhead, lockListsShared, tryLockListsShared } from './modules/lists/index.ts'
import { contextOf } from './modules/projects/index.ts'
import { knownIdsAhead } from './modules/users/index.ts'
import { applyWave, finishWave } from './pipeline.ts'

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
  nextDueAt: nextTimerAt,
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

/**
 * What was seen is put aside in memory and written in batches, so that a redirect waits for nothing: not for the database, not even
 * for one that is down. What a dead process or a long outage takes with it are counts.
 */
import { type Ctx, type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { inProject } from '../../projects/index.ts'
import { findMergedInto } from '../../users/index.ts'
import { count } from '../links/queries.ts'
import type { Engagement } from '../schema.ts'
import { BURST_MS, createBursts } from './bursts.ts'

const FLUSH_EVERY_MS = 1000
const BATCH_MAX = 500
const WAITING_MAX = 50_000
/** A batch that fails this often, a second apart, is given up. */
const ATTEMPTS_MAX = 60

export type EngagementBuffer = AsyncDisposable & {
  /** Puts a visit aside. Neither waits nor throws; past the most that are kept, it is lost. */
  put(projectId: ProjectId, seen: Engagement): void
  /** Writes what is due: opens at once, clicks when no later one can make a burst of them. */
  flush(): Promise<void>
}

/**
 * Writes a batch to the messages it concerns, in the transaction that counts it. Handed in, because messages stand above tracking and
 * the buffer writes while it runs.
 */
export type WriteEngagement = (ctx: InTx, engagements: Engagement[]) => Promise<void>

type Waiting = { projectId: ProjectId; seen: Engagement; attempts: number }

/** Opens a recorder, which writes once a second. Disposing of it writes everything that waits. */
export function createEngagementBuffer(ctx: Ctx, write: WriteEngagement): EngagementBuffer {
  const stop = new AbortController()
  const bursts = createBursts()
  let waiting: Waiting[] = []
  let lost = 0
  let flushing = Promise.resolve()

  const give = (failed: Waiting[]) => {
    const kept = failed.filter(({ attempts }) => attempts < ATTEMPTS_MAX)
    lost += failed.length - kept.length
    waiting.push(...kept)
  }
  const flushOnce = async (isLast: boolean) => {
    const now = ctx.clock.now()
    const isDue = ({ seen }: Waiting) => isLast || seen.kind === 'open' || Math.abs(now.getTime() - seen.at.getTime()) > BURST_MS
    const due = waiting.filter(isDue)
    waiting = waiting.filter((one) => !isDue(one))
    bursts.forget(now)
    for (const [projectId, ofProject] of Map.groupBy(due, ({ projectId }) => projectId)) give(await rest(ctx, write, projectId, ofProject))
    if (lost > 0) ctx.log.error({ visits: lost }, 'visits were not counted')
    lost = 0
  }
  const flush = (isLast = false) => {
    flushing = flushing.then(() => flushOnce(isLast))
    return flushing
  }
  const loop = async () => {
    while (!stop.signal.aborted) {
      await ctx.clock.sleep(FLUSH_EVERY_MS, stop.signal)
      await flush()
    }
  }
  const running = loop()
  return {
    put(projectId, seen) {
      if (waiting.length >= WAITING_MAX) {
        lost++
        return
      }
      if (seen.kind === 'click') bursts.add(seen)
      waiting.push({ projectId, seen, attempts: 0 })
    },
    flush: () => flush(),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await flush(true)
    },
  }
}

/** Writes the visits of a project batch by batch, and answers with those that are left when one fails. */
async function rest(ctx: Ctx, write: WriteEngagement, projectId: ProjectId, due: Waiting[]): Promise<Waiting[]> {
  for (let at = 0; at < due.length; at += BATCH_MAX) {
    const batch = due.slice(at, at + BATCH_MAX)
    if (!(await written(ctx, write, projectId, batch))) return due.slice(at)
  }
  return []
}

/** Counts a batch, all of it or nothing. A failure is told and not thrown: the next second is another try. */
async function written(ctx: Ctx, write: WriteEngagement, projectId: ProjectId, batch: Waiting[]): Promise<boolean> {
  try {
    await inProject(ctx, projectId, (ctx) =>
      inTx(ctx, async (ctx) => {
        const seen = await ofLiveUsers(ctx, batch)
        if (seen.length === 0) return
        await write(ctx, seen)
        await count(ctx, {
          campaignIds: seen.map(({ campaign_id }) => campaign_id),
          userIds: seen.map(({ user_id }) => user_id),
          linkIds: seen.map(({ link }) => link),
          areMachines: seen.map(({ isMachine }) => isMachine),
          areProxied: seen.map(({ isProxied }) => isProxied),
        })
      }),
    )
    return true
  } catch (error) {
    ctx.log.error({ err: error, visits: batch.length }, 'visits could not be counted; they will be tried again')
    for (const one of batch) one.attempts++
    return false
  }
}

/** The visits of people who are still there, under the ids that they have now. */
async function ofLiveUsers(ctx: InTx, batch: Waiting[]): Promise<Engagement[]> {
  const ids = [...new Set(batch.map(({ seen }) => seen.user_id))]
  const mergedInto = new Map((await findMergedInto(ctx, ctx.projectId, ids)).map(({ id, merged_into }) => [id, merged_into]))
  return batch.flatMap(({ seen }) => {
    const user_id = mergedInto.get(seen.user_id)
    return user_id === undefined ? [] : [{ ...seen, user_id }]
  })
}

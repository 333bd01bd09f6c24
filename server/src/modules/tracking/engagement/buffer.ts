/**
 * Buffers engagement in memory and writes it in batches, so that a redirect does not wait for the database, even if it is down. If
 * the process dies, or more waits than fits, engagement is lost.
 */
import { isDatabaseAway } from '../../../infra/postgres/database-away.ts'
import { type Ctx, type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import { flushEvery } from '../../../infra/runtime/flushed.ts'
import { saveTogether } from '../../../infra/runtime/save-together.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { inProject } from '../../projects/index.ts'
import { findMergedInto } from '../../users/index.ts'
import { count } from '../links/queries.ts'
import type { Engagement } from '../schema.ts'
import { BURST_MS, createBursts } from './bursts.ts'

const FLUSH_EVERY_MS = 1000
const BATCH_MAX = 500
const WAITING_MAX = 50_000
/** Engagement that fails this often while the database is there, once a second, is dropped. */
const ATTEMPTS_MAX = 60
/** What fails is kept here: the next second writes it again. */
const AT_ONCE = AbortSignal.abort()

export type EngagementBuffer = AsyncDisposable & {
  /** Adds engagement to the buffer. Does not throw; if the buffer is full, it is dropped. */
  put(projectId: ProjectId, engagement: Engagement): void
  /** Writes due engagement: opens at once, and clicks when they can no longer be part of a burst. */
  flush(): Promise<void>
}

/**
 * Writes a batch to its messages, in the transaction that counts it. It is passed in, because tracking must not import messages, and
 * the buffer writes while the server is running.
 */
export type WriteEngagement = (ctx: InTx, engagements: Engagement[]) => Promise<void>

type Waiting = { projectId: ProjectId; engagement: Engagement; attempts: number }

/** Creates a buffer, which is written once a second. Disposing of it writes everything. */
export function createEngagementBuffer(ctx: Ctx, write: WriteEngagement): EngagementBuffer {
  const bursts = createBursts()
  let waiting: Waiting[] = []
  let lost = 0

  const requeue = (failed: Waiting[]) => {
    const kept = failed.filter(({ attempts }) => attempts < ATTEMPTS_MAX)
    lost += failed.length - kept.length
    waiting.push(...kept)
  }
  const flushOnce = async (isLast: boolean) => {
    const now = ctx.clock.now()
    const isDue = ({ engagement: { kind, at } }: Waiting) => isLast || kind === 'open' || Math.abs(now.getTime() - at.getTime()) > BURST_MS
    const due = waiting.filter(isDue)
    waiting = waiting.filter((one) => !isDue(one))
    bursts.forget(now)
    for (const [projectId, ofProject] of Map.groupBy(due, ({ projectId }) => projectId))
      requeue(await writeAll(ctx, write, projectId, ofProject))
    if (lost > 0) ctx.log.error({ engagements: lost }, 'engagement was lost')
    lost = 0
  }
  return {
    ...flushEvery(ctx.clock, FLUSH_EVERY_MS, flushOnce),
    put(projectId, engagement) {
      if (waiting.length >= WAITING_MAX) {
        lost++
        return
      }
      if (engagement.kind === 'click') bursts.add(engagement)
      waiting.push({ projectId, engagement, attempts: 0 })
    },
  }
}

/** Writes the engagement of a project in batches. Returns what failed. */
async function writeAll(ctx: Ctx, write: WriteEngagement, projectId: ProjectId, due: Waiting[]): Promise<Waiting[]> {
  const failed: Waiting[] = []
  for (let at = 0; at < due.length; at += BATCH_MAX) {
    const unsaved = await saveTogether(ctx, due.slice(at, at + BATCH_MAX), (some) => writeBatch(ctx, write, projectId, some), AT_ONCE)
    const [first] = unsaved
    if (!first) continue
    ctx.log.error({ err: first.error, engagements: unsaved.length }, 'engagement could not be written and will be tried again')
    const isAway = isDatabaseAway(first.error)
    for (const { item } of unsaved) failed.push(isAway ? item : { ...item, attempts: item.attempts + 1 })
    if (isAway) return [...failed, ...due.slice(at + BATCH_MAX)]
  }
  return failed
}

/** Writes a batch in one transaction. */
async function writeBatch(ctx: Ctx, write: WriteEngagement, projectId: ProjectId, batch: Waiting[]): Promise<void> {
  await inProject(ctx, projectId, (ctx) =>
    inTx(ctx, async (ctx) => {
      const engagements = await ofLiveUsers(ctx, batch)
      if (engagements.length === 0) return
      await write(ctx, engagements)
      await count(ctx, {
        campaignIds: engagements.map(({ campaign_id }) => campaign_id),
        userIds: engagements.map(({ user_id }) => user_id),
        linkIds: engagements.map(({ link }) => link),
        areBots: engagements.map(({ isBot }) => isBot),
        areProxied: engagements.map(({ isProxied }) => isProxied),
      })
    }),
  )
}

/** The engagement of live users. Merged users are replaced by the users they were merged into. */
async function ofLiveUsers(ctx: InTx, batch: Waiting[]): Promise<Engagement[]> {
  const ids = [...new Set(batch.map(({ engagement }) => engagement.user_id))]
  const mergedInto = new Map((await findMergedInto(ctx, ctx.projectId, ids)).map(({ id, merged_into }) => [id, merged_into]))
  return batch.flatMap(({ engagement }) => {
    const user_id = mergedInto.get(engagement.user_id)
    return user_id === undefined ? [] : [{ ...engagement, user_id }]
  })
}

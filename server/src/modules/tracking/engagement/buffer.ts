/**
 * Buffers engagement in memory and writes it in batches, so that a redirect does not wait for the database, even if it is down. If
 * the process dies, or more waits than fits, engagement is lost.
 */
import { isDatabaseAway } from '../../../infra/postgres/database-away.ts'
import { type Ctx, type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import { flushEvery } from '../../../infra/runtime/flushed.ts'
import { isTemporary, saveTogether } from '../../../infra/runtime/save-together.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { isNewEventId } from '../../events/index.ts'
import { inProject } from '../../projects/index.ts'
import { findMergedInto, holdLiveUsers } from '../../users/index.ts'
import { count } from '../links/queries.ts'
import type { Engagement } from '../schema.ts'
import { BURST_MS, createBursts } from './bursts.ts'

const FLUSH_EVERY_MS = 1000
const BATCH_MAX = 500
const WAITING_MAX = 50_000
/** Engagement that fails this often while the database is there, once a second, is dropped. */
const ATTEMPTS_MAX = 60
const ID_BYTES = 15
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

type Waiting = {
  projectId: ProjectId
  engagement: Engagement
  attempts: number
  /** The batch that it was last written in, if the database may have committed it and its answer was lost. */
  batch: Batch | null
}

/** Engagement that is written together, under an id. It is written again as it is, so that a batch that was committed is not counted twice. */
type Batch = { id: string; size: number }

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
    const isDue = ({ engagement: { kind, at }, batch }: Waiting) =>
      isLast || batch !== null || kind === 'open' || Math.abs(now.getTime() - at.getTime()) > BURST_MS
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
      waiting.push({ projectId, engagement, attempts: 0, batch: null })
    },
  }
}

/** Writes the engagement of a project in batches. Returns what failed. */
async function writeAll(ctx: Ctx, write: WriteEngagement, projectId: ProjectId, due: Waiting[]): Promise<Waiting[]> {
  const failed: Waiting[] = []
  const batches = batchesOf(due)
  for (const [index, batch] of batches.entries()) {
    const unsaved = await saveTogether(ctx, batch, (some) => writeBatch(ctx, write, projectId, some), AT_ONCE)
    const [first] = unsaved
    if (!first) continue
    ctx.log.error({ err: first.error, engagements: unsaved.length }, 'engagement could not be written and will be tried again')
    const isAway = isDatabaseAway(first.error)
    for (const { item, error } of unsaved) failed.push(afterFailure(item, error))
    if (isAway) return [...failed, ...batches.slice(index + 1).flat()]
  }
  return failed
}

/** Batches that may have been committed come first: while the database is away, there is one of them, and the rest is still put together. */
function batchesOf(due: Waiting[]): Waiting[][] {
  const byBatch = Map.groupBy(due, ({ batch }) => batch)
  const rest = byBatch.get(null) ?? []
  byBatch.delete(null)
  const batches = Array.from({ length: Math.ceil(rest.length / BATCH_MAX) }, (_, at) => rest.slice(at * BATCH_MAX, (at + 1) * BATCH_MAX))
  return [...byBatch.values(), ...batches]
}

/** What other failures than those of `isTemporary` concern was rolled back for certain. */
function afterFailure(item: Waiting, error: unknown): Waiting {
  if (isDatabaseAway(error)) return item
  return { ...item, attempts: item.attempts + 1, batch: isTemporary(error) ? item.batch : null }
}

/** The id of a batch: that of its last attempt if it is written again, or else a new one. */
function idOf(ctx: Ctx, some: Waiting[]): string {
  const before = some[0]?.batch
  if (before?.size === some.length) return before.id
  const batch = { id: `engagement ${ctx.secrets.random(ID_BYTES).toString('base64url')}`, size: some.length }
  for (const one of some) one.batch = batch
  return batch.id
}

/** Writes a batch in one transaction, unless it is written already. */
async function writeBatch(ctx: Ctx, write: WriteEngagement, projectId: ProjectId, batch: Waiting[]): Promise<void> {
  const id = idOf(ctx, batch)
  await inProject(ctx, projectId, (ctx) =>
    inTx(ctx, async (ctx) => {
      const [isNew, engagements] = await Promise.all([isNewEventId(ctx, id), ofLiveUsers(ctx, batch)])
      if (!isNew || engagements.length === 0) return
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

/** The engagement of live users, who are held. Merged users are replaced by the users they were merged into. */
async function ofLiveUsers(ctx: InTx, batch: Waiting[]): Promise<Engagement[]> {
  const ids = [...new Set(batch.map(({ engagement }) => engagement.user_id))]
  const mergedInto = new Map((await findMergedInto(ctx, ctx.projectId, ids)).map(({ id, merged_into }) => [id, merged_into]))
  await holdLiveUsers(ctx, [...mergedInto.values()])
  return batch.flatMap(({ engagement }) => {
    const user_id = mergedInto.get(engagement.user_id)
    return user_id === undefined ? [] : [{ ...engagement, user_id }]
  })
}

/** How much waits in each queue of the server, and since when. */
import { logDepth } from './infra/queue/log/depth.ts'
import { backlog } from './infra/queue/queue.ts'
import type { Ctx } from './infra/runtime/ctx.ts'
import { messageDepth } from './modules/messages/index.ts'
import { mailDepth } from './modules/mta/index.ts'
import type { QueueDepth } from './modules/system/index.ts'
import { webhookDepth } from './modules/webhooks/index.ts'

/** The queues in the order in which a request goes through them, without a log that does not answer, and the number of items that were parked. */
export async function queueDepthsOf(ctx: Ctx): Promise<{ queues: QueueDepth[]; parked: number }> {
  // Neither waits for the other. What the log itself tells is reported even while the database is away.
  const [logged, inDatabase] = await Promise.allSettled([ctx.acceptedLog && logDepth(ctx, ctx.acceptedLog), depthsInDatabase(ctx)])
  if (logged.status === 'rejected') throw logged.reason
  if (inDatabase.status === 'rejected') throw inDatabase.reason
  const { queues, parked } = inDatabase.value
  return { queues: [...(logged.value ? [named('log', logged.value)] : []), ...queues], parked }
}

const named = (name: string, depth: { waiting: number; oldest: Date | null } | undefined): QueueDepth => ({
  name,
  waiting: depth?.waiting ?? 0,
  oldest_at: depth?.oldest ?? null,
})

async function depthsInDatabase(ctx: Ctx): Promise<{ queues: QueueDepth[]; parked: number }> {
  const accepted = await backlog(ctx)
  const queues = [
    named('ingest', accepted),
    named('messages', await messageDepth(ctx)),
    named('mail', await mailDepth(ctx)),
    named('webhooks', await webhookDepth(ctx)),
  ]
  return { queues, parked: accepted.parked }
}

/** Webhook events of an exceeded quota: one a minute, with the number of submissions that were refused (D-MTA-57). */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { emit, webhookEvents } from '../../webhook-events/index.ts'
import { lockRefusals, saveRefusals } from './queries.ts'

/** A submission that a quota refused. */
export type RefusedSubmission = { quota: string; limit: number; used: number; from: string; to: string[] }

/** Counts a refusal, and adds the event unless there was one within the last minute. */
export async function recordRefusal(ctx: InTx, { quota, limit, used, from, to }: RefusedSubmission): Promise<void> {
  const now = ctx.clock.now()
  const earlier = await lockRefusals(ctx, quota)
  if (earlier && now.getTime() - earlier.reported_at.getTime() < MINUTE_MS) {
    await saveRefusals(ctx, quota, earlier.refused + 1, earlier.reported_at)
    return
  }
  const count = (earlier?.refused ?? 0) + 1
  await saveRefusals(ctx, quota, 0, now)
  await emit(ctx, () => [webhookEvents.queueQuotaExceeded.of({ channel: 'email', from, to, quota, limit, used, unit: 'messages', count })])
}

/** Webhook events of an exceeded quota: one a minute, with the number of submissions that were refused (D-MTA-57). */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { emit, webhookEvents } from '../../webhook-events/index.ts'
import { beginRefusals, countRefusal } from './queries.ts'

/** A submission that a quota refused. */
export type RefusedSubmission = { quota: string; limit: number; used: number; from: string; to: string[] }

/** Counts a refusal, and adds the event unless there was one within the last minute. */
export async function recordRefusal(ctx: InTx, { quota, limit, used, from, to }: RefusedSubmission): Promise<void> {
  const now = ctx.clock.now()
  const { refused, reported_at } = await countRefusal(ctx, quota)
  const isFirst = refused === 0
  if (!isFirst && Math.abs(now.getTime() - reported_at.getTime()) < MINUTE_MS) return
  if (!isFirst) await beginRefusals(ctx, quota)
  const count = Math.max(1, refused)
  await emit(ctx, () => [webhookEvents.queueQuotaExceeded.of({ channel: 'email', from, to, quota, limit, used, unit: 'messages', count })])
}

/** Records the results of attempts, and suspends endpoints that have failed for too long. */
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { saveTogether } from '../../infra/runtime/save-together.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { recordAction } from '../audit/index.ts'
import { lookNow, unsubscribe } from '../webhook-events/index.ts'
import type { ClaimedDelivery, DeliveryResult } from './deliveries.queries.ts'
import * as deliveryQueries from './deliveries.queries.ts'
import * as endpointQueries from './endpoints.queries.ts'
import { addHours } from './hours.queries.ts'
import { countByHour } from './hours.ts'
import { cancelReplays } from './replays.queries.ts'
import { isGone, isSuccess, retryDelayMs } from './retry.ts'
import { failureStreaks, type Streak, suspensionReason } from './suspension.ts'

export type Attempt = { delivery: ClaimedDelivery; at: Date; response: SafeResponse }

/**
 * Records attempts, and suspends endpoints that have failed for too long. A delivery whose attempt cannot be recorded is sent again when its
 * lease ends.
 */
export async function recordAttempts(ctx: Ctx, attempts: Attempt[], stop: AbortSignal): Promise<void> {
  if (attempts.length === 0) return
  for (const { response } of attempts) ctx.metrics.webhookAttempt(isSuccess(response) ? 'succeeded' : 'failed', response.elapsedMs)
  const results = attempts.map((attempt) => resultOf(ctx, attempt))
  const outcomes = attempts.map(({ delivery, at, response }) => ({
    projectId: delivery.project_id,
    endpointId: delivery.endpoint_id,
    succeeded: isSuccess(response),
    gone: isGone(response),
    at,
  }))
  const save = async (some: DeliveryResult[]) => void (await deliveryQueries.saveDeliveryResults(ctx, some))
  const unsaved = [
    ...(await saveTogether(ctx, results, save, stop)),
    ...(await saveTogether(ctx, countByHour(outcomes), async (some) => void (await addHours(ctx, some)), stop)),
    ...(await saveTogether(ctx, failureStreaks(outcomes), (some) => countStreaks(ctx, some), stop)),
  ]
  const [first] = unsaved
  if (first) ctx.log.error({ err: first.error, unsaved: unsaved.length }, 'webhook attempts could not be recorded')
}

async function countStreaks(ctx: Ctx, found: Streak[]): Promise<void> {
  const health = new Map((await endpointQueries.countFailures(ctx, found)).map((row) => [row.id, row]))
  const limits = { failures: ctx.config.WEBHOOK_DISABLE_AFTER_FAILURES, hours: ctx.config.WEBHOOK_DISABLE_AFTER_HOURS }
  for (const { projectId, endpointId, gone } of found) {
    const row = health.get(endpointId)
    if (row?.consecutive_failures === 0) await lookNow(ctx, projectId, endpointId)
    const reason = row && suspensionReason(row, gone, limits, ctx.clock.now())
    if (reason) await suspend(ctx, projectId, endpointId, reason)
  }
}

function resultOf(ctx: Ctx, { delivery, at, response }: Attempt): DeliveryResult {
  const { id, project_id, attempts, schedule_step, due_at } = delivery
  const succeeded = isSuccess(response)
  const next = succeeded ? null : nextAttemptAt(ctx, response, schedule_step)
  return {
    id,
    project_id,
    attempts,
    schedule_step,
    due_at,
    status: succeeded ? 'succeeded' : next ? 'pending' : 'failed',
    status_code: response.is === 'answered' ? response.status : null,
    error: succeeded ? null : describe(response),
    response_body: response.is === 'answered' ? response.body.replaceAll('\0', '') : null,
    attempted_at: at,
    elapsed_ms: Math.round(response.elapsedMs),
    next_attempt_at: next,
  }
}

function nextAttemptAt(ctx: Ctx, response: SafeResponse, step: number): Date | null {
  const random = ctx.secrets.random(4).readUInt32BE() / 2 ** 32
  const now = ctx.clock.now()
  const delayMs = retryDelayMs(response, { schedule: ctx.config.WEBHOOK_RETRY_SCHEDULE, step, random, now })
  return delayMs === null ? null : new Date(now.getTime() + delayMs)
}

function describe(response: SafeResponse): string {
  if (response.is === 'failed') return response.message
  if (response.status >= 300 && response.status < 400)
    return `The server responded with a redirect (${response.status}), which is not followed.`
  return `The server responded with status ${response.status}.`
}

/** Disables an endpoint with a reason that its owner can read, and cancels its deliveries. */
async function suspend(ctx: Ctx, projectId: ProjectId, endpointId: EndpointId, reason: string): Promise<void> {
  await inTx(ctx, async (ctx) => {
    if ((await endpointQueries.disableEndpoint(ctx, projectId, endpointId, reason)) === 0) return
    await unsubscribe(ctx, projectId, endpointId)
    await deliveryQueries.cancelDeliveries(ctx, projectId, endpointId)
    await cancelReplays(ctx, projectId, endpointId)
    const after = { status: 'disabled', disabled_reason: reason }
    await recordAction(ctx, projectId, 'webhook.updated', endpointId, { before: { status: 'active' }, after })
    ctx.log.warn({ project_id: projectId, endpoint_id: endpointId, reason }, 'webhook endpoint suspended')
  })
}

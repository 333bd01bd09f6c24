/** Records the results of attempts, and suspends endpoints that have failed for too long. */
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { saveTogether } from '../../infra/runtime/save-together.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { recordAction } from '../audit/index.ts'
import { lookNow } from '../webhook-events/index.ts'
import type { ClaimedDelivery } from './deliveries.queries.ts'
import * as endpointQueries from './endpoints.queries.ts'
import { addHours } from './hours.queries.ts'
import { countByHour } from './hours.ts'
import { type DeliveryResult, saveDeliveryResults } from './results.queries.ts'
import { isGone, isSuccess, retryDelayMs } from './retry.ts'
import { stopDeliveries } from './service.ts'
import { type AttemptResult, failureStreaks, type Streak, suspensionReason } from './suspension.ts'

export type Attempt = { delivery: ClaimedDelivery; at: Date; response: SafeResponse }

type Recorded = { attempt: Attempt; result: DeliveryResult }
/** `url` is the one that the attempts were made to. */
type Changed = { streak: Streak; health: endpointQueries.Health; url: string }

/**
 * Records attempts, and suspends endpoints that have failed for too long. A delivery whose attempt cannot be recorded is sent again when its
 * lease ends.
 */
export async function recordAttempts(ctx: Ctx, attempts: Attempt[], stop: AbortSignal): Promise<void> {
  if (attempts.length === 0) return
  for (const { response } of attempts) ctx.metrics.webhookAttempt(isSuccess(response) ? 'succeeded' : 'failed', response.elapsedMs)
  const recorded = attempts.map((attempt) => ({ attempt, result: resultOf(ctx, attempt) }))
  const changed: Changed[] = []
  const save = async (some: Recorded[]) => void changed.push(...(await saveAttempts(ctx, some)))
  const unsaved = [
    ...(await saveTogether(ctx, recorded, save, stop)),
    ...(await saveTogether(ctx, changed, (some) => actOn(ctx, some), stop)),
  ]
  const [first] = unsaved
  if (first) ctx.log.error({ err: first.error, unsaved: unsaved.length }, 'webhook attempts could not be recorded')
}

/**
 * Saves attempts and counts those that it saved, in one transaction, so that what is saved again is not counted again. Endpoints are locked
 * before deliveries, as by those who disable them. Returns the endpoints whose count of failures has changed, and those that are gone.
 */
const saveAttempts = (ctx: Ctx, some: Recorded[]): Promise<Changed[]> =>
  inTx(ctx, async (ctx) => {
    const unhealthy = await endpointQueries.lockUnhealthy(ctx, failureStreaks(some.map(outcomeOf)))
    const urls = new Map(unhealthy.map(({ id, url }) => [id, url]))
    const rows = await saveDeliveryResults(
      ctx,
      some.map(({ result }) => result),
    )
    const saved = new Set(rows.map(({ delivery_id }) => delivery_id))
    const kept = some.filter(({ result }) => saved.has(result.id))
    const outcomes = kept.map(outcomeOf)
    // What a URL responds that the endpoint had before says nothing about the present one.
    const streaks = failureStreaks(
      kept.filter(({ attempt: { delivery } }) => urls.get(delivery.endpoint_id) === delivery.url).map(outcomeOf),
    )
    const health = streaks.length > 0 ? await endpointQueries.countFailures(ctx, streaks) : []
    if (outcomes.length > 0) await addHours(ctx, countByHour(outcomes))
    const byId = new Map(health.map((row) => [row.id, row]))
    return streaks.flatMap((streak) => {
      const [health, url] = [byId.get(streak.endpointId), urls.get(streak.endpointId)]
      return health && url !== undefined ? [{ streak, health, url }] : []
    })
  })

const outcomeOf = ({ attempt: { delivery, at, response } }: Recorded): AttemptResult => ({
  projectId: delivery.project_id,
  endpointId: delivery.endpoint_id,
  succeeded: isSuccess(response),
  gone: isGone(response),
  at,
})

/** Looks for events of endpoints that work again, and suspends those that have failed for too long. */
async function actOn(ctx: Ctx, changed: Changed[]): Promise<void> {
  const limits = { failures: ctx.config.WEBHOOK_DISABLE_AFTER_FAILURES, hours: ctx.config.WEBHOOK_DISABLE_AFTER_HOURS }
  for (const { streak, health, url } of changed) {
    const { projectId, endpointId, gone } = streak
    if (health.consecutive_failures === 0) await lookNow(ctx, projectId, endpointId)
    const reason = suspensionReason(health, gone, limits, ctx.clock.now())
    if (reason) await suspend(ctx, { projectId, endpointId, url }, reason)
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

/** Disables an endpoint that still has this URL, with a reason that its owner can read, and cancels its deliveries. */
async function suspend(
  ctx: Ctx,
  { projectId, endpointId, url }: { projectId: ProjectId; endpointId: EndpointId; url: string },
  reason: string,
): Promise<void> {
  await inTx(ctx, async (ctx) => {
    if ((await endpointQueries.disableEndpoint(ctx, projectId, endpointId, { url, reason })) === 0) return
    await stopDeliveries(ctx, projectId, endpointId)
    const after = { status: 'disabled', disabled_reason: reason }
    await recordAction(ctx, projectId, 'webhook.updated', endpointId, { before: { status: 'active' }, after })
    ctx.log.warn({ project_id: projectId, endpoint_id: endpointId, reason }, 'webhook endpoint suspended')
  })
}

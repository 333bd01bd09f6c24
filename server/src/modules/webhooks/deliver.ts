/**
 * Delivery of what is due: lease, send, record, in rounds that never wait for a slow endpoint. Deciding is left to
 * `retry.ts` and `suspension.ts`.
 */

import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import type { EndpointId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { findSignals, unsubscribe } from '../webhook-events/index.ts'
import { payload } from './payload.ts'
import type { ClaimedDelivery, DeliveryResult } from './queries.ts'
import * as queries from './queries.ts'
import { isGone, isSuccess, retryDelayMs } from './retry.ts'
import { sealContext } from './service.ts'
import { type Signer, signer } from './signature.ts'
import { failureStreaks, suspensionReason } from './suspension.ts'

const LEASED_MAX = 2000
const IN_FLIGHT_MAX = 500
const IN_FLIGHT_PER_ENDPOINT_MAX = 10
/** Some more than can be under way are at hand, and for an endpoint that is quick, many, so that it never waits for the database. */
const WINDOW = 20
const WINDOW_OF_QUICK = 400
/** So many attempts since the last look make an endpoint quick. */
const QUICK_FROM = 10
/** With so few at hand, it is time to lease more. */
const LOW = 200
/** From this many failures in a row on, an endpoint gets one attempt at a time, until one succeeds. */
const FAILING_AFTER = 10
/** What may pass before and after an attempt while its lease runs. */
const LEASE_SPARE_SECONDS = 45
/** What has waited longer is leased again: by then its endpoint may be paused, or its secret replaced. */
const AT_HAND_MS_MAX = 1000
const LOOK_AGAIN_MS = 250

const CONNECT_TIMEOUT_MS = 5000
const RESPONSE_BYTES_MAX = 20_000

/** `sign` is null when a secret cannot be read. */
type Parcel = ClaimedDelivery & { body: string; sign: Signer | null; leasedAt: number }
type Attempted = { parcel: Parcel; at: Date; response: SafeResponse }

/** Sends everything that is due. Answers how many attempts were made, when nothing is due or under way any more. */
export async function deliverDue(ctx: Ctx, stop: AbortSignal): Promise<number> {
  const desk: Desk = { queues: new Map(), inFlight: 0, finished: [], stale: [], troubles: [], bell: Promise.withResolvers() }
  try {
    return await work(ctx, desk, stop)
  } finally {
    // After trouble nobody would record what is sent: what is at hand is left to whoever leases it next.
    for (const queue of desk.queues.values()) queue.waiting.length = 0
  }
}

async function work(ctx: Ctx, desk: Desk, stop: AbortSignal): Promise<number> {
  let attempts = 0
  for (;;) {
    desk.bell = Promise.withResolvers()
    const finished = desk.finished.splice(0)
    attempts += finished.length
    await settle(ctx, finished)
    await release(ctx, desk.stale.splice(0))
    if (!stop.aborted) await fill(ctx, desk)
    for (const queue of desk.queues.values()) start(ctx, desk, queue, stop)
    if (desk.troubles.length > 0) throw desk.troubles[0]
    if (desk.finished.length > 0 || desk.stale.length > 0) continue
    if (desk.inFlight === 0) return attempts
    await soon(ctx, desk.bell.promise)
  }
}

/** What one endpoint has of us at the moment. */
type EndpointQueue = { waiting: Parcel[]; inFlight: number; finishedSinceFill: number }

type Desk = {
  queues: Map<EndpointId, EndpointQueue>
  inFlight: number
  finished: Attempted[]
  /** Leased and not tried: to be given back. */
  stale: Parcel[]
  /** Bugs, to be thrown where somebody hears them. */
  troubles: unknown[]
  /** Rings when there is something to record or to lease. */
  bell: PromiseWithResolvers<void>
}

/** Puts what is due on the lanes of its endpoints, and forgets lanes that are empty. */
async function fill(ctx: Ctx, { queues }: Desk): Promise<void> {
  const quick = [...queues].filter(([, { finishedSinceFill }]) => finishedSinceFill >= QUICK_FROM).map(([id]) => id)
  let leased = 0
  for (const [id, queue] of queues) {
    queue.finishedSinceFill = 0
    leased += queue.waiting.length + queue.inFlight
    if (queue.waiting.length + queue.inFlight === 0) queues.delete(id)
  }
  for (const parcel of await lease(ctx, LEASED_MAX - leased, quick)) {
    const queue = queues.get(parcel.endpoint_id) ?? { waiting: [], inFlight: 0, finishedSinceFill: 0 }
    queues.set(parcel.endpoint_id, queue)
    queue.waiting.push(parcel)
  }
}

/** Sends what waits, as much of it as may be under way at once. */
function start(ctx: Ctx, desk: Desk, queue: EndpointQueue, stop: AbortSignal): void {
  while (queue.inFlight < IN_FLIGHT_PER_ENDPOINT_MAX && desk.inFlight < IN_FLIGHT_MAX) {
    const parcel = queue.waiting.shift()
    if (!parcel) return
    if (stop.aborted || ctx.clock.now().getTime() - parcel.leasedAt > AT_HAND_MS_MAX) {
      desk.stale.push(parcel)
      continue
    }
    queue.inFlight += 1
    desk.inFlight += 1
    attempt(ctx, parcel)
      .then(
        (attempted) => desk.finished.push(attempted),
        (error) => desk.troubles.push(error),
      )
      .then(() => {
        queue.inFlight -= 1
        desk.inFlight -= 1
        queue.finishedSinceFill += 1
        start(ctx, desk, queue, stop)
        if (queue.waiting.length < LOW) desk.bell.resolve()
      })
  }
}

/** Until an attempt is over, or it is time to look for what has become due meanwhile. */
async function soon(ctx: Ctx, attemptOver: Promise<void>): Promise<void> {
  const over = new AbortController()
  try {
    await Promise.race([attemptOver, ctx.clock.sleep(LOOK_AGAIN_MS, over.signal)])
  } finally {
    over.abort()
  }
}

/** Leases what is due and reads what is needed to send it. */
async function lease(ctx: Ctx, total: number, quick: EndpointId[]): Promise<Parcel[]> {
  if (total <= 0) return []
  const windows = { usual: WINDOW, wide: WINDOW_OF_QUICK, quick, failingAfter: FAILING_AFTER }
  const claimed = await queries.claimDeliveries(ctx, total, windows, ctx.config.WEBHOOK_TIMEOUT_MS / 1000 + LEASE_SPARE_SECONDS)
  if (claimed.length === 0) return []
  const projectIds = distinct(claimed.map(({ project_id }) => project_id))
  const [events, secrets] = await Promise.all([
    findSignals(ctx, projectIds, distinct(claimed.map(({ event_id }) => event_id))),
    queries.liveSecrets(ctx, projectIds, distinct(claimed.map(({ endpoint_id }) => endpoint_id))),
  ])
  const eventById = new Map(events.map((event) => [event.id, event]))
  const signers = new Map([...Map.groupBy(secrets, ({ endpoint_id }) => endpoint_id)].map(([id, rows]) => [id, openSigner(ctx, id, rows)]))
  const leasedAt = ctx.clock.now().getTime()
  return claimed.flatMap((delivery) => {
    const event = eventById.get(delivery.event_id)
    const sign = signers.get(delivery.endpoint_id) ?? null
    return event ? [{ ...delivery, body: payload(event, delivery.api_version), sign, leasedAt }] : []
  })
}

/** Null when the key that sealed a secret is gone: that is one endpoint's trouble, not that of the others. */
function openSigner(ctx: Ctx, endpointId: EndpointId, rows: { sealed: string }[]): Signer | null {
  try {
    return signer(rows.map(({ sealed }) => ctx.secrets.open(sealed, sealContext(endpointId))))
  } catch (error) {
    ctx.log.error({ err: error, endpoint_id: endpointId }, 'the secret of a webhook endpoint cannot be opened')
    return null
  }
}

async function release(ctx: Ctx, parcels: Parcel[]): Promise<void> {
  if (parcels.length === 0) return
  await queries.releaseDeliveries(
    ctx,
    distinct(parcels.map(({ project_id }) => project_id)),
    parcels.map(({ id }) => id),
  )
}

const unsigned: SafeResponse = { is: 'failed', reason: 'other', message: 'The signing secret cannot be read. Rotate it.', elapsedMs: 0 }

/** One POST. What is signed is what is sent. */
async function attempt(ctx: Ctx, parcel: Parcel): Promise<Attempted> {
  const at = ctx.clock.now()
  const { url, body, sign, event_id } = parcel
  if (!sign) return { parcel, at, response: unsigned }
  const response = await ctx.fetch.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...sign(event_id, body, at) },
    body,
    timeoutMs: ctx.config.WEBHOOK_TIMEOUT_MS,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, ctx.config.WEBHOOK_TIMEOUT_MS),
    responseBytesMax: RESPONSE_BYTES_MAX,
  })
  return { parcel, at, response }
}

/** Records attempts, and suspends endpoints that have failed for too long. */
async function settle(ctx: Ctx, attempted: Attempted[]): Promise<void> {
  if (attempted.length === 0) return
  await queries.saveDeliveryResults(
    ctx,
    attempted.map((one) => settled(ctx, one)),
  )
  for (const { response } of attempted) ctx.metrics.webhookAttempt(isSuccess(response) ? 'succeeded' : 'failed', response.elapsedMs)
  const found = failureStreaks(
    attempted.map(({ parcel, at, response }) => ({
      projectId: parcel.project_id,
      endpointId: parcel.endpoint_id,
      succeeded: isSuccess(response),
      gone: isGone(response),
      at,
    })),
  )
  const health = new Map((await queries.countFailures(ctx, found)).map((row) => [row.id, row]))
  const limits = { failures: ctx.config.WEBHOOK_DISABLE_AFTER_FAILURES, hours: ctx.config.WEBHOOK_DISABLE_AFTER_HOURS }
  for (const { projectId, endpointId, gone } of found) {
    const row = health.get(endpointId)
    const reason = row && suspensionReason(row, gone, limits, ctx.clock.now())
    if (reason) await suspend(ctx, projectId, endpointId, reason)
  }
}

function settled(ctx: Ctx, { parcel, at, response }: Attempted): DeliveryResult {
  const { id, project_id, attempts, schedule_step } = parcel
  const succeeded = isSuccess(response)
  const next = succeeded ? null : nextAttemptAt(ctx, response, schedule_step)
  return {
    id,
    project_id,
    attempts,
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
    return `The server answered with a redirect (${response.status}), which is not followed.`
  return `The server answered with status ${response.status}.`
}

/** Events stop, and the owner can read why. */
async function suspend(ctx: Ctx, projectId: Parcel['project_id'], endpointId: EndpointId, reason: string): Promise<void> {
  await inTx(ctx, async (ctx) => {
    if ((await queries.disableEndpoint(ctx, projectId, endpointId, reason)) === 0) return
    await unsubscribe(ctx, projectId, endpointId)
    await queries.cancelDeliveries(ctx, projectId, endpointId)
    ctx.log.warn({ project_id: projectId, endpoint_id: endpointId, reason }, 'webhook endpoint suspended')
  })
}

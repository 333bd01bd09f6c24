/**
 * The deliveries that this process has leased: which of them wait and which are in flight. The endpoints of a project take turns, so that a
 * slow one does not delay the others.
 */
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import type { ClaimedDelivery } from './deliveries.queries.ts'
import type { Attempt } from './record-attempts.ts'
import type { Signer } from './signature.ts'
import { beginSpan } from './traces.ts'

/** Of this process. A project has no more than half of what is free without its own, so that there is always room for another. */
const IN_FLIGHT_MAX = 300
const IN_FLIGHT_PER_ENDPOINT_MAX = 10
/** More are leased when an endpoint has fewer waiting than this. */
const REFILL_BELOW = 50
/** A delivery that has waited longer is leased again, because its endpoint may be paused or its secret replaced by then. */
const WAITING_MS_MAX = 1000

const CONNECT_TIMEOUT_MS = 5000
const RESPONSE_BYTES_MAX = 20_000

/**
 * A delivery that is ready to send. `sign` is null if a secret cannot be decrypted; `requestId` is the request that its message came from, while
 * traces are exported.
 */
export type Delivery = ClaimedDelivery & { body: string; sign: Signer | null; leasedAt: number; requestId: string | null }

/** The leased deliveries of one endpoint. */
export type EndpointQueue = { projectId: ProjectId; waiting: Delivery[]; inFlight: number; finishedSinceFill: number }

export type Dispatcher = {
  queues: Map<EndpointId, EndpointQueue>
  /** The queues of each project that have deliveries waiting and may have more in flight, those first that had their turn the longest ago. */
  startable: Map<ProjectId, Set<EndpointQueue>>
  inFlight: Set<Delivery>
  inFlightOf: Map<ProjectId, number>
  /** When the leases were renewed. */
  renewedAt: number
  finished: Attempt[]
  finishedSinceLease: number
  /** Deliveries that were leased but not sent, and are to be released. */
  stale: Delivery[]
  /** Resolves when there is something to record or to lease. */
  wake: PromiseWithResolvers<void>
}

export const emptyDispatcher = (renewedAt: number): Dispatcher => ({
  queues: new Map(),
  startable: new Map(),
  inFlight: new Set(),
  inFlightOf: new Map(),
  renewedAt,
  finished: [],
  finishedSinceLease: 0,
  stale: [],
  wake: Promise.withResolvers(),
})

/** Lets a queue with waiting deliveries take part again, unless it has the maximum number of deliveries in flight. */
export function offer({ startable }: Dispatcher, queue: EndpointQueue): void {
  if (queue.waiting.length === 0 || queue.inFlight >= IN_FLIGHT_PER_ENDPOINT_MAX) return
  const queues = startable.get(queue.projectId)
  if (queues) queues.add(queue)
  else startable.set(queue.projectId, new Set([queue]))
}

/** Sends waiting deliveries of a project within the limits, one of each endpoint before the next of any. */
export function startNext(ctx: Ctx, dispatcher: Dispatcher, projectId: ProjectId, stop: AbortSignal): void {
  const { startable, inFlight, inFlightOf, stale } = dispatcher
  for (const queue of startable.get(projectId) ?? []) {
    if ((inFlightOf.get(projectId) ?? 0) >= IN_FLIGHT_MAX - inFlight.size) return
    startable.get(projectId)?.delete(queue)
    const delivery = queue.waiting.shift()
    if (delivery && (stop.aborted || Math.abs(ctx.clock.now().getTime() - delivery.leasedAt) > WAITING_MS_MAX)) stale.push(delivery)
    else if (delivery) start(ctx, dispatcher, queue, delivery, stop)
    // At the end of the set, where this loop comes to it again.
    offer(dispatcher, queue)
  }
  startable.delete(projectId)
}

function start(ctx: Ctx, dispatcher: Dispatcher, queue: EndpointQueue, delivery: Delivery, stop: AbortSignal): void {
  const { inFlight, inFlightOf } = dispatcher
  const ofProject = () => inFlightOf.get(queue.projectId) ?? 0
  queue.inFlight += 1
  inFlight.add(delivery)
  inFlightOf.set(queue.projectId, ofProject() + 1)
  const at = ctx.clock.now()
  send(ctx, delivery, at)
    .catch((error: unknown) => broken(ctx, delivery, at, error))
    .then((attempt) => {
      dispatcher.finished.push(attempt)
      queue.inFlight -= 1
      inFlight.delete(delivery)
      if (ofProject() > 1) inFlightOf.set(queue.projectId, ofProject() - 1)
      else inFlightOf.delete(queue.projectId)
      queue.finishedSinceFill += 1
      offer(dispatcher, queue)
      startNext(ctx, dispatcher, queue.projectId, stop)
      if (queue.waiting.length < REFILL_BELOW) dispatcher.wake.resolve()
    })
}

/** The attempt of a delivery that a fault of this server keeps from being sent. It counts, so that the delivery is retried as late as any other. */
function broken({ log }: Ctx, delivery: Delivery, at: Date, error: unknown): Attempt {
  const { project_id, endpoint_id, id } = delivery
  log.error({ err: error, project_id, endpoint_id, delivery_id: id }, 'a webhook delivery could not be attempted; it will be retried')
  return { delivery, at, response: faulty }
}

const faulty: SafeResponse = {
  is: 'failed',
  reason: 'other',
  message: 'This server could not make the attempt. Its log says why.',
  elapsedMs: 0,
}
const unsigned: SafeResponse = { is: 'failed', reason: 'other', message: 'The signing secret cannot be read. Rotate it.', elapsedMs: 0 }

/** Sends one request. The signed body is the one that is sent. */
async function send(ctx: Ctx, delivery: Delivery, at: Date): Promise<Attempt> {
  const { url, body, sign, event_id } = delivery
  if (!sign) return { delivery, at, response: unsigned }
  const span = beginSpan(ctx, delivery, at)
  const response = await ctx.fetch.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...sign(event_id, body, at), ...(span && { traceparent: span.traceparent }) },
    body,
    timeoutMs: ctx.config.WEBHOOK_TIMEOUT_MS,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, ctx.config.WEBHOOK_TIMEOUT_MS),
    responseBytesMax: RESPONSE_BYTES_MAX,
  })
  span?.end(response)
  return { delivery, at, response }
}

/**
 * Sends due deliveries in rounds: lease, send, record. A slow endpoint does not delay the others. `retry.ts` and `suspension.ts`
 * contain the decisions.
 */

import { type Ctx, quickly } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { DISPATCH, findWebhookEvents, type StoredWebhookEvent } from '../webhook-events/index.ts'
import * as deliveryQueries from './deliveries.queries.ts'
import { FAILING_AFTER } from './dispatch.ts'
import * as endpointQueries from './endpoints.queries.ts'
import { type Delivery, type Dispatcher, emptyDispatcher, offer, startNext } from './in-flight.ts'
import { REPLAY } from './job-names.ts'
import { payload } from './payload.ts'
import { type Attempt, recordAttempts } from './record-attempts.ts'
import { openSigner } from './signers.ts'
import { findRequests } from './traces.ts'

/** Limits of this process. A project has no more of each than is still free, so that there is always room for another. */
const LEASED_MAX = 900
/** A project that has less room than this is leased nothing, because looking for it would cost more than it brings. */
const PROJECT_ROOM_MIN = 40
/** More are leased than are in flight, and more for a fast endpoint, so that it does not wait for the database. */
const LEASED_PER_ENDPOINT = 10
const LEASED_PER_FAST_ENDPOINT = 60
/** An endpoint is fast after this many attempts since the last lease. */
const FAST_FROM = 10
/** Leases are short and renewed, so that the deliveries of a process that dies are soon sent by another. */
const LEASE_SECONDS = 10
const RENEWED_EVERY_MS = 3000
const POLL_MS = 100
/**
 * So many answers share the statements that record them, as long as answers keep coming; and so many requests are answered before more deliveries
 * are leased, because looking for them costs the same for a few.
 */
const RECORDED_AT_ONCE = 150
const LEASED_AGAIN_AFTER = 150

/** Sends everything that is due. Returns the number of attempts once nothing is due or in flight. */
export async function deliverDue(ctx: Ctx, stop: AbortSignal): Promise<number> {
  const dispatcher = emptyDispatcher(ctx.clock.now().getTime())
  try {
    return await work(ctx, dispatcher, stop)
  } catch (error) {
    // The leases of waiting deliveries expire. What is in flight is recorded: it would be sent again otherwise.
    for (const queue of dispatcher.queues.values()) queue.waiting.length = 0
    await recordRest(ctx, dispatcher, stop)
    throw error
  }
}

async function recordRest(ctx: Ctx, dispatcher: Dispatcher, stop: AbortSignal): Promise<void> {
  while (dispatcher.inFlight.size > 0 || dispatcher.finished.length > 0) {
    await recordAttempts(ctx, dispatcher.finished.splice(0), stop)
    await renew(ctx, dispatcher).catch((error: unknown) =>
      ctx.log.warn({ err: error }, 'leases of webhook deliveries could not be renewed'),
    )
    if (dispatcher.inFlight.size > 0) await pause(ctx, dispatcher.wake.promise)
    dispatcher.wake = Promise.withResolvers()
  }
}

async function work(ctx: Ctx, dispatcher: Dispatcher, stop: AbortSignal): Promise<number> {
  let attempts = 0
  for (;;) {
    await gather(dispatcher)
    dispatcher.wake = Promise.withResolvers()
    const finished = dispatcher.finished.splice(0)
    attempts += finished.length
    dispatcher.finishedSinceLease += finished.length
    const leasing = !stop.aborted && (finished.length === 0 || needsMore(dispatcher)) ? fill(ctx, dispatcher) : undefined
    // What was answered is recorded whether or not more can be leased.
    const failures = (await Promise.allSettled([record(ctx, finished, stop), leasing])).filter(({ status }) => status === 'rejected')
    for (const { reason } of failures as PromiseRejectedResult[]) throw reason
    await release(ctx, dispatcher.stale.splice(0))
    await renew(ctx, dispatcher)
    for (const projectId of dispatcher.startable.keys()) startNext(ctx, dispatcher, projectId, stop)
    if (dispatcher.finished.length > 0 || dispatcher.stale.length > 0) continue
    if (dispatcher.inFlight.size === 0) return attempts
    await pause(ctx, dispatcher.wake.promise)
  }
}

async function record(ctx: Ctx, finished: Attempt[], stop: AbortSignal): Promise<void> {
  if (finished.length === 0) return
  await recordAttempts(ctx, finished, stop)
  ctx.wake(DISPATCH)
  ctx.wake(REPLAY)
}

/** Waits for the event loop to read answers, until it brings no more. */
async function gather({ finished }: Dispatcher): Promise<void> {
  for (let before = 0; finished.length > before && finished.length < RECORDED_AT_ONCE; ) {
    before = finished.length
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** Whether enough was answered, or all that is left waits for endpoints that do not answer. */
const needsMore = ({ queues, finishedSinceLease }: Dispatcher): boolean =>
  finishedSinceLease >= LEASED_AGAIN_AFTER ||
  ![...queues.values()].some(({ waiting, finishedSinceFill }) => waiting.length > 0 && finishedSinceFill > 0)

/** Leases due deliveries into the queues of their endpoints, and removes empty queues. */
async function fill(ctx: Ctx, dispatcher: Dispatcher): Promise<void> {
  const { queues } = dispatcher
  dispatcher.finishedSinceLease = 0
  const rooms = new Map<EndpointId, number>()
  const leasedBy = new Map<ProjectId, number>()
  let leased = 0
  for (const [id, queue] of queues) {
    const held = queue.waiting.length + queue.inFlight
    const width = queue.finishedSinceFill >= FAST_FROM ? LEASED_PER_FAST_ENDPOINT : LEASED_PER_ENDPOINT
    if (held > 0 || width > LEASED_PER_ENDPOINT) rooms.set(id, Math.max(0, width - held))
    queue.finishedSinceFill = 0
    leased += held
    leasedBy.set(queue.projectId, (leasedBy.get(queue.projectId) ?? 0) + held)
    if (held === 0) queues.delete(id)
  }
  const free = LEASED_MAX - leased
  // Half of what would be free without its own, less its own: as many as are free when it has them.
  const roomOf = (held: number) => Math.floor((free - held) / 2)
  const projectRooms = [...leasedBy].map(([id, held]): [ProjectId, number] => [id, roomOf(held) < PROJECT_ROOM_MIN ? 0 : roomOf(held)])
  const projects = { usual: Math.ceil(free / 2), rooms: new Map(projectRooms) }
  for (const delivery of await lease(ctx, {
    total: free,
    usual: LEASED_PER_ENDPOINT,
    rooms,
    failingAfter: FAILING_AFTER,
    projects,
  })) {
    const { endpoint_id, project_id } = delivery
    const queue = queues.get(endpoint_id) ?? { projectId: project_id, waiting: [], inFlight: 0, finishedSinceFill: 0 }
    queues.set(endpoint_id, queue)
    queue.waiting.push(delivery)
    offer(dispatcher, queue)
  }
}

/** Extends the leases of what is in flight. What only waits is sent or released before its lease ends. */
async function renew(ctx: Ctx, dispatcher: Dispatcher): Promise<void> {
  const now = ctx.clock.now().getTime()
  if (Math.abs(now - dispatcher.renewedAt) < RENEWED_EVERY_MS) return
  dispatcher.renewedAt = now
  const deliveries = [...dispatcher.inFlight]
  if (deliveries.length === 0) return
  await deliveryQueries.renewDeliveries(
    ctx,
    distinct(deliveries.map(({ project_id }) => project_id)),
    deliveries.map(({ id }) => id),
    LEASE_SECONDS,
  )
}

/** Waits until there is something to do, or until it is time to look for due deliveries again. */
async function pause(ctx: Ctx, wake: Promise<void>): Promise<void> {
  const over = new AbortController()
  try {
    await Promise.race([wake, ctx.clock.sleep(POLL_MS, over.signal)])
  } finally {
    over.abort()
  }
}

/** Leases due deliveries, and reads their events and secrets. */
async function lease(ctx: Ctx, room: deliveryQueries.Room): Promise<Delivery[]> {
  if (room.total <= 0) return []
  const claimed = await deliveryQueries.claimDeliveries(quickly(ctx), room, LEASE_SECONDS)
  if (claimed.length === 0) return []
  const projectIds = distinct(claimed.map(({ project_id }) => project_id))
  const [events, secrets] = await Promise.all([
    findWebhookEvents(ctx, projectIds, distinct(claimed.map(({ event_id }) => event_id))),
    endpointQueries.liveSecrets(ctx, projectIds, distinct(claimed.map(({ endpoint_id }) => endpoint_id))),
  ])
  const eventById = new Map(events.map((event) => [event.id, event]))
  const signers = new Map([...Map.groupBy(secrets, ({ endpoint_id }) => endpoint_id)].map(([id, rows]) => [id, openSigner(ctx, id, rows)]))
  const requestIdOf = await findRequests(ctx, projectIds, events)
  const leasedAt = ctx.clock.now().getTime()
  const bodies = new Map<string, string>()
  const bodyOf = (event: StoredWebhookEvent, apiVersion: string): string => {
    const key = `${event.id} ${apiVersion}`
    const body = bodies.get(key) ?? payload(event, apiVersion)
    bodies.set(key, body)
    return body
  }
  return claimed.flatMap((delivery) => {
    const event = eventById.get(delivery.event_id)
    const sign = signers.get(delivery.endpoint_id) ?? null
    return event ? [{ ...delivery, body: bodyOf(event, delivery.api_version), sign, leasedAt, requestId: requestIdOf(event) }] : []
  })
}

async function release(ctx: Ctx, deliveries: Delivery[]): Promise<void> {
  if (deliveries.length === 0) return
  await deliveryQueries.releaseDeliveries(
    ctx,
    distinct(deliveries.map(({ project_id }) => project_id)),
    deliveries.map(({ id }) => id),
  )
}

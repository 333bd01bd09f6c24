import { mapPage, type PageRequest } from '../../infra/http/paging.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { lockRoom } from '../../infra/runtime/room.ts'
import { ApiError, fault, missing } from '../../lib/errors.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { webhookUrlProblem } from '../../lib/urls.ts'
import { LATEST_VERSION } from '../../lib/versions.ts'
import { storeTest, subscribe, unsubscribe } from '../webhook-events/index.ts'
import * as deliveryQueries from './deliveries.queries.ts'
import * as endpointQueries from './endpoints.queries.ts'
import { DELIVER } from './job-names.ts'
import { cancelReplays } from './replays.queries.ts'
import {
  type DeliveryId,
  type DeliveryRow,
  type Endpoint,
  type EndpointChanges,
  type EndpointInput,
  type EndpointRow,
  type EndpointWithSecret,
  GRACE_PERIOD_S_DEFAULT,
  type Queued,
  type Rotation,
  type TestRequest,
} from './schema.ts'

const ENDPOINTS_MAX = 500
const OLD_SECRETS_MAX = 5
const SECRET_BYTES = 32
/** Events and deliveries are deleted when they are older. */
export const KEPT_DAYS = 30

/** Creates an active endpoint. Throws if its URL is not allowed, or the project has too many endpoints. */
export async function createEndpoint(ctx: ProjectCtx, input: EndpointInput): Promise<EndpointWithSecret> {
  refuseUrl(ctx, input.url)
  const { name, url, description = '', signing_secret = newSecret(ctx) } = input
  const eventTypes = distinct(input.event_types)
  return inTx(ctx, async (ctx) => {
    await requireEndpointRoom(ctx)
    const row = await endpointQueries.insertEndpoint(ctx, {
      name,
      url,
      eventTypes,
      description: description || null,
      apiVersion: LATEST_VERSION,
    })
    await saveSecret(ctx, row.id, signing_secret, ctx.clock.now())
    await subscribe(ctx, row.id, eventTypes)
    return { ...present(row), signing_secret }
  })
}

async function requireEndpointRoom(ctx: InTx): Promise<void> {
  await lockRoom(ctx, 'webhook endpoints', ctx.projectId)
  if ((await endpointQueries.countEndpoints(ctx)) < ENDPOINTS_MAX) return
  throw new ApiError('quota_exceeded', `A project may have at most ${ENDPOINTS_MAX} webhook endpoints. Delete one first.`)
}

export const listEndpoints = async (ctx: ProjectCtx, page: PageRequest) => mapPage(await endpointQueries.listEndpoints(ctx, page), present)

export async function getEndpoint(ctx: ProjectCtx, id: EndpointId): Promise<Endpoint> {
  return present(found(await endpointQueries.findEndpoint(ctx, id)))
}

/** Updates an endpoint. Pausing cancels its deliveries; resuming resets its failure counters. */
export async function updateEndpoint(ctx: ProjectCtx, id: EndpointId, changes: EndpointChanges): Promise<Endpoint> {
  if (changes.url !== undefined) refuseUrl(ctx, changes.url)
  return inTx(ctx, async (ctx) => {
    const row = found(
      await endpointQueries.updateEndpoint(ctx, id, {
        ...changes,
        ...(changes.event_types && { event_types: distinct(changes.event_types) }),
        ...(changes.description !== undefined && { description: changes.description || null }),
      }),
    )
    if (row.status === 'active') await subscribe(ctx, id, row.event_types)
    else await stopDeliveries(ctx, ctx.projectId, id)
    return present(row)
  })
}

/** Deletes an endpoint and its secrets. Its deliveries are kept for the usual time. */
export async function deleteEndpoint(ctx: ProjectCtx, id: EndpointId): Promise<void> {
  await inTx(ctx, async (ctx) => {
    found(await endpointQueries.archiveEndpoint(ctx, id))
    await stopDeliveries(ctx, ctx.projectId, id)
    await endpointQueries.deleteSecrets(ctx, id)
  })
}

/** Deletes all endpoints of a project that is deleted. Nothing more is sent to them. */
export async function deleteEveryEndpoint(ctx: InTx): Promise<void> {
  for (const { id } of await endpointQueries.archiveEndpoints(ctx)) {
    await stopDeliveries(ctx, ctx.projectId, id)
    await endpointQueries.deleteSecrets(ctx, id)
  }
}

/**
 * Cancels the replays of an endpoint and what is pending for it. In this order: cancelling a replay waits for what another process is
 * queueing for it, which is then cancelled too.
 */
export async function stopDeliveries(ctx: InTx<Ctx>, projectId: ProjectId, id: EndpointId): Promise<void> {
  await unsubscribe(ctx, projectId, id)
  await cancelReplays(ctx, projectId, id)
  await deliveryQueries.cancelDeliveries(ctx, projectId, id)
}

/** Replaces the secret of an endpoint. The old one stays valid for a grace period, so that the receiver can be updated. */
export async function rotateSecret(ctx: ProjectCtx, id: EndpointId, rotation: Rotation): Promise<EndpointWithSecret> {
  const { signing_secret = newSecret(ctx), grace_period_seconds: grace = GRACE_PERIOD_S_DEFAULT } = rotation
  return inTx(ctx, async (ctx) => {
    const row = found(await endpointQueries.touchEndpoint(ctx, id))
    if (grace > 0 && (await endpointQueries.countOldSecrets(ctx, id)) >= OLD_SECRETS_MAX) {
      throw fault(
        'validation_failed',
        'grace_period_seconds',
        `At most ${OLD_SECRETS_MAX} old secrets can be in their grace period. Wait until one expires, or set \`grace_period_seconds\` to 0.`,
      )
    }
    await saveSecret(ctx, id, signing_secret, new Date(ctx.clock.now().getTime() + grace * 1000))
    return { ...present(row), signing_secret }
  })
}

/** Creates a test event and its delivery to this endpoint. */
export function testEndpoint(ctx: ProjectCtx, id: EndpointId, { event_type }: TestRequest): Promise<Queued> {
  return inTx(ctx, async (ctx) => {
    const row = await lockActive(ctx, id)
    const type = event_type ?? row.event_types[0]
    if (type === undefined) throw new Error('An endpoint without event types was stored.')
    const eventId = await storeTest(ctx, type)
    const [delivery] = await deliveryQueries.insertDeliveries(ctx, {
      projectIds: [ctx.projectId],
      endpointIds: [id],
      eventIds: [eventId],
      eventTypes: [type],
      createdAt: [ctx.clock.now()],
    })
    if (!delivery) throw new Error('The delivery was not inserted.')
    ctx.wake(DELIVER)
    return { delivery_id: delivery.id }
  })
}

export async function listDeliveries(ctx: ProjectCtx, id: EndpointId, page: PageRequest) {
  found(await endpointQueries.findEndpoint(ctx, id))
  return deliveryQueries.listDeliveries(ctx, id, page)
}

export function resendDelivery(ctx: ProjectCtx, id: EndpointId, deliveryId: DeliveryId): Promise<DeliveryRow> {
  return inTx(ctx, async (ctx) => {
    await lockActive(ctx, id)
    const delivery = await deliveryQueries.resendDelivery(ctx, id, deliveryId)
    if (!delivery) throw missing('delivery')
    ctx.wake(DELIVER)
    return delivery
  })
}

/** Locks an endpoint against being paused, suspended or deleted. Throws 404, and 422 if it is not active. */
export async function lockActive(ctx: InTx, id: EndpointId): Promise<EndpointRow> {
  const row = found(await endpointQueries.lockEndpoint(ctx, id))
  if (row.status !== 'active') {
    throw new ApiError('validation_failed', 'The webhook endpoint is not active. Set its `status` to `active` first.')
  }
  return row
}

const newSecret = (ctx: ProjectCtx) => `whsec_${ctx.secrets.random(SECRET_BYTES).toString('base64')}`

const saveSecret = (ctx: InTx, id: EndpointId, secret: string, oldExpireAt: Date) =>
  endpointQueries.replaceSecret(ctx, id, ctx.secrets.seal(secret, sealContext(id)), oldExpireAt)

/** The context with which the secret of an endpoint is encrypted. */
export const sealContext = (id: EndpointId) => `webhook_endpoint:${id}`

function refuseUrl(ctx: ProjectCtx, url: string): void {
  const problem = webhookUrlProblem(url, ctx.fetch.policy)
  if (problem) throw fault('parameter_invalid_format', 'url', `The value of \`url\` ${problem}.`)
}

function found(row: EndpointRow | undefined): EndpointRow {
  if (!row) throw missing('webhook endpoint')
  return row
}

const present = ({ description, disabled_reason, ...row }: EndpointRow): Endpoint => ({
  ...row,
  has_secret: true,
  ...(description !== null && { description }),
  ...(disabled_reason !== null && { disabled_reason }),
})

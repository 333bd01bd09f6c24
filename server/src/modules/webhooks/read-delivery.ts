import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import type { EndpointId } from '../../lib/ids.ts'
import { findWebhookEvents } from '../webhook-events/index.ts'
import * as deliveryQueries from './deliveries.queries.ts'
import * as endpointQueries from './endpoints.queries.ts'
import { payload } from './payload.ts'
import type { DeliveryId, DeliveryWhole } from './schema.ts'
import { openSigner } from './signers.ts'

const ATTEMPTS_MAX = 50

/** A delivery with its request and what happened to each attempt. */
export async function readDelivery(ctx: ProjectCtx, endpointId: EndpointId, id: DeliveryId): Promise<DeliveryWhole> {
  const row = await deliveryQueries.findDelivery(ctx, endpointId, id)
  if (!row) throw missing('delivery')
  const { api_version, ...delivery } = row
  const projects = [ctx.projectId]
  const [attempts, [event], secrets] = await Promise.all([
    deliveryQueries.newestAttempts(ctx, id, ATTEMPTS_MAX),
    findWebhookEvents(ctx, projects, [delivery.event_id]),
    endpointQueries.liveSecrets(ctx, projects, [endpointId]),
  ])
  const body = event ? payload(event, api_version) : null
  const sign = openSigner(ctx, endpointId, secrets)
  const headersAt = (at: Date) => (sign && body !== null ? sign(delivery.event_id, body, at) : { 'webhook-id': delivery.event_id })
  return {
    ...delivery,
    body,
    attempt_log: attempts.map((attempt) => ({
      ...attempt,
      headers: { 'content-type': 'application/json', ...headersAt(attempt.attempted_at) },
    })),
  }
}

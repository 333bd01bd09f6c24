/** The traces of deliveries: a webhook about a message belongs to the trace of the request that the message came from. */
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import { requestsOf } from '../../infra/queue/traced-messages.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { MessageId, ProjectId } from '../../lib/ids.ts'
import type { StoredWebhookEvent } from '../webhook-events/index.ts'
import type { ClaimedDelivery } from './deliveries.queries.ts'

/** The requests that the messages of events came from. Null for all of them unless traces are exported. */
export async function findRequests(
  ctx: Ctx,
  projectIds: ProjectId[],
  events: StoredWebhookEvent[],
): Promise<(event: StoredWebhookEvent) => string | null> {
  if (!ctx.tracing) return () => null
  const messageIds = new Map(
    events.map(({ id, data }): [string, MessageId | undefined] => [id, (JSON.parse(data) as { message_id?: MessageId }).message_id]),
  )
  const requests = await requestsOf(
    ctx,
    projectIds,
    [...messageIds.values()].filter((id) => id !== undefined),
  )
  return ({ id }) => requests.get(messageIds.get(id) as MessageId) ?? null
}

/** Begins the span of an attempt, whose `traceparent` goes with it. Undefined unless traces are exported. */
export function beginSpan(ctx: Ctx, { event_id, endpoint_id, requestId }: ClaimedDelivery & { requestId: string | null }, startedAt: Date) {
  const span = ctx.tracing?.begin({
    name: 'deliver webhook',
    kind: 'client',
    requestId,
    startedAt,
    attributes: { 'carillon.event_id': event_id, 'carillon.endpoint_id': endpoint_id },
  })
  if (!span) return undefined
  return {
    traceparent: span.traceparent,
    end(response: SafeResponse): void {
      if (response.is === 'failed') span.end({ elapsedMs: response.elapsedMs, failed: true })
      else {
        const { elapsedMs, status } = response
        span.end({ elapsedMs, failed: status >= 300, attributes: { 'http.response.status_code': status } })
      }
    },
  }
}

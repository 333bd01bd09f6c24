import { requestsOf } from '../../../infra/queue/traced-messages.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Tracing } from '../../../infra/runtime/tracing.ts'
import type { Attempted } from './record-results.ts'

/** Records a span for each attempt of a slice, in the trace of the request that its message came from. */
export async function traceAttempts(ctx: ProjectCtx, tracing: Tracing, sent: Attempted[]): Promise<void> {
  const requests = await requestsOf(
    ctx,
    [ctx.projectId],
    sent.map(({ message }) => message.id),
  )
  for (const { message, attempt } of sent) {
    if (!attempt) continue
    const { outcome, connection, startedAt, elapsedMs } = attempt
    const attributes = { 'carillon.message_id': message.id, 'carillon.provider': connection.provider, 'carillon.outcome': outcome.is }
    const details = {
      name: `send ${message.channel}`,
      kind: 'client',
      requestId: requests.get(message.id) ?? null,
      startedAt,
      attributes,
    } as const
    tracing.record(details, { elapsedMs, failed: outcome.is !== 'accepted' })
  }
}

/** Appends items of journeys to the ingest queue, which one writer applies in order. */
import { appendAll } from '../../infra/queue/append.ts'
import { APPLY } from '../../infra/queue/queue.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { JourneyItem } from './queue-items.ts'

/** Appends items of journeys to the ingest queue. They take effect after everything that was accepted before them. */
export async function appendJourneyItems(ctx: InTx, items: JourneyItem[]): Promise<void> {
  if (items.length === 0) return
  await appendAll(ctx.db, [
    {
      projectId: ctx.projectId,
      kind: 'journeys',
      userId: null,
      requestId: '',
      receivedAt: ctx.clock.now(),
      items: items.length,
      body: Buffer.from(JSON.stringify(items)),
    },
  ])
  ctx.wake(APPLY)
}

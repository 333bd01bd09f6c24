/** Memberships that changed because time passed. What they do to users of journeys is an item of the queue, as of everything else. */
import { appendAll } from '../../../infra/queue/append.ts'
import { APPLY } from '../../../infra/queue/queue.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { MembershipChange } from '../../lists/index.ts'
import { publishedGraphs } from './graphs.ts'
import type { ListChange } from './occasions.ts'

/** Appends membership changes to the ingest queue, for the lists that journeys depend on. */
export async function appendListChanges(ctx: InTx, changes: MembershipChange[]): Promise<void> {
  const published = changes.length === 0 ? null : await publishedGraphs(ctx)
  const moves = changes
    .filter(({ listId, inherited }) => !inherited && published?.watches.has(`list:${listId}`))
    .map(({ userId, listId, entered }): ListChange => ({ do: 'membership', user_id: userId, list_id: listId, entered }))
  if (moves.length === 0) return
  const { projectId } = ctx
  const entry = { projectId, kind: 'journeys', userId: null, requestId: '', receivedAt: ctx.clock.now(), items: moves.length }
  await appendAll(ctx.db, [{ ...entry, body: Buffer.from(JSON.stringify(moves)) }])
  ctx.wake(APPLY)
}

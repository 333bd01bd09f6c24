/** How long requests for confirmations are kept: longer than their links are valid, so that these say for a while what happened to them. */
import { removedFrom, type Store, store } from '../../../infra/queue/retention.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import * as queries from './queries.ts'

const KEPT_DAYS = 90
const CONFIRMATIONS = 'confirmations'

/** Requests for confirmations. What users confirmed is in their consent entries. */
export const confirmationStore: Store = store({
  name: CONFIRMATIONS,
  column: 'requested_at',
  days: () => KEPT_DAYS,
  nextRows: queries.nextConfirmations,
  remove: async (ctx, requests) => {
    const removed = await queries.deleteConfirmations(
      ctx,
      requests.map(({ id }) => id),
    )
    return removed.map(({ id }) => id)
  },
})

/** Whether a confirmation request that does not exist may have been deleted because of its age. */
export const isOfDeletedTime = async (ctx: ProjectCtx, id: number): Promise<boolean> =>
  id <= ((await removedFrom(ctx, CONFIRMATIONS))?.to ?? 0)

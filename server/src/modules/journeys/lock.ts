/** Who may change a journey, and when. */
import { requirePublisher } from '../../infra/http/require-publisher.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import type { JourneyId } from '../../lib/ids.ts'
import * as queries from './queries.ts'
import type { JourneyRow } from './schema.ts'

/** Locks a journey until the transaction ends. Throws 404. */
export async function lockJourney(ctx: InTx, id: JourneyId): Promise<JourneyRow> {
  const row = await queries.lockJourney(ctx, id)
  if (!row) throw missing('journey')
  return row
}

/** Locks a journey that this caller may change until the transaction ends (D-ROLE-2). Throws 403, 404. */
export async function lockEditable(ctx: InTx, id: JourneyId): Promise<JourneyRow> {
  const row = await lockJourney(ctx, id)
  if (row.status !== 'draft') requirePublisher(ctx)
  return row
}

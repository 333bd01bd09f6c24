/** Memberships that change because time passes: a time window ends, or a date is reached. */
import { TIMERS } from '../../../infra/queue/partitions.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { evaluate } from './evaluate.ts'
import type { MembershipChange } from './membership-changes.ts'
import * as queries from './queries.ts'
import { registryOf } from './registry.ts'

const EVALUATED_AT_ONCE = 2000

/** Evaluates the memberships whose time to be checked has come. `evaluated` is how many there were. The caller has locked the lists. */
export async function evaluateDueMemberships(ctx: InTx): Promise<{ changes: MembershipChange[]; evaluated: number }> {
  const due = await queries.findDue(ctx, EVALUATED_AT_ONCE)
  if (due.length === 0) return { changes: [], evaluated: 0 }
  const { byId } = await registryOf(ctx)
  const orphans = due.filter(({ version_id }) => !byId.has(version_id))
  if (orphans.length > 0) await queries.clearDue(ctx, orphans)
  return { changes: await evaluate(ctx, { due }, TIMERS), evaluated: due.length }
}

/** Nobody did anything, and yet: a window has closed, a date has come. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { evaluateMemberships, type MembershipChange } from './evaluate.ts'
import * as queries from './queries.ts'
import type { Registry } from './registry.ts'

const LAPSED_AT_ONCE = 2000

/** Looks again at those whose time has come. `looked` is how many there were. */
export async function evaluateDueMemberships(
  ctx: InTx,
  registry: Registry,
  partition: number,
): Promise<{ moves: MembershipChange[]; looked: number }> {
  const due = await queries.findDue(ctx, LAPSED_AT_ONCE)
  if (due.length === 0) return { moves: [], looked: 0 }
  const orphans = due.filter(({ version_id }) => !registry.byId.has(version_id))
  if (orphans.length > 0) await queries.forgetDue(ctx, orphans)
  return { moves: await evaluateMemberships(ctx, registry, partition, { due }), looked: due.length }
}

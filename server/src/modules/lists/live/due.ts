/** Nobody did anything, and yet: a window has closed, a date has come. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { type Move, reevaluate } from './evaluate.ts'
import * as queries from './queries.ts'
import type { Registry } from './registry.ts'

const LAPSED_AT_ONCE = 2000

/** Looks again at those whose time has come. `looked` is how many there were. */
export async function lapse(ctx: InTx, registry: Registry, lane: number): Promise<{ moves: Move[]; looked: number }> {
  const due = await queries.findDue(ctx, LAPSED_AT_ONCE)
  if (due.length === 0) return { moves: [], looked: 0 }
  const orphans = due.filter(({ version_id }) => !registry.byId.has(version_id))
  if (orphans.length > 0) await queries.forgetDue(ctx, orphans)
  return { moves: await reevaluate(ctx, registry, lane, { due }), looked: due.length }
}

/** Limits on how many things of a kind a project, an organisation or a member may have. */
import { sql } from '../postgres/db.ts'
import type { Ctx, InTx } from './ctx.ts'

/**
 * Lets transactions that add a thing of a kind take turns until they end. Count after it: otherwise several requests at the same time would all
 * find the last place free. `owner` is what the limit is for.
 */
export const lockRoom = (ctx: InTx<Ctx>, kind: string, owner: number): Promise<number> =>
  ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`room for ${kind}`}, ${owner}))`)

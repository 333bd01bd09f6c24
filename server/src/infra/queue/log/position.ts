/** How far a log was moved to the queue. The position is stored in the transaction that writes the entries, so that each is moved once. */
import { type Static, Type } from 'typebox'
import { Instant, Nullable } from '../../../lib/shapes.ts'
import { Conflict, sql } from '../../postgres/db.ts'
import type { Ctx, InTx } from '../../runtime/ctx.ts'

const Position = Type.Object({ position: Type.Integer(), stored_at: Nullable(Instant), complete_to: Instant })
/** How far a log was moved, when the entry there was stored in it, and before which instant everything that was accepted was moved. */
export type Position = Static<typeof Position>

/** Null if a process of an earlier release has moved the log since. */
const storedAt = sql`case when stored_at_position = position then stored_at end as stored_at`

/**
 * When a process that moves a log stops, another one takes over after this time. It is longer than moving takes; a lease that ends too early costs
 * what was read twice.
 */
const LEASE_S = 0.7

/** Takes or renews the lease on a log. Undefined while another process has it. */
export const takeLease = (ctx: Ctx, log: string, mover: string): Promise<Position | undefined> =>
  ctx.db.first(
    Position,
    sql`insert into log_positions as p (log, mover, leased_until, complete_to)
        values (${log}, ${mover}, now() + make_interval(secs => ${LEASE_S}), ${new Date(0)})
        on conflict (log) do update set mover = excluded.mover, leased_until = excluded.leased_until
        where p.mover = excluded.mover or p.leased_until < now()
        returning position, ${storedAt}, complete_to`,
  )

/** Stores how far a log was moved. Throws a conflict if another process has moved it meanwhile: what was written is undone. */
export async function storePosition(
  ctx: InTx<Ctx>,
  log: string,
  from: Pick<Position, 'position' | 'stored_at'>,
  moved: { to: number; storedAt: Date | null; completeTo: Date },
): Promise<void> {
  // A log that has lost its end is at the same position again.
  const stored = await ctx.db.run(
    sql`update log_positions set position = ${moved.to}, stored_at = ${moved.storedAt}, stored_at_position = ${moved.to},
                                 complete_to = greatest(complete_to, ${moved.completeTo})
        where log = ${log} and position = ${from.position}
          and case when stored_at_position = position then stored_at end is not distinct from ${from.stored_at}::timestamptz`,
  )
  if (stored === 0) throw new Conflict('Another process has moved the accepted requests.')
}

/** Stores that everything which was accepted before an instant is in the queue. */
export const storeComplete = (ctx: Ctx, log: string, position: number, completeTo: Date) =>
  ctx.db.run(
    sql`update log_positions set complete_to = ${completeTo} where log = ${log} and position = ${position} and complete_to < ${completeTo}`,
  )

/** How far a log was moved, by any process. */
export const findPosition = async (ctx: Ctx, log: string): Promise<Position> =>
  (await ctx.db.first(Position, sql`select position, ${storedAt}, complete_to from log_positions where log = ${log}`)) ?? {
    position: 0,
    stored_at: null,
    complete_to: new Date(0),
  }

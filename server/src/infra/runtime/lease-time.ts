/**
 * The time of leases. Processes compare it with each other, and their clocks may differ, so it is that of the database. A release of before
 * this rule has leases by the clock of each process, and while it runs, each keeps the leases of the other: one lasts until it has ended by both
 * clocks. The second half, `greatest` and `least`, can go once no such release runs beside this one. All of these are expressions.
 */
import { type Sql, sql } from '../postgres/db.ts'
import type { Ctx } from './ctx.ts'

type Timed = Pick<Ctx, 'clock'>

/** The end of a lease that lasts until the clock of this process shows `at`. */
export const leaseEnd = ({ clock }: Timed, at: Date): Sql =>
  clock.isShared
    ? sql`${at}::timestamptz`
    : sql`greatest(now() + make_interval(secs => ${(at.getTime() - clock.now().getTime()) / 1000}), ${at}::timestamptz)`

/** The present time of leases: those that end by then have ended. */
export const leaseNow = ({ clock }: Timed): Sql =>
  clock.isShared ? sql`${clock.now()}::timestamptz` : sql`least(now(), ${clock.now()}::timestamptz)`

/** What the clock of this process shows when a lease that ends at `end` has ended. */
export const ownTimeOf = (ctx: Timed, end: Sql): Sql =>
  ctx.clock.isShared ? end : sql`${ctx.clock.now()}::timestamptz + (${end} - ${leaseNow(ctx)})`

/**
 * Times that processes share. Of leases: processes compare it with each other, and their clocks may differ, so it is that of the database. A release of before
 * this rule has leases by the clock of each process, and while it runs, each keeps the leases of the other: one lasts until it has ended by both
 * clocks. The second half, `greatest` and `least`, can go once no such release runs beside this one. All of these are expressions.
 */
import { MINUTE_MS, SECOND_MS } from '../../lib/times.ts'
import { type Sql, sql } from '../postgres/db.ts'
import type { Ctx } from './ctx.ts'

type Timed = Pick<Ctx, 'clock'>

/** How much longer a lease may last because a clock is ahead. One that is ahead by hours must not hold for hours what its process left behind. */
const LONGER_MAX_MS = 15 * MINUTE_MS

/** The end of a lease that lasts until the clock of this process shows `at`. */
export function leaseEnd({ clock }: Timed, at: Date): Sql {
  if (clock.isShared) return sql`${at}::timestamptz`
  const seconds = secondsUntil({ clock }, at)
  const longest = sql`now() + make_interval(secs => ${seconds + LONGER_MAX_MS / SECOND_MS})`
  return sql`least(greatest(now() + make_interval(secs => ${seconds}), ${at}::timestamptz), ${longest})`
}

/** The present time of leases: those that end by then have ended. */
export const leaseNow = ({ clock }: Timed): Sql =>
  clock.isShared ? sql`${clock.now()}::timestamptz` : sql`least(now(), ${clock.now()}::timestamptz)`

/** What the clock of this process shows when a lease that ends at `end` has ended. */
export const ownTimeOf = (ctx: Timed, end: Sql): Sql => shownAt(ctx, end, leaseNow(ctx))

/** The present time of the database, for times that processes share and that are no leases. */
export const databaseNow = ({ clock }: Timed): Sql => (clock.isShared ? sql`${clock.now()}::timestamptz` : sql`now()`)

/** The time of the database when the clock of this process shows `at`. */
export const databaseTime = (ctx: Timed, at: Date): Sql => sql`${databaseNow(ctx)} + make_interval(secs => ${secondsUntil(ctx, at)})`

/** What the clock of this process shows at a time of the database. */
export const ownTimeAt = (ctx: Timed, at: Sql): Sql => shownAt(ctx, at, databaseNow(ctx))

export const secondsUntil = ({ clock }: Timed, at: Date): number => (at.getTime() - clock.now().getTime()) / SECOND_MS

const shownAt = ({ clock }: Timed, at: Sql, now: Sql): Sql => (clock.isShared ? at : sql`${clock.now()}::timestamptz + (${at} - ${now})`)

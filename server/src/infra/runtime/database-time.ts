/**
 * What processes compare with each other, such as the ends of leases, is by the clock of the database, because their own clocks may differ. All
 * of these are expressions.
 */
import { type Sql, sql } from '../postgres/db.ts'
import type { Ctx } from './ctx.ts'

type Timed = Pick<Ctx, 'clock'>

/** The present time of the database. */
export const databaseNow = ({ clock }: Timed): Sql => (clock.isShared ? sql`${clock.now()}::timestamptz` : sql`now()`)

/** What the clock of the database shows when that of this process shows `at`. */
export const toDatabaseTime = ({ clock }: Timed, at: Date): Sql =>
  clock.isShared ? sql`${at}::timestamptz` : sql`now() + make_interval(secs => ${(at.getTime() - clock.now().getTime()) / 1000})`

/** What the clock of this process shows when that of the database shows `at`. */
export const toOwnTime = ({ clock }: Timed, at: Sql): Sql => (clock.isShared ? at : sql`${clock.now()}::timestamptz + (${at} - now())`)

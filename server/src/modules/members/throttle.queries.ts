import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { Instant, Nullable } from '../../lib/shapes.ts'

export type Waits = {
  /** So many failures have no wait. */
  free: number
  /** The seconds to wait after each failure beyond these; the last of them after all further ones. */
  seconds: number[]
}

/**
 * Counts a failure of an address that is not blocked, and blocks the address if it has to wait now: in one statement, so that attempts at the same time come
 * one after the other. 0 while the address is blocked.
 */
export const countFailure = (ctx: Ctx, emailHash: string, since: Date, { free, seconds }: Waits): Promise<number> =>
  ctx.db.run(
    sql`insert into sign_in_failures as f (email_hash, failures, failed_at) values (${emailHash}, 1, ${ctx.clock.now()})
        on conflict (email_hash) do update
        set failures = case when f.failed_at <= ${since} then 1 else f.failures + 1 end,
            failed_at = excluded.failed_at,
            blocked_until = case when f.failed_at > ${since} and f.failures >= ${free}
              then excluded.failed_at + make_interval(secs => (${seconds}::integer[])[least(f.failures + 1 - ${free}, ${seconds.length})]) end
        where f.blocked_until is null or f.blocked_until <= ${ctx.clock.now()}`,
  )

const Blocked = Type.Object({ blocked_until: Nullable(Instant) })

export const blockedUntil = async (ctx: Ctx, emailHash: string): Promise<Date | null> =>
  (await ctx.db.first(Blocked, sql`select blocked_until from sign_in_failures where email_hash = ${emailHash}`))?.blocked_until ?? null

export const clearFailures = (ctx: Ctx, emailHash: string) => ctx.db.run(sql`delete from sign_in_failures where email_hash = ${emailHash}`)

const PURGE_BATCH = 10_000

/** Deletes failures before a time. Returns how many. */
export const purgeFailures = (ctx: Ctx, before: Date): Promise<number> =>
  ctx.db.run(
    sql`delete from sign_in_failures
        where email_hash in (select email_hash from sign_in_failures where failed_at <= ${before} limit ${PURGE_BATCH})`,
  )

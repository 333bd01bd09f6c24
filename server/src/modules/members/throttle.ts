/**
 * Guessing is slow (D-CON-7): after ten failures an address waits before the next attempt, longer each time. Addresses that no member has
 * wait in the same way, so that the wait says nothing about them.
 */
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { sha256 } from '../../infra/runtime/secrets.ts'
import { ApiError } from '../../lib/errors.ts'
import { HOUR_MS, SECOND_MS } from '../../lib/times.ts'
import * as queries from './throttle.queries.ts'

/** The tenth failure in a row has the first wait. */
const WAITS: queries.Waits = { free: 9, seconds: [30, 60, 120, 240, 480, 900] }
/** Failures are forgotten after this time without another one. */
const KEPT_MS = 24 * HOUR_MS

/**
 * Runs an attempt to sign in. It counts as a failure before it begins, so that attempts at the same time cannot be more than the limit; one
 * that succeeds clears the count. Throws 429 while the address waits.
 */
export async function throttled<T>(ctx: Ctx, email: string, attempt: () => Promise<T>): Promise<T> {
  const hash = sha256(email)
  const now = ctx.clock.now()
  const since = new Date(now.getTime() - KEPT_MS)
  if ((await queries.countFailure(ctx, hash, since, WAITS)) === 0) {
    const until = await queries.blockedUntil(ctx, hash)
    const seconds = Math.max(1, Math.ceil(((until ?? now).getTime() - now.getTime()) / SECOND_MS))
    throw new ApiError('rate_limited', `Too many failed attempts. Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
  const result = await attempt()
  await queries.clearFailures(ctx, hash)
  return result
}

/** Ends the block of an address, for a member who has proved in another way that it is theirs. */
export const clearFailuresOf = (ctx: Ctx, email: string): Promise<number> => queries.clearFailures(ctx, sha256(email))

/** Deletes failures that are too old to count. */
export const purgeFailures = (ctx: Ctx): Promise<number> => queries.purgeFailures(ctx, new Date(ctx.clock.now().getTime() - KEPT_MS))

/**
 * Guessing is slow (D-CON-7): after ten failures an address waits before the next attempt, longer each time. Addresses that no member has
 * wait in the same way, so that the wait says nothing about them.
 */
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { sha256 } from '../../infra/runtime/secrets.ts'
import { ApiError } from '../../lib/errors.ts'
import { HOUR_MS, SECOND_MS } from '../../lib/times.ts'
import * as queries from './throttle.queries.ts'

const FREE_FAILURES = 10
const WAIT_FIRST_MS = 30 * SECOND_MS
const WAIT_MAX_MS = 15 * 60 * SECOND_MS
/** Failures are forgotten after this time without another one. */
const KEPT_MS = 24 * HOUR_MS

/** How long to wait after this many failures. */
export const waitAfter = (failures: number): number =>
  failures < FREE_FAILURES ? 0 : Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** (failures - FREE_FAILURES))

/**
 * Runs an attempt to sign in. It counts as a failure before it begins, so that attempts at the same time cannot be more than the limit; one
 * that succeeds clears the count. Throws 429 while the address waits.
 */
export async function throttled<T>(ctx: Ctx, email: string, attempt: () => Promise<T>): Promise<T> {
  const hash = sha256(email)
  const now = ctx.clock.now()
  const since = new Date(now.getTime() - KEPT_MS)
  const failures = await queries.countFailure(ctx, hash, since)
  if (failures === undefined) {
    const until = await queries.blockedUntil(ctx, hash)
    const seconds = Math.max(1, Math.ceil(((until ?? now).getTime() - now.getTime()) / SECOND_MS))
    throw new ApiError('rate_limited', `Too many failed attempts. Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
  const waitMs = waitAfter(failures)
  if (waitMs > 0) await queries.block(ctx, hash, new Date(now.getTime() + waitMs))
  const result = await attempt()
  await queries.clearFailures(ctx, hash)
  return result
}

/** Ends the block of an address, for a member who has proved in another way that it is theirs. */
export const clearFailuresOf = (ctx: Ctx, email: string): Promise<number> => queries.clearFailures(ctx, sha256(email))

/** Deletes failures that are too old to count. */
export const purgeFailures = (ctx: Ctx): Promise<number> => queries.purgeFailures(ctx, new Date(ctx.clock.now().getTime() - KEPT_MS))

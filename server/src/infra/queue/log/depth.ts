import type { AcceptedLog } from '../../runtime/accepted-log.ts'
import type { Ctx } from '../../runtime/ctx.ts'
import { within } from '../../runtime/within.ts'
import { movedUpTo } from './moved-up-to.ts'
import { findPosition } from './position.ts'

/** How many accepted requests are waiting in a log, and since when the oldest has been. Undefined while the log is unavailable. */
export async function logDepth(ctx: Ctx, log: AcceptedLog): Promise<{ waiting: number; oldest: Date | null } | undefined> {
  const extent = await orUndefined(ctx, () => log.extent())
  if (!extent) return undefined
  ctx.metrics.acceptedLog(true, extent.bytes)
  // Reading the extent finds out if the log was created again, and has another id since.
  const position = await findPosition(ctx, log.id)
  const moved = await orUndefined(ctx, () => movedUpTo(log, position, extent))
  if (moved === undefined) return undefined
  const waiting = Math.max(0, extent.last - moved)
  if (waiting === 0) return { waiting, oldest: null }
  const oldest = await orUndefined(ctx, () => log.read(moved + 1))
  return oldest === undefined ? undefined : { waiting, oldest: oldest?.storedAt ?? null }
}

/** A log that is healthy answers in milliseconds, and its client waits for seconds. */
const ANSWERS_WITHIN_MS = 2000

/** The answer of the log. Undefined if it does not answer. */
async function orUndefined<T>(ctx: Ctx, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await within(ctx, ANSWERS_WITHIN_MS, ask)
  } catch (error) {
    ctx.metrics.acceptedLog(false, 0)
    ctx.log.warn({ err: error }, 'the log of accepted requests does not answer')
    return undefined
  }
}

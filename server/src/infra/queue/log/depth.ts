import type { AcceptedLog } from '../../runtime/accepted-log.ts'
import type { Ctx } from '../../runtime/ctx.ts'
import { findPosition } from './position.ts'

/** How many accepted requests are waiting in a log, and since when the oldest has been. Undefined while the log is unavailable. */
export async function logDepth(ctx: Ctx, log: AcceptedLog): Promise<{ waiting: number; oldest: Date | null } | undefined> {
  const { id } = log
  const { position } = await findPosition(ctx, id)
  try {
    const { first, last, bytes } = await log.extent()
    ctx.metrics.acceptedLog(true, bytes)
    // Of a log that was created again, the position is known the next time.
    const next = Math.max(log.id === id ? position + 1 : 1, first)
    const waiting = Math.max(0, last - next + 1)
    const oldest = waiting > 0 ? await log.read(next) : null
    return { waiting, oldest: oldest?.storedAt ?? null }
  } catch (error) {
    ctx.metrics.acceptedLog(false, 0)
    ctx.log.warn({ err: error }, 'the log of accepted requests does not answer')
    return undefined
  }
}

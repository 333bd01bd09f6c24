import type { AcceptedLog } from '../../runtime/accepted-log.ts'
import type { Ctx } from '../../runtime/ctx.ts'
import { findPosition } from './position.ts'

/** How many accepted requests are waiting in a log, and since when the oldest has been. Undefined while the log is unavailable. */
export async function logDepth(ctx: Ctx, log: AcceptedLog): Promise<{ waiting: number; oldest: Date | null } | undefined> {
  const { position } = await findPosition(ctx, log.id)
  try {
    const { first, last, bytes } = await log.extent()
    ctx.metrics.acceptedLog(true, bytes)
    const next = Math.max(position + 1, first)
    const waiting = Math.max(0, last - next + 1)
    const oldest = waiting > 0 ? await log.read(next) : null
    return { waiting, oldest: oldest?.storedAt ?? null }
  } catch (error) {
    ctx.metrics.acceptedLog(false, 0)
    ctx.log.warn({ err: error }, 'the log of accepted requests does not answer')
    return undefined
  }
}

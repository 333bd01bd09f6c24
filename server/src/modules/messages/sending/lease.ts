/** Keeps the leases of claimed messages while they are sent. */
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { ClaimedMessage } from '../schema.ts'
import { renewLeases } from './queries.ts'

export type Lease = {
  /**
   * The messages that this process still holds the lease of. Checked right before an attempt, because a process that was suspended for a
   * while may have lost them to another one.
   */
  stillLeased(messages: readonly ClaimedMessage[]): Promise<Set<MessageId>>
}

export const leaseMs = ({ config }: Pick<Ctx, 'config'>): number => config.MESSAGE_LEASE_S * 1000

/** Leases are renewed after a third of their time, and checked in the database after two thirds. */
const RENEWED_AT = 1 / 3
const CHECKED_AT = 2 / 3

/** Does the work under the lease that the messages were claimed with at `claimedAt`, and keeps renewing it. */
export async function withLease(
  ctx: ProjectCtx,
  messages: readonly ClaimedMessage[],
  claimedAt: Date,
  work: (lease: Lease) => Promise<void>,
): Promise<void> {
  const done = new AbortController()
  const length = leaseMs(ctx)
  let renewedAt = claimedAt
  const renew = async (some: readonly ClaimedMessage[]) => {
    const now = ctx.clock.now()
    const renewed = await renewLeases(ctx, some, new Date(now.getTime() + length))
    return { now, ids: new Set(renewed.map(({ id }) => id)) }
  }
  const renewing = keepRenewing()
  try {
    await work({
      async stillLeased(some) {
        if (ctx.clock.now().getTime() - renewedAt.getTime() < length * CHECKED_AT) return new Set(some.map(({ id }) => id))
        return (await renew(some)).ids
      },
    })
  } finally {
    // With a reason, because without one an error is made with its stack.
    done.abort('done')
    await renewing
  }

  async function keepRenewing(): Promise<void> {
    while (!done.signal.aborted) {
      await ctx.clock.sleep(length * RENEWED_AT, done.signal)
      if (done.signal.aborted) return
      try {
        renewedAt = (await renew(messages)).now
      } catch (error) {
        ctx.log.warn({ err: error }, 'could not renew message leases')
      }
    }
  }
}

/** That claimed messages are ours, and stay so while we work on them. */
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { ClaimedMessage } from '../schema.ts'
import { renewLeases } from './queries.ts'

export type Lease = {
  /**
   * Which of these messages are still ours. Asked right before they leave: a process that was stopped for a while finds that
   * others have taken them.
   */
  stillOurs(messages: readonly ClaimedMessage[]): Promise<Set<MessageId>>
}

export const leaseMs = ({ config }: Pick<Ctx, 'config'>): number => config.MESSAGE_LEASE_S * 1000

/** Leases are renewed when a third of them is over, and doubted when two thirds are. */
const RENEWED_AT = 1 / 3
const DOUBTED_AT = 2 / 3

/** Does the work under the lease that the messages were claimed with at `claimedAt`, renewing it meanwhile. */
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
  const keeping = keep()
  try {
    await work({
      async stillOurs(some) {
        if (ctx.clock.now().getTime() - renewedAt.getTime() < length * DOUBTED_AT) return new Set(some.map(({ id }) => id))
        return (await renew(some)).ids
      },
    })
  } finally {
    done.abort()
    await keeping
  }

  async function keep(): Promise<void> {
    while (!done.signal.aborted) {
      await ctx.clock.sleep(length * RENEWED_AT, done.signal)
      if (done.signal.aborted) return
      try {
        renewedAt = (await renew(messages)).now
      } catch (error) {
        ctx.log.warn({ err: error }, 'leases of messages could not be renewed')
      }
    }
  }
}

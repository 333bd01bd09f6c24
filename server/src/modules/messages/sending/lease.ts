/** Keeps the leases of claimed work while it is done. */
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { ClaimedMessage } from '../schema.ts'
import { renewLeases } from './queries.ts'

export type Lease<T = ClaimedMessage, K = MessageId> = {
  /**
   * Those that this process still holds the lease of, by their keys. Checked right before an attempt, because a process that was suspended for
   * a while may have lost them to another one.
   */
  stillLeased(items: readonly T[]): Promise<Set<K>>
  /** Whether the leases last for a while, by the clock and by what the last renewal found. It asks no database. */
  lasts(items: readonly T[]): boolean
}

/** What is leased. `renew` extends the leases and returns the keys of those that are still held. */
export type Leased<T, K> = { items: readonly T[]; keyOf(item: T): K; renew(items: readonly T[], until: Date): Promise<K[]> }

export const leaseMs = ({ config }: Pick<Ctx, 'config'>): number => config.MESSAGE_LEASE_S * 1000

/** Leases are renewed after a third of their time, and checked in the database after two thirds. */
const RENEWED_AT = 1 / 3
const CHECKED_AT = 2 / 3
/** What leaves after this much of a lease may meet its end on the way: a renewal is late, or the process was suspended. */
const USED_UNTIL = 5 / 6

/** Does the work under the lease that the messages were claimed with at `claimedAt`, and keeps renewing it. */
export const withLease = (
  ctx: ProjectCtx,
  messages: readonly ClaimedMessage[],
  claimedAt: Date,
  work: (lease: Lease) => Promise<void>,
): Promise<void> =>
  keepLease(
    ctx,
    {
      items: messages,
      keyOf: ({ id }) => id,
      renew: async (some, until) => (await renewLeases(ctx, some, until)).map(({ id }) => id),
    },
    claimedAt,
    work,
  )

/** Does the work under the lease of claimed items, and keeps renewing it. */
export async function keepLease<T, K>(
  ctx: ProjectCtx,
  { items, keyOf, renew }: Leased<T, K>,
  claimedAt: Date,
  work: (lease: Lease<T, K>) => Promise<void>,
): Promise<void> {
  const done = new AbortController()
  const length = leaseMs(ctx)
  let renewedAt = claimedAt
  // What a renewal did not find has ended, or another process has it.
  const lost = new Set<K>()
  const stillHeld = (some: readonly T[]) => some.filter((item) => !lost.has(keyOf(item)))
  const ageMs = () => ctx.clock.now().getTime() - renewedAt.getTime()
  const renewHeld = async () => {
    const [some, now] = [stillHeld(items), ctx.clock.now()]
    const keys = new Set(await renew(some, new Date(now.getTime() + length)))
    for (const key of some.map(keyOf)) if (!keys.has(key)) lost.add(key)
    renewedAt = now
  }
  // Those that ask meanwhile wait for the same renewal.
  let renewal: Promise<void> | null = null
  const renewAll = (): Promise<void> => {
    renewal ??= renewHeld().finally(() => {
      renewal = null
    })
    return renewal
  }
  const renewing = keepRenewing()
  try {
    await work({
      async stillLeased(some) {
        if (ageMs() >= length * CHECKED_AT) await renewAll()
        return new Set(stillHeld(some).map(keyOf))
      },
      lasts: (some) => ageMs() < length * USED_UNTIL && !some.some((item) => lost.has(keyOf(item))),
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
        await renewAll()
      } catch (error) {
        ctx.log.warn({ err: error }, 'could not renew leases')
      }
    }
  }
}

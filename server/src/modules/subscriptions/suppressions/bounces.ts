/** Suppresses addresses that bounced: at once, or after several bounces, as their classification says. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { simulatedBy } from '../../../lib/simulator.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { normalised } from './addresses.ts'
import * as queries from './bounces.queries.ts'
import { hashOfAddress, suppress } from './service.ts'

/** When bounces of a classification suppress an address. */
export type SuppressesWhen =
  | { is: 'at once' }
  | { is: 'after'; bounces: number; withinMs: number; onDifferentDays: boolean }
  | { is: 'never' }

/** An email address that bounced. `source` is what caused it, such as a message. */
export type BouncedAddress = { address: string; label: string; suppresses: SuppressesWhen; source: Record<string, unknown> }

const KEPT_MS = 60 * DAY_MS
/** More than one, so that the table shrinks. */
const PURGED_PER_BOUNCE = 10

/** Counts bounces, and suppresses the addresses that have had enough. Returns those, as they were given. */
export async function recordBounces(ctx: InTx, bounced: readonly BouncedAddress[]): Promise<Set<string>> {
  // The simulator bounces again the next time.
  const counted = bounced.flatMap((one) =>
    one.suppresses.is === 'after' && simulatedBy(one.address) === null ? [{ ...one, rule: one.suppresses }] : [],
  )
  const reached = counted.length > 0 ? await countAll(ctx, counted) : []
  const suppressed = [...bounced.filter(({ suppresses }) => suppresses.is === 'at once'), ...reached]
  await suppress(
    ctx,
    suppressed.map(({ address, source }) => ({ channel: 'email', address, reason: 'hard_bounce', source })),
  )
  return new Set(suppressed.map(({ address }) => address))
}

type Counted = BouncedAddress & { rule: Extract<SuppressesWhen, { is: 'after' }> }

async function countAll(ctx: InTx, counted: Counted[]): Promise<BouncedAddress[]> {
  const now = ctx.clock.now().getTime()
  const rows: queries.CountedBounce[] = []
  for (const { address, label, rule } of counted)
    rows.push({
      address_hash: await hashOfAddress(ctx, normalised('email', address, ctx.project)),
      label,
      since: new Date(now - rule.withinMs),
      is_by_day: rule.onDifferentDays,
    })
  await queries.insertBounces(ctx, rows)
  const counts = await queries.countBounces(ctx, rows)
  await queries.purgeBounces(ctx, new Date(now - KEPT_MS), PURGED_PER_BOUNCE * rows.length)
  const reached = counted.filter(({ rule }, at) => (counts[at]?.bounces ?? 0) >= rule.bounces)
  // If the suppression is lifted, counting begins anew.
  await queries.deleteBounces(
    ctx,
    reached.map((one) => rows[counted.indexOf(one)]?.address_hash ?? ''),
  )
  return reached
}

/** The months of entrances that ended: created ahead of time, and dropped when they are older than they are kept. */
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { DAY_MS } from '../../lib/times.ts'
import * as queries from './past.queries.ts'

const MONTHS_AHEAD = 2
const LOCK_WAIT_MS = 2000

/** The month of an instant, or the one `ahead` months later. */
function pastMonthOf(instant: Date, ahead = 0): queries.Month {
  const day = (months: number) =>
    new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + months, 1)).toISOString().slice(0, '2026-11-01'.length)
  const [from, to] = [day(ahead), day(ahead + 1)]
  return { name: `journey_past_${from.slice(0, '2026-11'.length).replace('-', '_')}`, from, to }
}

/** Creates the missing months, from this one to two months ahead. Returns how many. */
export async function createPastMonths(ctx: Ctx): Promise<number> {
  const now = ctx.clock.now()
  const months = Array.from({ length: MONTHS_AHEAD + 1 }, (_, ahead) => pastMonthOf(now, ahead))
  const isMissing = (there: ReadonlySet<string>) => months.filter(({ name }) => !there.has(name))
  if (isMissing(await queries.listMonths(ctx)).length === 0) return 0
  return inTx(ctx, async (ctx) => {
    await queries.lockMonths(ctx)
    await queries.limitLockWait(ctx, LOCK_WAIT_MS)
    const missing = isMissing(await queries.listMonths(ctx))
    for (const month of missing) await queries.createMonth(ctx, month)
    return missing.length
  })
}

/** Drops the months that ended before the history, and deletes older entrances that are in no month. Returns how many months. */
export async function dropPastMonths(ctx: Ctx): Promise<number> {
  const { JOURNEY_HISTORY_DAYS: days } = ctx.config
  if (days === 0) return 0
  const before = new Date(ctx.clock.now().getTime() - days * DAY_MS)
  const first = pastMonthOf(before).name
  const old = [...(await queries.listMonths(ctx))].filter((name) => name < first)
  await queries.deleteRest(ctx, before)
  if (old.length === 0) return 0
  return inTx(ctx, async (ctx) => {
    await queries.lockMonths(ctx)
    await queries.limitLockWait(ctx, LOCK_WAIT_MS)
    await queries.dropMonths(ctx, old)
    return old.length
  })
}

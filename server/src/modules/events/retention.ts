/**
 * Removes events whose time is over (EVENT_RETENTION_MONTHS), by whole calendar months: their partitions are dropped, and the home
 * of what is older than all of these is looked through and cleared, with the counts of those days. It is done once a month: a late
 * event from such a time is stored, and goes with the next one.
 */

import { isSqlState, LOCK_NOT_AVAILABLE } from '../../infra/postgres/db.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { monthOf } from './months.ts'
import { createOldestMonth, listMonths, lockMonths } from './queries.ts'
import * as queries from './retention.queries.ts'
import { createEventMonths } from './service.ts'

const PAST = 'events_past'
const LOCK_WAIT_MS = 500
const PAGES_AT_ONCE = 2000
const DAYS_AT_ONCE = 10_000

/** Removes one piece of what is too old; the answer is how much, 0 when nothing is left or it was not possible just now. */
export async function removeExpired(ctx: Ctx): Promise<number> {
  const months = ctx.config.EVENT_RETENTION_MONTHS
  if (months === 0) return 0
  const before = new Date(monthOf(ctx.clock.now(), -months).from)
  const removal = await queries.findRemoval(ctx, before)
  if (removal?.completed_at) return 0
  const dropped = await dropMonths(ctx, before)
  if (dropped === 'busy') return 0
  if (dropped > 0) return dropped
  const pastTo = removal?.past_to ?? 0
  if (pastTo < (await queries.oldestMonthPages(ctx))) return queries.deleteFromOldestMonth(ctx, before, pastTo, pastTo + PAGES_AT_ONCE)
  // Its rows are written by processing too, in another order.
  const days = await inTx(ctx, (ctx) => queries.deleteDays(ctx, before, DAYS_AT_ONCE))
  if (days > 0) return days
  await queries.deleteNames(ctx)
  await queries.noteComplete(ctx, before)
  return 1
}

/** The end of the period whose events were removed, while lists have not followed it yet; undefined when there is nothing to follow. */
export const eventRemovalToFollow = async (ctx: Ctx): Promise<Date | undefined> => (await queries.findUnfollowed(ctx))?.before

/** Notes that lists have followed a removal. */
export const noteRemovalFollowed = (ctx: Ctx, before: Date) => queries.noteFollowed(ctx, before)

/**
 * Drops the months that end before an instant, and all that is older than they are; an empty home takes the place of both, so that
 * no late event is without one. Dropping takes a lock that processing waits for: it is given up soon and tried again later.
 */
async function dropMonths(ctx: Ctx, before: Date): Promise<number | 'busy'> {
  await createEventMonths(ctx)
  if ((await monthsBefore(ctx, before)).length === 0) return 0
  try {
    return await inTx(ctx, async (ctx) => {
      await queries.limitLockWait(ctx, LOCK_WAIT_MS)
      await lockMonths(ctx)
      const names = await monthsBefore(ctx, before)
      if (names.length === 0) return 0
      await queries.dropMonthTables(ctx, [...names, PAST])
      await createOldestMonth(ctx, monthOf(before))
      await queries.noteDropped(ctx, before, names.length)
      return names.length
    })
  } catch (error) {
    if (isSqlState(error, LOCK_NOT_AVAILABLE)) return 'busy'
    throw error
  }
}

/** The partitions of months that end before an instant. */
async function monthsBefore(ctx: Ctx, before: Date): Promise<string[]> {
  const first = monthOf(before).name
  return [...(await listMonths(ctx))].filter((name) => name !== PAST && name < first)
}

/**
 * Deletes events that are older than EVENT_RETENTION_MONTHS, by whole calendar months: it drops their partitions, deletes from the
 * partition for everything older, and deletes the counts of those days. It does so once a month. An event with such an old time that is
 * received later is stored, and deleted with the next month.
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

/** Deletes a part of what is too old. Returns how much, or 0 when nothing is left or a lock was not available. */
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
  // Batches write the same rows in another order: a deadlock is retried by the transaction.
  const days = await inTx(ctx, (ctx) => queries.deleteDays(ctx, before, DAYS_AT_ONCE))
  if (days > 0) return days
  await queries.deleteNames(ctx)
  await queries.deleteNameTotals(ctx)
  await queries.deleteDayTotals(ctx, before)
  await queries.noteComplete(ctx, before)
  return 1
}

/** The instant before which events were removed, until lists are updated; undefined if they are up to date. */
export const eventRemovalToFollow = async (ctx: Ctx): Promise<Date | undefined> => (await queries.findUnfollowed(ctx))?.before

/** Notes that lists were updated after a removal. */
export const noteRemovalFollowed = (ctx: Ctx, before: Date) => queries.noteFollowed(ctx, before)

/**
 * Drops the months that end before an instant and everything older. An empty partition takes their place, for events that are received
 * late. Dropping takes a lock that batches wait for, so it stops waiting after a short time and is retried later.
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

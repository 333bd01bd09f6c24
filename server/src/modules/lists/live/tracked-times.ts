/** The times of events that a condition needs: a limited number, the latest or the earliest first, within the window. */

import { DAY_MS } from '../../../lib/times.ts'
import { countFuture, MEMBERSHIP_EVENTS, type Tracker } from '../../rules/index.ts'

const NOTHING: readonly number[] = []

/**
 * Adds `more` to `kept` and keeps what the tracker needs. Times are in milliseconds and may repeat. The result does not depend on the order
 * or the grouping of calls. Returns `kept` when nothing changed.
 */
export function withTimes(tracker: Tracker, kept: readonly number[] = NOTHING, more: readonly number[], nowMs: number): readonly number[] {
  const oldest = tracker.withinMs === null ? Number.NEGATIVE_INFINITY : nowMs - tracker.withinMs
  // When the clock is set back, times count again that have left the window. A day of grace keeps them.
  const fresh = more.filter((time) => time > oldest - GRACE_MS)
  if (fresh.length === 0) return kept
  const all = [...kept, ...fresh].sort(tracker.keep === 'latest' ? descending : ascending)
  // Times after now do not count yet, so they take no place of those that do. Devices can be at most minutes ahead.
  const needed = tracker.count + (tracker.keep === 'latest' ? countFuture(all, nowMs) : 0)
  if (all.length > needed) all.length = needed
  return same(all, kept) ? kept : all
}

const GRACE_MS = DAY_MS

/**
 * Does the tracker have as many times as its condition can need? Then later events change nothing until the last of these times leaves the
 * window. Never true for membership events, which are stored only after the evaluation and so cannot be read again during it.
 */
export function isFull({ keep, count, withinMs, names, needsTime }: Tracker, times: readonly number[], nowMs: number): boolean {
  if (keep !== 'latest' || needsTime || names.some((name) => MEMBERSHIP_EVENTS.includes(name))) return false
  const deciding = times[countFuture(times, nowMs) + count - 1]
  return deciding !== undefined && (withinMs === null || deciding > nowMs - withinMs)
}

const descending = (a: number, b: number) => b - a
const ascending = (a: number, b: number) => a - b

const same = (a: readonly number[], b: readonly number[]) => a.length === b.length && a.every((time, index) => time === b[index])

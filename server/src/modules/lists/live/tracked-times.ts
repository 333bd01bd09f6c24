/** The times of events that a condition needs: no more than so many, the latest or the earliest first, and none that is past mattering. */
import { MEMBERSHIP_EVENTS, type Tracker } from '../../rules/index.ts'

const NOTHING: readonly number[] = []

/**
 * `kept` with `more` taken in, as the tracker keeps them. Times are in milliseconds and may repeat. Order of arrival does not
 * matter, nor does the grouping: the outcome is that of all the times at once. Answers `kept` itself when nothing changed.
 */
export function withTimes(tracker: Tracker, kept: readonly number[] = NOTHING, more: readonly number[], nowMs: number): readonly number[] {
  const oldest = tracker.withinMs === null ? Number.NEGATIVE_INFINITY : nowMs - tracker.withinMs
  // A clock that goes back would miss what was dropped for being too old; a day of grace is dearer to nobody.
  const fresh = more.filter((time) => time > oldest - GRACE_MS)
  if (fresh.length === 0) return kept
  const all = [...kept, ...fresh].sort(tracker.keep === 'latest' ? descending : ascending)
  if (all.length > tracker.count) all.length = tracker.count
  return same(all, kept) ? kept : all
}

const GRACE_MS = 86_400_000

/**
 * Are there as many times as can matter? Then every number of events that the condition asks about is reached, and stays so until
 * the last of them leaves the window: what comes meanwhile need not be known before that. Moves between lists are always kept,
 * for they are stored after the lists have been looked at.
 */
export function isFull({ keep, count, withinMs, names, needsTime }: Tracker, times: readonly number[], nowMs: number): boolean {
  if (keep !== 'latest' || needsTime || times.length < count || names.some((name) => MEMBERSHIP_EVENTS.includes(name))) return false
  return withinMs === null || (times[count - 1] as number) > nowMs - withinMs
}

const descending = (a: number, b: number) => b - a
const ascending = (a: number, b: number) => a - b

const same = (a: readonly number[], b: readonly number[]) => a.length === b.length && a.every((time, index) => time === b[index])

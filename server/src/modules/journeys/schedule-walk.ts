/** Walks through the times of a recurrence rule in pieces, between which other work runs: a rule may have many, or need a long search. */
import type { RRuleTemporal } from 'rrule-temporal'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'

/** A piece with more times is followed by a shorter one, and one with fewer than a quarter of it by a longer one. */
const PIECE_TIMES = 40
/** A count that takes longer to reach ends with what was found. */
const PIECES_MAX = 300
/** A schedule that has more to come then has no end. */
const HORIZON = new Date('2200-01-01T00:00:00Z')

/** The result of a search, or another one if the search is longer than its limits. */
export function bounded<T, O>(search: () => T, otherwise: O): T | O {
  try {
    return search()
  } catch (error) {
    if (error instanceof Error && /exceeded/.test(error.message)) return otherwise
    throw error
  }
}

/** Lets other work run. */
export const otherWork = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The times in [from, to], piece by piece, each with its end. A search that would be too long is made in shorter pieces; if that does not help, it ends. */
export async function* timesBetween(search: RRuleTemporal, from: Date, to: Date): AsyncGenerator<{ times: Date[]; end: Date }> {
  let [atMs, lengthMs, longestMs] = [from.getTime(), DAY_MS, Number.POSITIVE_INFINITY]
  while (atMs <= to.getTime() && lengthMs >= HOUR_MS) {
    await otherWork()
    const end = new Date(Math.min(atMs + lengthMs, to.getTime()))
    const found = bounded(() => search.between(new Date(atMs), end, true), null)
    if (found !== null) {
      yield { times: found.map(({ epochMilliseconds }) => new Date(epochMilliseconds)), end }
      atMs = end.getTime() + 1
    } else longestMs = lengthMs / 2
    if (found === null || found.length > PIECE_TIMES) lengthMs /= 2
    else if (found.length < PIECE_TIMES / 4) lengthMs = Math.min(lengthMs * 2, longestMs)
  }
}

/** The last of so many times from the start; null if it comes later than anyone looks. */
export async function lastOf(search: RRuleTemporal, start: Date, count: number): Promise<Date | null> {
  if (start > HORIZON) return null
  let [last, left, pieces] = [start, count, 0]
  for await (const { times, end } of timesBetween(search, start, HORIZON)) {
    if (times.length >= left) return times[left - 1] as Date
    if (end >= HORIZON) return null
    last = times.at(-1) ?? last
    if (++pieces > PIECES_MAX) break
    left -= times.length
  }
  return last
}

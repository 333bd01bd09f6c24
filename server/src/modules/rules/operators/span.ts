/** Spans of time, which the operators on dates check. Defined once for memory, SQL and next changes. */
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'
import { FIRST_DATE_MS, LAST_DATE_MS } from '../../../lib/times.ts'

/** An instant, or a distance from now, in milliseconds. */
export type Bound = { at: number } | { fromNow: number }

/** From one bound, exclusive, to the other, inclusive. Null means unbounded. */
export type Span = { after: Bound | null; upTo: Bound | null }

const boundAt = (bound: Bound, nowMs: number) => ('at' in bound ? bound.at : nowMs + bound.fromNow)

/** Whether an instant is in the span. */
export const insideOf =
  ({ after, upTo }: Span) =>
  (atMs: number, nowMs: number): boolean =>
    (after === null || atMs > boundAt(after, nowMs)) && (upTo === null || atMs <= boundAt(upTo, nowMs))

/** The same in SQL: null if `at` is null. It uses a range, so that `at`, which may be expensive, is evaluated once. */
export function insideSql({ after, upTo }: Span, at: Sql, now: Date): Sql {
  const date = (bound: Bound | null) => (bound === null ? sql`null::timestamptz` : instantParam(boundAt(bound, now.getTime())))
  return sql`${at} <@ tstzrange(${date(after)}, ${date(upTo)}, '(]')`
}

/** An instant as a parameter. Outside the years that dates can have, it is infinite, which compares with dates in the same way. */
export function instantParam(ms: number): Sql {
  if (ms < FIRST_DATE_MS) return sql`'-infinity'::timestamptz`
  return ms > LAST_DATE_MS ? sql`'infinity'::timestamptz` : sql`${new Date(ms).toISOString()}::timestamptz`
}

/**
 * How long after an instant the result for it changes, in milliseconds; negative values are before the instant. `t > now + d` and
 * `t <= now + d` change when now is `t - d`. At that millisecond the new result applies.
 */
export const changeOffsetsOf = ({ after, upTo }: Span): number[] =>
  [after, upTo].flatMap((bound) => (bound !== null && 'fromNow' in bound ? [0 - bound.fromNow] : []))

/** The earliest change for an instant after now; infinity if there is none. */
export function nextChangeOf(changeOffsets: readonly number[], atMs: number, nowMs: number): number {
  let next = Number.POSITIVE_INFINITY
  for (const offset of changeOffsets) if (atMs + offset > nowMs && atMs + offset < next) next = atMs + offset
  // What lies beyond the years of dates is not reached, and could not be stored.
  return next < LAST_DATE_MS ? next : Number.POSITIVE_INFINITY
}

/** The same in SQL: null if there is none, or no instant. The instant, which may be expensive, is evaluated once. */
export function nextChangeSql(changeOffsets: readonly number[], at: Sql, now: Date): Sql {
  const later = (offset: number) => whenLater(sql`v.at + ${offset} * interval '1 millisecond'`, sql`${now}::timestamptz`)
  const end = instantParam(LAST_DATE_MS)
  return sql`(select nullif(least(${join(changeOffsets.map(later), ', ')}, ${end}), ${end}) from (select ${at} as at offset 0) v)`
}

/** `value` if it is greater than `than`, otherwise null. */
export const whenLater = (value: Sql, than: Sql): Sql => sql`nullif(greatest(${value}, ${than}), ${than})`

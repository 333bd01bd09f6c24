/** Spans of time, which the operators on dates check. Defined once for memory, SQL and next changes. */
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'

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
  const date = (bound: Bound | null) => (bound === null ? null : new Date(boundAt(bound, now.getTime())))
  return sql`${at} <@ tstzrange(${date(after)}, ${date(upTo)}, '(]')`
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
  return next
}

/** The same in SQL: null if there is none, or no instant. The instant, which may be expensive, is evaluated once. */
export function nextChangeSql(changeOffsets: readonly number[], at: Sql, now: Date): Sql {
  const later = (offset: number) => whenLater(sql`v.at + ${offset} * interval '1 millisecond'`, sql`${now}::timestamptz`)
  return sql`(select least(${join(changeOffsets.map(later), ', ')}) from (select ${at} as at offset 0) v)`
}

/** `value` if it is greater than `than`, otherwise null. */
export const whenLater = (value: Sql, than: Sql): Sql => sql`nullif(greatest(${value}, ${than}), ${than})`

/** A stretch of time that instants are in or not, as the operators on dates see it: defined once for memory, SQL and turns. */
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'

/** An instant, or a distance from the present, in milliseconds. */
export type Bound = { at: number } | { fromNow: number }

/** From one bound, which is outside, to the other, which is inside; null is without end. */
export type Span = { after: Bound | null; upTo: Bound | null }

const boundAt = (bound: Bound, nowMs: number) => ('at' in bound ? bound.at : nowMs + bound.fromNow)

/** Is an instant in the span? */
export const insideOf =
  ({ after, upTo }: Span) =>
  (atMs: number, nowMs: number): boolean =>
    (after === null || atMs > boundAt(after, nowMs)) && (upTo === null || atMs <= boundAt(upTo, nowMs))

/** The same in SQL: null when `at` is null. As a range, because `at` may be dear and is worked out once. */
export function insideSql({ after, upTo }: Span, at: Sql, now: Date): Sql {
  const date = (bound: Bound | null) => (bound === null ? null : new Date(boundAt(bound, now.getTime())))
  return sql`${at} <@ tstzrange(${date(after)}, ${date(upTo)}, '(]')`
}

/**
 * How long after an instant the answer about it changes, in milliseconds; before it when negative. `t > now + d` and
 * `t <= now + d` change when now is `t - d`, and at that very millisecond are what they will be.
 */
export const turnsOf = ({ after, upTo }: Span): number[] =>
  [after, upTo].flatMap((bound) => (bound !== null && 'fromNow' in bound ? [0 - bound.fromNow] : []))

/** The earliest of the turns of an instant that is after now; infinity when there is none. */
export function nextTurnOf(turns: readonly number[], atMs: number, nowMs: number): number {
  let next = Number.POSITIVE_INFINITY
  for (const turn of turns) if (atMs + turn > nowMs && atMs + turn < next) next = atMs + turn
  return next
}

/** The same in SQL: null when there is none, or no instant. The instant may be dear and is worked out once. */
export function nextTurnSql(turns: readonly number[], at: Sql, now: Date): Sql {
  const later = (turn: number) => whenLater(sql`v.at + ${turn} * interval '1 millisecond'`, sql`${now}::timestamptz`)
  return sql`(select least(${join(turns.map(later), ', ')}) from (select ${at} as at offset 0) v)`
}

/** `value` when it is greater than `than`, and null otherwise. */
export const whenLater = (value: Sql, than: Sql): Sql => sql`nullif(greatest(${value}, ${than}), ${than})`

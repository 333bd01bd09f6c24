/** `since` and `until` of a request: `since` is included, `until` is not. */
import { Type } from 'typebox'
import { fault } from '../../lib/errors.ts'
import { parseTime } from '../../lib/times.ts'

/** Optional query parameters. */
export const range = {
  since: Type.Optional(Type.String({ format: 'time', description: 'The start of the period, inclusive. ISO 8601.' })),
  until: Type.Optional(Type.String({ format: 'time', description: 'The end of the period, exclusive. ISO 8601.' })),
}

/** The exact name of an event. */
export const eventName = Type.String({ notBlank: true, minLength: 1, maxLength: 255, description: 'The exact name of the event.' })

/** `since` and `until` as instants. Throws 422 unless `since` is before `until`. */
export function readRange(given: { since?: string; until?: string }): { since?: Date; until?: Date } {
  const since = given.since === undefined ? null : parseTime(given.since)
  const until = given.until === undefined ? null : parseTime(given.until)
  if (since && until && since >= until) throw fault('validation_failed', 'until', 'The value of `until` must be later than `since`.')
  return { ...(since && { since }), ...(until && { until }) }
}

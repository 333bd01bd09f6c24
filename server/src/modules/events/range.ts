/** `since` and `until` of a request: `since` is included, `until` is not. */
import { Type } from 'typebox'
import { fault } from '../../lib/errors.ts'
import { parseTime } from '../../lib/times.ts'

/** The query parameters, each optional. */
export const range = {
  since: Type.Optional(Type.String({ format: 'time', description: 'From this time on, ISO 8601.' })),
  until: Type.Optional(Type.String({ format: 'time', description: 'Before this time, ISO 8601.' })),
}

/** The name of an event, exactly. */
export const eventName = Type.String({ notBlank: true, minLength: 1, maxLength: 255, description: 'The name of the event, exactly.' })

/** The two as instants. Throws 422 when nothing can lie between them. */
export function readRange(given: { since?: string; until?: string }): { since?: Date; until?: Date } {
  const since = given.since === undefined ? null : parseTime(given.since)
  const until = given.until === undefined ? null : parseTime(given.until)
  if (since && until && since >= until) throw fault('validation_failed', 'until', 'The value of `until` must be later than `since`.')
  return { ...(since && { since }), ...(until && { until }) }
}

/** Durations in rules: `90m`, `12h`, `30d`, `2w`, `18y`. */
import { Type } from 'typebox'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'

// A year has the same length wherever it begins, so that the instant at which a result changes follows from the date alone.
const MS: Record<string, number> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS, y: 365.25 * DAY_MS }
const WORDS: Record<string, string> = { m: 'minute', h: 'hour', d: 'day', w: 'week', y: 'year' }
const YEARS_MAX = 200

const FORM = 'Minutes, hours, days, weeks or years of 365.25 days, such as `90m`, `12h`, `30d`, `2w` or `18y`.'

/** A duration, with a sentence about its meaning if the name does not tell it. The caller checks a lower limit than the default one. */
export const duration = (means = '', most = `${YEARS_MAX} years`) =>
  Type.String({
    pattern: '^[1-9]\\d{0,8}[mhdwy]$',
    problem: 'must be a number of minutes, hours, days, weeks or years, such as `90m`, `12h`, `30d`, `2w` or `18y`',
    description: `${means} ${FORM} At most ${most}.`.trimStart(),
  })

/** In milliseconds. */
export const durationMs = (text: string): number => Number(text.slice(0, -1)) * (MS[text.slice(-1)] as number)

/** The problem of a duration whose shape is correct, as the end of a sentence; null if there is none. */
export const durationProblem = (text: string): string | null =>
  durationMs(text) > YEARS_MAX * (MS.y as number) ? `must be at most ${YEARS_MAX} years` : null

/** A duration in words: `1 day`, `30 days`. With `alone`, one day is `day`, as in `the last day`. */
export function describeDuration(text: string, alone = false): string {
  const count = Number(text.slice(0, -1))
  const word = WORDS[text.slice(-1)] as string
  if (count === 1) return alone ? word : `1 ${word}`
  return `${count} ${word}s`
}

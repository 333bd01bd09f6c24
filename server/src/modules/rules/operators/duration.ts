/** Durations in rules: `90m`, `12h`, `30d`, `2w`. */
import { Type } from 'typebox'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'

const MS: Record<string, number> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }
const WORDS: Record<string, string> = { m: 'minute', h: 'hour', d: 'day', w: 'week' }
const DAYS_MAX = 3650

const FORM = `Minutes, hours, days or weeks, such as \`90m\`, \`12h\`, \`30d\` or \`2w\`. At most ${DAYS_MAX} days.`

/** A duration, with a sentence that says what it means if the name does not. */
export const duration = (means = '') =>
  Type.String({
    pattern: '^[1-9]\\d{0,4}[mhdw]$',
    problem: 'must be a number of minutes, hours, days or weeks, such as `90m`, `12h`, `30d` or `2w`',
    description: `${means} ${FORM}`.trimStart(),
  })

/** In milliseconds. */
export const durationMs = (text: string): number => Number(text.slice(0, -1)) * (MS[text.slice(-1)] as number)

/** The problem of a duration whose shape is correct, as the end of a sentence; null if there is none. */
export const durationProblem = (text: string): string | null =>
  durationMs(text) > DAYS_MAX * (MS.d as number) ? `must be at most ${DAYS_MAX} days` : null

/** A duration in words: `1 day`, `30 days`. With `alone`, one day is `day`, as in `the last day`. */
export function describeDuration(text: string, alone = false): string {
  const count = Number(text.slice(0, -1))
  const word = WORDS[text.slice(-1)] as string
  if (count === 1) return alone ? word : `1 ${word}`
  return `${count} ${word}s`
}

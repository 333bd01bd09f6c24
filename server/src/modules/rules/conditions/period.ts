/** The period of conditions on events: which events count by their time. */
import { Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { describeDuration, duration, durationMs, durationProblem } from '../operators/duration.ts'
import { instantOf, Time } from '../operators/operator.ts'
import type { Period } from '../rule.ts'
import type { Tracker } from './condition.ts'

export const periodMembers = {
  within: Type.Optional(duration('Counts only events in this period up to now.')),
  since: Type.Optional({ ...Time, description: 'Counts only events at or after this ISO 8601 time.' }),
  until: Type.Optional({ ...Time, description: 'Counts only events before this ISO 8601 time, which must be later than `since`.' }),
}

/** The faults of a period whose shape is correct. */
export function periodFaults({ within, since, until }: Period): Fault[] {
  const problem = within === undefined ? null : durationProblem(within)
  return [
    ...(problem ? [broken('within', `The value of \`within\` ${problem}.`)] : []),
    ...(since !== undefined && until !== undefined && (instantOf(since) as number) >= (instantOf(until) as number)
      ? [broken('until', 'The value of `until` must be later than `since`.')]
      : []),
  ]
}

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/** The period in the form of trackers. */
export const compilePeriod = ({ within, since, until }: Period): Pick<Tracker, 'withinMs' | 'sinceMs' | 'untilMs'> => ({
  withinMs: within === undefined ? null : durationMs(within),
  sinceMs: since === undefined ? null : instantOf(since),
  untilMs: until === undefined ? null : instantOf(until),
})

/** The period in words, as the end of a sentence; empty if events of any time count. */
export const describePeriod = ({ within, since, until }: Period): string =>
  [
    within === undefined ? '' : ` within ${describeDuration(within)}`,
    since === undefined ? '' : ` since ${since}`,
    until === undefined ? '' : ` before ${until}`,
  ].join('')

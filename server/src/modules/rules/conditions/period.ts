/** Which events count by their time, as conditions about events write it. */
import { Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { Duration, durationMs, durationProblem, sayDuration } from '../operators/duration.ts'
import { instantOf, Time } from '../operators/operator.ts'
import type { Tracker } from './condition.ts'

type Period = { within?: string; since?: string; until?: string }

export const periodMembers = { within: Type.Optional(Duration), since: Type.Optional(Time), until: Type.Optional(Time) }

/** What is wrong with a period of the right shape. */
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

/** The period as a tracker keeps it. */
export const compilePeriod = ({ within, since, until }: Period): Pick<Tracker, 'withinMs' | 'sinceMs' | 'untilMs'> => ({
  withinMs: within === undefined ? null : durationMs(within),
  sinceMs: since === undefined ? null : instantOf(since),
  untilMs: until === undefined ? null : instantOf(until),
})

/** The end of a sentence about what happened, empty when it may have happened at any time. */
export const sayPeriod = ({ within, since, until }: Period): string =>
  [
    within === undefined ? '' : ` within ${sayDuration(within)}`,
    since === undefined ? '' : ` since ${since}`,
    until === undefined ? '' : ` before ${until}`,
  ].join('')

import { describeDuration, durationMs } from './duration.ts'
import { dateOperator, ofDuration } from './operator.ts'

export const withinLast = dateOperator({
  ...ofDuration,
  label: 'is within the last',
  span: (args) => ({ after: { fromNow: -durationMs(args) }, upTo: { fromNow: 0 } }),
  describe: (args) => `is within the last ${describeDuration(args, true)}`,
  examples: [
    ['2026-11-23T09:00:00.000Z', '7d', true],
    ['2026-11-23T09:00:00.001Z', '7d', false],
    ['2026-11-16T09:00:00.001Z', '7d', true],
    ['2026-11-16T09:00:00.000Z', '1w', false],
    ['2026-11-23', '9h', false],
    ['2026-11-23', '541m', true],
    ['today', '7d', false],
    [null, '7d', false],
    [undefined, '7d', false],
  ],
})

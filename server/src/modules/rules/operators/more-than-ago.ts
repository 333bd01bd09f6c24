import { describeDuration, durationMs } from './duration.ts'
import { dateOperator, ofDuration } from './operator.ts'

export const moreThanAgo = dateOperator({
  ...ofDuration,
  label: 'is more than … ago',
  span: (args) => ({ after: null, upTo: { fromNow: -durationMs(args) } }),
  describe: (args) => `is more than ${describeDuration(args)} ago`,
  examples: [
    ['2026-11-16T09:00:00.000Z', '7d', true],
    ['2026-11-16T09:00:00.001Z', '7d', false],
    ['1970-01-01', '3650d', true],
    ['2026-11-24', '1h', false],
    ['long ago', '7d', false],
    [null, '7d', false],
    [undefined, '7d', false],
  ],
})

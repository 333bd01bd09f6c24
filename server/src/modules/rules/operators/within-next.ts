import { describeDuration, durationMs } from './duration.ts'
import { dateOperator, ofDuration } from './operator.ts'

export const withinNext = dateOperator({
  ...ofDuration,
  label: 'is within the next',
  span: (args) => ({ after: { fromNow: 0 }, upTo: { fromNow: durationMs(args) } }),
  describe: (args) => `is within the next ${describeDuration(args, true)}`,
  examples: [
    ['2026-11-23T09:00:00.000Z', '7d', false],
    ['2026-11-23T09:00:00.001Z', '7d', true],
    ['2026-11-30T09:00:00.000Z', '7d', true],
    ['2026-11-30T09:00:00.001Z', '1w', false],
    ['soon', '7d', false],
    [null, '7d', false],
    [undefined, '7d', false],
  ],
})

import { dateOperator, instantOf, Time } from './operator.ts'

export const after = dateOperator({
  label: 'is after',
  args: Time,
  span: (args) => ({ after: { at: instantOf(args) as number }, upTo: null }),
  describe: (args) => `is after ${args}`,
  examples: [
    ['2026-11-20T00:00:00.001Z', '2026-11-20', true],
    ['2026-11-20', '2026-11-20', false],
    ['2026-11-20T00:00:00.000999Z', '2026-11-20', false],
    ['2026-11-19T23:00-03:00', '2026-11-20', true],
    ['2026-02-30', '1970-01-01', false],
    ['tomorrow', '1970-01-01', false],
    [1795229781, '1970-01-01', false],
    [null, '1970-01-01', false],
    [undefined, '1970-01-01', false],
  ],
})

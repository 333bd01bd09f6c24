import { dateOperator, instantOf, Time } from './operator.ts'

export const before = dateOperator({
  label: 'is before',
  args: Time,
  // Instants are whole milliseconds.
  span: (args) => ({ after: null, upTo: { at: (instantOf(args) as number) - 1 } }),
  describe: (args) => `is before ${args}`,
  examples: [
    ['2026-11-19T23:59:59.999Z', '2026-11-20', true],
    ['2026-11-20', '2026-11-20', false],
    ['2026-11-20T00:00:00.000999Z', '2026-11-20T00:00:00.001Z', true],
    ['2026-11-20T09:00+10:00', '2026-11-20', true],
    ['2026-02-30', '2030-01-01', false],
    ['yesterday', '2030-01-01', false],
    [1795229781, '2030-01-01', false],
    [['2026-11-19'], '2030-01-01', false],
    [null, '2030-01-01', false],
    [undefined, '2030-01-01', false],
  ],
})

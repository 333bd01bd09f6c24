import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import { numberOperator, numeric } from './operator.ts'

export const atLeast = numberOperator({
  label: 'is at least',
  args: Type.Number(),
  holds: (value, args) => value >= args,
  compares: (value, args) => sql`${value} >= ${numeric(args)}`,
  describe: (args) => `is at least ${args}`,
  examples: [
    [51, 50, true],
    [50, 50, true],
    [49.99, 50, false],
    [-1, -2, true],
    [1e300, 1e21, true],
    [0.30000000000000004, 0.3, true],
    ['50', 50, false],
    ['51', 50, false],
    ['49', 50, false],
    [true, 1, false],
    [[50], 50, false],
    [null, 50, false],
    [undefined, 50, false],
  ],
})

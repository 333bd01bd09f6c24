import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import { numberOperator, numeric } from './operator.ts'

export const lessThan = numberOperator({
  label: 'is less than',
  args: Type.Number(),
  holds: (value, args) => value < args,
  compares: (value, args) => sql`${value} < ${numeric(args)}`,
  describe: (args) => `is less than ${args}`,
  examples: [
    [51, 50, false],
    [50, 50, false],
    [49.99, 50, true],
    [-1, -2, false],
    [1e300, 1e21, false],
    [0.30000000000000004, 0.3, false],
    ['50', 50, false],
    ['51', 50, false],
    ['49', 50, false],
    [true, 1, false],
    [[50], 50, false],
    [null, 50, false],
    [undefined, 50, false],
  ],
})

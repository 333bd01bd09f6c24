import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import { numberOperator, numeric } from './operator.ts'

const Pair = Type.Unsafe<[number, number]>({ type: 'array', items: Type.Number(), minItems: 2, maxItems: 2 })

/** Both ends are inclusive. */
export const between = numberOperator({
  label: 'is between',
  args: Pair,
  problem: ([least, most]) => (least <= most ? null : 'must have the smaller number first'),
  holds: (value, [least, most]) => value >= least && value <= most,
  compares: (value, [least, most]) => sql`${value} between ${numeric(least)} and ${numeric(most)}`,
  describe: ([least, most]) => `is between ${least} and ${most}`,
  examples: [
    [5, [1, 9], true],
    [1, [1, 9], true],
    [9, [1, 9], true],
    [9.5, [1, 9], false],
    [0, [1, 9], false],
    [5, [5, 5], true],
    ['5', [1, 9], false],
    [[5], [1, 9], false],
    [null, [1, 9], false],
    [undefined, [1, 9], false],
  ],
})

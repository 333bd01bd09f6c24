import { sql } from '../../../infra/postgres/db.ts'
import { isString, json, operator, quoted, Scalar } from './operator.ts'

export const is = operator({
  label: 'is',
  args: Scalar,
  kinds: ['string', 'number', 'boolean'],
  test: (args) => (value) => value === args,
  sql: (value, args, _now, text) =>
    typeof args === 'string' ? isString(value, text, (text) => sql`${text} = ${args}`) : sql`coalesce(${value} = ${json(args)}, false)`,
  describe: (args) => `is ${quoted(args)}`,
  examples: [
    ['pro', 'pro', true],
    ['Pro', 'pro', false],
    ['', '', true],
    [3, 3, true],
    [3, '3', false],
    [0.1, 0.1, true],
    [1e21, 1e21, true],
    [true, true, true],
    [true, 'true', false],
    [0, false, false],
    [['pro'], 'pro', false],
    [{ pro: 1 }, 'pro', false],
    [null, 'null', false],
    [undefined, 'pro', false],
  ],
})

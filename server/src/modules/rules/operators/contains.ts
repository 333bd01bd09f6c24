import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import { json, operator, quoted, Scalar } from './operator.ts'

/** Text contains a substring, an array an element. */
export const contains = operator({
  label: 'contains',
  args: Type.Unsafe<Scalar>({ ...Scalar, minLength: 1 }),
  kinds: ['string', 'array'],
  test: (args) => (value) =>
    typeof value === 'string' ? typeof args === 'string' && value.includes(args) : Array.isArray(value) && value.includes(args),
  sql: (value, args) => {
    const inText = typeof args === 'string' ? sql`strpos(${value} #>> '{}', ${args}) > 0` : sql`false`
    return sql`case jsonb_typeof(${value}) when 'string' then ${inText} when 'array' then ${value} @> ${json([args])} else false end`
  },
  describe: (args) => `contains ${quoted(args)}`,
  examples: [
    [['red', 'blue'], 'red', true],
    ['hello world', 'o w', true],
    ['hello', 'Hell', false],
    ['100%_', '%_', true],
    ['a😀b', '😀', true],
    ['3', 3, false],
    [['red', 'blue'], 're', false],
    [[1, '2'], 1, true],
    [[1, '2'], 2, false],
    [[true], true, true],
    [[['red']], 'red', false],
    [[{ red: 1 }], 'red', false],
    [[], 'red', false],
    [3, 3, false],
    [{ red: 1 }, 'red', false],
    [null, 'red', false],
    [undefined, 'red', false],
  ],
})

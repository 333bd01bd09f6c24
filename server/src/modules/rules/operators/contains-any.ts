import { sql } from '../../../infra/postgres/db.ts'
import { operator, quoted, Scalars } from './operator.ts'

export const containsAny = operator({
  label: 'contains any of',
  args: Scalars,
  kinds: ['array'],
  test: (args) => {
    const values = new Set<unknown>(args)
    return (value) => Array.isArray(value) && value.some((element) => values.has(element))
  },
  sql: (value, args) =>
    sql`case when jsonb_typeof(${value}) = 'array' then ${value} @> any(${args.map((one) => JSON.stringify([one]))}::jsonb[]) else false end`,
  describe: (args) => `contains any of ${args.map(quoted).join(', ')}`,
  examples: [
    [['red', 'blue'], ['green', 'blue'], true],
    [['red', 'blue'], ['green'], false],
    [[1, true], [true], true],
    [[1], ['1'], false],
    [[['red']], ['red'], false],
    [[], ['red'], false],
    ['red', ['red'], false],
    [null, ['red'], false],
    [undefined, ['red'], false],
  ],
})

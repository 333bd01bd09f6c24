import { sql } from '../../../infra/postgres/db.ts'
import { isString, operator, quoted, Scalars } from './operator.ts'

export const oneOf = operator({
  label: 'is one of',
  args: Scalars,
  kinds: ['string', 'number', 'boolean'],
  test: (args) => {
    const values = new Set<unknown>(args)
    return (value) => values.has(value)
  },
  sql: (value, args, _now, text) =>
    args.every((one) => typeof one === 'string')
      ? isString(value, text, (text) => sql`${text} = any(${args}::text[])`)
      : sql`coalesce(${value} = any(${args.map((one) => JSON.stringify(one))}::jsonb[]), false)`,
  describe: (args) => `is one of ${args.map(quoted).join(', ')}`,
  examples: [
    ['pro', ['pro', 'team'], true],
    ['free', ['pro', 'team'], false],
    ['a "quoted", {odd} \\ one', ['a "quoted", {odd} \\ one', 'x'], true],
    ['null', ['null'], true],
    [3, ['3', 3], true],
    [3, ['3'], false],
    [false, [false], true],
    [['pro'], ['pro'], false],
    [null, ['pro'], false],
    [undefined, ['pro'], false],
  ],
})

import { sql } from '../../../infra/postgres/db.ts'
import { operator, quoted, Text } from './operator.ts'

export const endsWith = operator({
  label: 'ends with',
  args: Text,
  kinds: ['string'],
  test: (args) => (value) => typeof value === 'string' && value.endsWith(args),
  sql: (value, args) =>
    sql`case when jsonb_typeof(${value}) = 'string' then right(${value} #>> '{}', length(${args}::text)) = ${args} else false end`,
  describe: (args) => `ends with ${quoted(args)}`,
  examples: [
    ['kim@example.com', '@example.com', true],
    ['kim@example.org', '@example.com', false],
    ['a😀', '😀', true],
    ['pro', 'pro', true],
    ['pro', 'xpro', false],
    ['Pro', 'PRO', false],
    [16, '6', false],
    [null, 'l', false],
    [undefined, 'd', false],
  ],
})

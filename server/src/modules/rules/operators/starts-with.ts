import { sql } from '../../../infra/postgres/db.ts'
import { operator, quoted, Text } from './operator.ts'

export const startsWith = operator({
  label: 'starts with',
  args: Text,
  kinds: ['string'],
  test: (args) => (value) => typeof value === 'string' && value.startsWith(args),
  sql: (value, args) => sql`case when jsonb_typeof(${value}) = 'string' then starts_with(${value} #>> '{}', ${args}) else false end`,
  describe: (args) => `starts with ${quoted(args)}`,
  examples: [
    ['+61412345678', '+61', true],
    ['0412345678', '+61', false],
    ['Éa', 'É', true],
    ['pro', 'pro', true],
    ['pro', 'pros', false],
    ['Pro', 'pro', false],
    [61, '6', false],
    [['+61'], '+61', false],
    [null, 'n', false],
    [undefined, 'a', false],
  ],
})

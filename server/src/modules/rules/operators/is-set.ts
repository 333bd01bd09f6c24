import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import { operator } from './operator.ts'

export const isSet = operator({
  label: 'is set',
  args: Type.Boolean(),
  kinds: ['string', 'array'],
  test: (args) => (value) => (value !== undefined && value !== null) === args,
  sql: (value, args) => sql`coalesce(jsonb_typeof(${value}) <> 'null', false) = ${args}`,
  describe: (args) => (args ? 'is set' : 'is not set'),
  examples: [
    ['', true, true],
    [0, true, true],
    [false, true, true],
    [[], true, true],
    [{}, true, true],
    [null, true, false],
    [undefined, true, false],
    ['', false, false],
    [null, false, true],
    [undefined, false, true],
  ],
})

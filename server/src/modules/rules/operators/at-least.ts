import { sql } from '../../../infra/postgres/db.ts'
import { comparison } from './operator.ts'

export const atLeast = comparison({
  label: 'is at least',
  holdsFor: ['equal', 'greater'],
  holds: (value, args) => value >= args,
  compares: (value, args) => sql`${value} >= ${args}`,
})

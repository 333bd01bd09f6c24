import { sql } from '../../../infra/postgres/db.ts'
import { comparison } from './operator.ts'

export const greaterThan = comparison({
  label: 'is greater than',
  holdsFor: ['greater'],
  holds: (value, args) => value > args,
  compares: (value, args) => sql`${value} > ${args}`,
})

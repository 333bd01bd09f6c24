import { sql } from '../../../infra/postgres/db.ts'
import { comparison } from './operator.ts'

export const lessThan = comparison({
  label: 'is less than',
  holdsFor: ['less'],
  holds: (value, args) => value < args,
  compares: (value, args) => sql`${value} < ${args}`,
})

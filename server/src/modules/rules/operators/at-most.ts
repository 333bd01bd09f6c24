import { sql } from '../../../infra/postgres/db.ts'
import { comparison } from './operator.ts'

export const atMost = comparison({
  label: 'is at most',
  holdsFor: ['less', 'equal'],
  holds: (value, args) => value <= args,
  compares: (value, args) => sql`${value} <= ${args}`,
})

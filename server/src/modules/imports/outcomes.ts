/** What happens to the rows of a batch. */
import type { Fault } from '../../lib/errors.ts'
import type { Profile, UserRecord } from '../users/index.ts'
import type { Row } from './rows.ts'

/** A row that can be saved. */
export type ValidRow = { row: Row; profile: Profile }

/** What a row did; `user` is its user right after it. */
export type Outcome = { row: Row } & (
  | { is: 'created' | 'updated' | 'unchanged'; profile: Profile; user: UserRecord }
  /** `name` is the id by which the row names its user, who is not changed. */
  | { is: 'skipped'; profile: Profile; user: UserRecord; name: Profile }
  | { is: 'failed'; faults: Fault[] }
)

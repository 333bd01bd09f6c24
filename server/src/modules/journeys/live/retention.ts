/** Entry keys that no event or request has had for long. A user may enter with such a key again. */
import type { AgedRows } from '../../../infra/queue/aged-rows.ts'
import { forgetKeys } from './queries.ts'

/** The keys by which it is known that a user entered before, by the day on which they were seen last. */
export const keyRows: AgedRows = {
  name: 'journey_keys',
  column: 'seen_on',
  days: ({ JOURNEY_KEY_RETENTION_DAYS }) => JOURNEY_KEY_RETENTION_DAYS,
  remove: forgetKeys,
}

/** Clicks of users that are deleted when they are old. Their link keeps the sums. */
import type { AgedRows } from '../../../infra/queue/aged-rows.ts'
import { foldOldClicks } from './queries.ts'

/** Who clicked which link, by the day of the last click. */
export const clickRows: AgedRows = {
  name: 'link_clicks',
  column: 'clicked_on',
  days: ({ MESSAGE_RETENTION_DAYS }) => MESSAGE_RETENTION_DAYS,
  remove: foldOldClicks,
}

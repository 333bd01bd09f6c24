import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users. */
export const trackingStores: UserStore[] = [
  userStore('link_clicks', 'link_clicks', ({ projectId }) => ({
    from: sql`link_clicks c join links l on l.project_id = c.project_id and l.id = c.link_id`,
    where: sql`c.project_id = ${projectId}`,
    user: sql`c.user_id`,
    select: sql`c.user_id, l.campaign_id, l.url, c.clicks, c.machine_clicks, c.clicked_on::text as clicked_on`,
    key: [
      { column: sql`c.link_id`, type: 'bigint' },
      { column: sql`c.user_id`, type: 'bigint' },
    ],
  })),
]

import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users. */
export const activityStores: UserStore[] = [
  userStore('activity', 'activity', ({ projectId }) => ({
    from: sql`activity a`,
    where: sql`a.project_id = ${projectId}`,
    user: sql`a.user_id`,
    select: sql`a.id, a.user_id, a.type, a.message_id, a.campaign_id, a.journey_id, a.data, a.created_at`,
    key: [{ column: sql`a.id`, type: 'bigint' }],
  })),
]

import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users. Headers of calls have the secrets of the project, and are left out. */
export const journeyStores: UserStore[] = [
  userStore('journey_calls', 'journey_calls', ({ projectId }) => ({
    from: sql`journey_calls c`,
    where: sql`c.project_id = ${projectId}`,
    user: sql`c.user_id`,
    select: sql`c.user_id, c.entrance_id, c.visit, c.journey_id, c.attempts, c.host, c.request - 'headers' as request, c.created_at, c.due_at`,
    key: [
      { column: sql`c.user_id`, type: 'bigint' },
      { column: sql`c.entrance_id`, type: 'bigint' },
      { column: sql`c.visit`, type: 'integer' },
    ],
    pageRows: 50,
  })),
]

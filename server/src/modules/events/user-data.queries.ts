import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users. */
export const eventStores: UserStore[] = [
  userStore('events', 'events', ({ projectId }) => ({
    from: sql`events e`,
    where: sql`e.project_id = ${projectId}`,
    user: sql`e.user_id`,
    select: sql`e.user_id, e.name, e.data, coalesce(e.source, 'api') as source, e.created_at, e.received_at, e.journey_id, e.entrance_id`,
    key: [
      { column: sql`e.user_id`, type: 'bigint' },
      { column: sql`e.created_at`, type: 'timestamptz' },
      { column: sql`e.seq`, type: 'bigint' },
    ],
    pageRows: 100,
  })),
]

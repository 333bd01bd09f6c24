import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users, except the times of events, which `events` have. */
export const listStores: UserStore[] = [
  userStore('lists', 'list_memberships', ({ projectId }) => ({
    from: sql`list_memberships m join list_versions v on v.project_id = m.project_id and v.id = m.version_id`,
    where: sql`m.project_id = ${projectId}`,
    user: sql`m.user_id`,
    select: sql`m.user_id, v.list_id, m.is_member, m.changed_at`,
    key: [
      { column: sql`m.user_id`, type: 'bigint' },
      { column: sql`m.version_id`, type: 'bigint' },
    ],
  })),
]

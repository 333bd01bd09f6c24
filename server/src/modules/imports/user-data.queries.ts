import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users: what imports changed, for 24 hours. */
export const importStores: UserStore[] = [
  userStore('imports', 'import_changes', ({ projectId }) => ({
    from: sql`import_changes c`,
    where: sql`c.project_id = ${projectId}`,
    user: sql`c.user_id`,
    select: sql`c.import_id, c.user_id, c.is_new, c.before, c.after, c.joined, c.subscription_ids, c.at`,
    key: [
      { column: sql`c.import_id`, type: 'bigint' },
      { column: sql`c."position"`, type: 'bigint' },
      { column: sql`c.no`, type: 'integer' },
    ],
    pageRows: 100,
  })),
]

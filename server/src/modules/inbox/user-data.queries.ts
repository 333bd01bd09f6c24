import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users. */
export const inboxStores: UserStore[] = [
  userStore('inbox', 'inbox_messages', ({ projectId }) => ({
    from: sql`inbox_messages i`,
    where: sql`i.project_id = ${projectId}`,
    user: sql`i.user_id`,
    select: sql`i.id, i.user_id, i.campaign_id, i.content, i.created_at, i.expires_at, i.seen_at, i.read_at, i.clicked_at, i.archived_at`,
    key: [{ column: sql`i.id`, type: 'bigint' }],
    pageRows: 20,
  })),
]

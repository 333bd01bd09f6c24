import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** What this module stores about users. Erasing keeps the rows of messages for the counts of campaigns, without what is personal. */
export const messageStores: UserStore[] = [
  userStore('messages', 'messages', ({ projectId }) => ({
    from: sql`messages m`,
    where: sql`m.project_id = ${projectId} and not m.is_erased`,
    user: sql`m.user_id`,
    select: sql`m.id, m.user_id, m.campaign_id, m.journey_id, m.step, m.channel, m.recipient, m.state, m.reason, m.detail, m.event, m.variant,
      m.provider, m.provider_message_id, m.attempts, m.consent_id, m.created_at, m.due_at, m.expires_at, m.settled_at, m.opened_at, m.clicked_at`,
    key: [{ column: sql`m.id`, type: 'bigint' }],
    pageRows: 100,
  })),
  userStore('sandbox_messages', 'sandbox_messages', ({ projectId }) => ({
    from: sql`sandbox_messages s`,
    where: sql`s.project_id = ${projectId}`,
    user: sql`s.user_id`,
    select: sql`s.id, s.user_id, s.campaign_id, s.channel, s.recipient, s.summary, s.content, s.created_at`,
    key: [{ column: sql`s.id`, type: 'bigint' }],
    pageRows: 20,
  })),
]

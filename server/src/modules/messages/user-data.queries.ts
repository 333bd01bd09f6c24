import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'

const ofUsers = (projectId: ProjectId, ids: UserId[]) =>
  sql`select s.id, s.user_id as owner, s.user_id, s.campaign_id, s.channel, s.recipient, s.summary, s.content, s.created_at
      from sandbox_messages s where s.project_id = ${projectId} and s.user_id = any(${ids}::bigint[])`

/** What applications submitted to the addresses of users, each once and without its other recipients. */
const submitted = (projectId: ProjectId, ids: UserId[]) =>
  sql`select s.id, own.user_id, null, s.campaign_id, s.channel, own.recipient, s.summary,
             s.content || jsonb_build_object('to', own.recipient), s.created_at
      from sandbox_messages s
      cross join lateral (
        select min(u.id) as user_id, string_agg(distinct r.address, ', ') as recipient
        from unnest(string_to_array(s.recipient, ', ')) as r(address)
        join users u on u.project_id = ${projectId} and u.id = any(${ids}::bigint[]) and lower(u.email) = lower(r.address)
      ) own
      where s.project_id = ${projectId} and s.user_id is null and own.user_id is not null`

/** What this module stores about users. Erasing keeps the rows of messages for the counts of campaigns, without what is personal. */
export const messageStores: UserStore[] = [
  userStore('messages', 'messages', ({ projectId }) => ({
    // One request and one content at most for each message.
    from: sql`messages m
      left join message_requests r on m.is_requested and r.project_id = m.project_id and r.message_id = m.id
      left join message_contents c on c.project_id = r.project_id and c.id = r.content_id`,
    where: sql`m.project_id = ${projectId} and not m.is_erased`,
    user: sql`m.user_id`,
    select: sql`m.id, m.user_id, m.campaign_id, m.journey_id, m.step, m.channel, m.recipient, m.state, m.reason, m.detail, m.event, m.variant,
      m.provider, m.provider_message_id, m.attempts, m.consent_id, m.created_at, m.due_at, m.expires_at, m.settled_at, m.opened_at, m.clicked_at,
      r.key, r.headers, c.data as content`,
    key: [{ column: sql`m.id`, type: 'bigint' }],
    pageRows: 100,
  })),
  userStore('message_attachments', 'message_attachments', ({ projectId }) => ({
    from: sql`message_attachments a join messages m on m.project_id = a.project_id and m.id = a.message_id`,
    where: sql`a.project_id = ${projectId} and not m.is_erased`,
    user: sql`m.user_id`,
    select: sql`a.message_id, m.user_id, a.position, a.name, a.content_type, a.content_id, encode(a.content, 'base64') as content`,
    key: [
      { column: sql`a.message_id`, type: 'bigint' },
      { column: sql`a.position`, type: 'integer' },
    ],
    pageRows: 1,
  })),
  userStore('sandbox_messages', 'sandbox_messages', ({ projectId }, ids) => ({
    from: sql`(${ofUsers(projectId, ids)} union all ${submitted(projectId, ids)}) s`,
    where: sql`true`,
    user: sql`s.owner`,
    select: sql`s.id, s.user_id, s.campaign_id, s.channel, s.recipient, s.summary, s.content, s.created_at`,
    key: [{ column: sql`s.id`, type: 'bigint' }],
    pageRows: 20,
  })),
]

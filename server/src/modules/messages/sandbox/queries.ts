import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { likePattern } from '../../../infra/http/search.ts'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId, MessageId, UserId } from '../../../lib/ids.ts'
import { IdOf, Nullable } from '../../../lib/shapes.ts'
import { storable } from '../../../lib/text.ts'
import type { Rendered } from '../../channels/index.ts'
import { idsToErase } from '../../users/index.ts'
import { SandboxMessageRow, SandboxMessageWholeRow, type SandboxQuery } from './schema.ts'

export type NewSandboxMessage = Rendered & {
  id: MessageId
  user_id: UserId
  campaign_id: CampaignId
  /** Those that a provider of email would have got. */
  headers: Record<string, string> | null
  /** The template, if it has attachments. */
  template_id: number | null
}

/** Stores sandbox messages, whatever characters Liquid made. */
export const insertSandboxMessages = (ctx: InTx, messages: NewSandboxMessage[]) =>
  ctx.db.run(
    sql`insert into sandbox_messages (id, project_id, user_id, campaign_id, channel, recipient, summary, content, headers, template_id, created_at)
        select c.id, ${ctx.projectId}, c.user_id, c.campaign_id, c.channel, c.recipient, c.summary, c.content, c.headers, c.template_id, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(storable(messages))}::jsonb)
             as c(id bigint, user_id bigint, campaign_id bigint, channel text, recipient text, summary text, content jsonb, headers jsonb,
                  template_id bigint)`,
  )

/** An email that was submitted over SMTP, as it came. */
export type SubmittedSandboxMessage = {
  id: MessageId
  recipient: string
  summary: string
  content: Record<string, unknown>
  source: Buffer
}

/** Stores an email that was submitted over SMTP. It belongs to no user and no campaign. */
export const insertSubmittedSandboxMessage = (ctx: InTx, { id, recipient, summary, content, source }: SubmittedSandboxMessage) =>
  ctx.db.run(
    sql`insert into sandbox_messages (id, project_id, channel, recipient, summary, content, source, created_at)
        values (${id}, ${ctx.projectId}, 'email', ${recipient}, ${summary}, ${JSON.stringify(content)}::jsonb, ${source}, ${ctx.clock.now()})`,
  )

/** Deletes the sandbox messages of users. Run it after their messages are locked, so that it sees those that senders stored meanwhile. */
export const eraseSandboxMessages = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(sql`delete from sandbox_messages where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])`)

/** Deletes the sandbox messages that were submitted to these addresses, in lower case, until then. */
export const eraseSubmittedSandboxMessages = (ctx: InTx, addresses: string[], until: Date) =>
  ctx.db.run(
    sql`delete from sandbox_messages
        where project_id = ${ctx.projectId} and user_id is null and created_at <= ${until}
          and string_to_array(lower(recipient), ', ') && ${addresses}::text[]`,
  )

const columns = sql`id, channel, campaign_id, user_id, recipient, summary, created_at`

export const sandboxListing = listing({
  resource: 'sandbox-messages',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`recipient`, sql`summary`, sql`channel`],
  searchedFields: 'recipient, summary, channel',
})

/** Submitted email is of no user. */
const isKept = (ctx: ProjectCtx) => sql`(user_id is null or user_id not in ${idsToErase(ctx)})`

const when = (value: unknown, condition: Sql): Sql => (value === undefined ? sql`true` : condition)

type Tagged = { campaigns: CampaignId[]; journeys: JourneyId[] }

/** Without messages of users who are being erased. `tagged` leaves only messages of these campaigns and journeys. */
export const listSandboxMessages = (
  ctx: ProjectCtx,
  page: PageRequest,
  query: Omit<SandboxQuery, 'tag'>,
  tagged: Tagged | null,
): Promise<PageOf<SandboxMessageRow>> => {
  const { to, subject, channel, campaign_id, has_attachment, has_link } = query
  // The pixel that counts opens is an address too, so HTML has to have an element that leads somewhere.
  const linked = sql`(coalesce(content->>'html', '') ~* '<a[[:space:]][^>]*href'
    or concat_ws(' ', content->>'text', content->>'body', content->>'url', content->>'action_url') ~* 'https?://')`
  // A submitted email has its files within itself.
  const attached = sql`(template_id is not null or content @> '{"has_attachments": true}'
    or exists (select from message_attachments a where a.project_id = ${ctx.projectId} and a.message_id = sandbox_messages.id))`
  const isTagged =
    tagged &&
    sql`(campaign_id = any(${tagged.campaigns}::bigint[])
      or exists (select from messages m where m.project_id = ${ctx.projectId} and m.id = sandbox_messages.id and m.journey_id = any(${tagged.journeys}::bigint[])))`
  return pageOf(ctx, SandboxMessageRow, sandboxListing, page, {
    select: columns,
    from: sql`sandbox_messages`,
    where: sql`project_id = ${ctx.projectId} and ${isKept(ctx)} and ${when(to, sql`recipient ilike ${likePattern(to ?? '')}`)}
      and ${when(subject, sql`summary ilike ${likePattern(subject ?? '')}`)} and ${when(channel, sql`channel = ${channel}`)}
      and ${when(campaign_id, sql`campaign_id = ${Number(campaign_id)}`)}
      and ${isTagged ?? sql`true`}
      and ${when(has_attachment, has_attachment === 'true' ? attached : sql`not ${attached}`)}
      and ${when(has_link, has_link === 'true' ? linked : sql`not ${linked}`)}`,
  })
}

/** A sandbox message, unless its user is being erased. */
export const findSandboxMessage = (ctx: ProjectCtx, id: MessageId) =>
  ctx.db.first(
    SandboxMessageWholeRow,
    sql`select ${columns}, content, headers, encode(source, 'base64') as source, template_id,
               (select m.created_at from messages m where m.project_id = ${ctx.projectId} and m.id = ${id}) as made_at
        from sandbox_messages
        where project_id = ${ctx.projectId} and id = ${id} and ${isKept(ctx)}`,
  )

/** Deletes all sandbox messages of the project, with their attachments. */
export const deleteSandboxMessages = (ctx: ProjectCtx) =>
  ctx.db.run(
    sql`with deleted as (delete from sandbox_messages where project_id = ${ctx.projectId} returning id)
        delete from message_attachments where project_id = ${ctx.projectId} and message_id in (select id from deleted)`,
  )

const Latest = Type.Object({ id: Nullable(IdOf<MessageId>()) })

/** The newest message that the sandbox captured; null when it is empty. */
export const latestInSandbox = async (ctx: ProjectCtx): Promise<MessageId | null> =>
  (await ctx.db.first(Latest, sql`select max(id) as id from sandbox_messages where project_id = ${ctx.projectId}`))?.id ?? null

import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId, KeyId, MessageId, UserId } from '../../../lib/ids.ts'
import { type Channel, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { mailsToSite } from '../../mta/index.ts'
import { idsToErase } from '../../users/index.ts'
import { MESSAGE_STATES, type MessageState } from '../schema.ts'
import { MessageRow } from './schema.ts'

export const messageListing = listing({
  resource: 'messages',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`coalesce(recipient, '')`, sql`coalesce(reason, '')`],
  searchedFields: 'recipient, reason',
})

const columns = sql`id, user_id, campaign_id, journey_id, channel, variant, state, reason, detail, recipient, provider, attempts, is_erased, is_requested, resent_from,
  acted_at, created_at, due_at, expires_at, settled_at, opened_at, clicked_at`

/** What messages are filtered by. `sentBy` is the key whose messages are shown. */
export type MessageFilter = {
  userIds: UserId[] | undefined
  campaignId: CampaignId | undefined
  journeyId: JourneyId | undefined
  state: MessageState | undefined
  reason: string | undefined
  channel: Channel | undefined
  provider: string | undefined
  domain: string | undefined
  site: string | undefined
  since: Date | undefined
  until: Date | undefined
  sentBy: KeyId | null
}

const when = (value: unknown, condition: Sql): Sql => (value === undefined ? sql`true` : condition)

const isSentBy = (ctx: ProjectCtx, key: KeyId | null): Sql =>
  key === null ? sql`true` : sql`id in (select message_id from message_requests where project_id = ${ctx.projectId} and sent_by = ${key})`

/** A search or a domain finds no message of a user who is being erased, whose address it would tell. */
export const listMessages = (ctx: ProjectCtx, page: PageRequest, filter: MessageFilter): Promise<PageOf<MessageRow>> => {
  const { userIds, campaignId, journeyId, state, reason, channel, provider, domain, site, since, until, sentBy } = filter
  return pageOf(ctx, MessageRow, messageListing, page, {
    select: columns,
    from: sql`messages`,
    where: sql`project_id = ${ctx.projectId} and ${when(userIds, sql`user_id = any(${userIds ?? []}::bigint[])`)} and ${when(campaignId, sql`campaign_id = ${campaignId}`)}
      and ${when(journeyId, sql`journey_id = ${journeyId}`)} and ${when(state, sql`state = ${state}`)} and ${when(reason, sql`reason = ${reason}`)}
      and ${when(channel, sql`channel = ${channel}`)} and ${when(since, sql`created_at >= ${since}`)} and ${when(until, sql`created_at < ${until}`)}
      and ${when(provider, sql`provider = ${provider}`)} and ${when(domain, sql`channel = 'email' and lower(split_part(recipient, '@', -1)) = ${domain}`)}
      and ${when(site, sql`id in (${mailsToSite(ctx, site ?? '')})`)} and ${isSentBy(ctx, sentBy)} and ${when(page.q || domain || undefined, sql`user_id not in ${idsToErase(ctx)}`)}`,
  })
}

/** A message; with a key, only if this key sent it. */
export const findMessage = (ctx: ProjectCtx, id: MessageId, sentBy: KeyId | null) =>
  ctx.db.first(
    MessageRow,
    sql`select ${columns} from messages where project_id = ${ctx.projectId} and id = ${id} and ${isSentBy(ctx, sentBy)}`,
  )

const LeftState = Type.Object({
  state: OneOf(MESSAGE_STATES),
  reason: Nullable(Type.String()),
  detail: Nullable(Type.String()),
  at: Instant,
})

const STATES_MAX = 100

/** The states that a message has left, in order. */
export const leftStates = (ctx: ProjectCtx, id: MessageId) =>
  ctx.db.many(
    LeftState,
    sql`select state, reason, detail, at from message_states
        where project_id = ${ctx.projectId} and message_id = ${id}
        order by id
        limit ${STATES_MAX}`,
  )

const Latest = Type.Object({ id: Nullable(IdOf<MessageId>()) })

/** The newest message of the project; null before the first. */
export const latestMessage = async (ctx: ProjectCtx): Promise<MessageId | null> =>
  (await ctx.db.first(Latest, sql`select max(id) as id from messages where project_id = ${ctx.projectId}`))?.id ?? null

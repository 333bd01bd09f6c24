import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, ConsentId, JourneyId, MessageId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable, OneOf } from '../../lib/shapes.ts'
import { MESSAGE_STATES, type MessageState } from './schema.ts'

/** A message of a campaign to a user, for the listing of recipients. */
export const Recipient = Type.Object({
  id: IdOf<MessageId>(),
  user_id: IdOf<UserId>(),
  journey_id: Nullable(IdOf<JourneyId>()),
  state: OneOf(MESSAGE_STATES),
  reason: Nullable(Type.String()),
  detail: Nullable(Type.String()),
  cause: Type.String(),
  variant: Nullable(Type.Integer()),
  attempts: Type.Integer(),
  recipient: Nullable(Type.String()),
  provider: Nullable(Type.String()),
  consent_id: Nullable(IdOf<ConsentId>()),
  due_at: Instant,
  expires_at: Nullable(Instant),
  created_at: Instant,
  settled_at: Nullable(Instant),
  opened_at: Nullable(Instant),
  clicked_at: Nullable(Instant),
})
export type Recipient = Static<typeof Recipient>

const columns = sql`id, user_id, journey_id, state, reason, detail, cause, variant, attempts, recipient, provider, consent_id, due_at, expires_at, created_at,
  settled_at, opened_at, clicked_at`

export const recipientListing = listing({
  resource: 'recipients',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'asc',
  search: [sql`state`, sql`coalesce(reason, '')`],
  searchedFields: 'state, reason',
})

/** A page of the messages of a campaign; with a state, only those in it. */
export const recipientsOf = (
  ctx: ProjectCtx,
  campaignId: CampaignId,
  page: PageRequest,
  { state }: { state?: MessageState | undefined },
): Promise<PageOf<Recipient>> =>
  pageOf(ctx, Recipient, recipientListing, page, {
    select: columns,
    from: sql`messages`,
    where: sql`project_id = ${ctx.projectId} and campaign_id = ${campaignId} and ${state === undefined ? sql`true` : sql`state = ${state}`}`,
  })

const MESSAGES_MAX = 100

/** The messages of a campaign to a user, newest first. Those of users who were merged into it may have stayed with their ids. */
export const messagesOf = (ctx: ProjectCtx, campaignId: CampaignId, idsOfUser: UserId[]) =>
  ctx.db.many(
    Recipient,
    sql`select ${columns} from messages
        where project_id = ${ctx.projectId} and user_id = any(${idsOfUser}::bigint[]) and campaign_id = ${campaignId}
        order by id desc
        limit ${MESSAGES_MAX}`,
  )

const Found = Type.Object({ id: IdOf<MessageId>() })

/** The message that a cause made for a user. */
export const messageOfCause = (ctx: ProjectCtx, userId: UserId, cause: string) =>
  ctx.db.first(Found, sql`select id from messages where project_id = ${ctx.projectId} and user_id = ${userId} and cause = ${cause}`)

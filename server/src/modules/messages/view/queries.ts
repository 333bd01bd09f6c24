import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, IdOf, Nullable, OneOf } from '../../../lib/shapes.ts'
import type { TriggeringEvent } from '../schema.ts'

const ViewedMessage = Type.Object({
  id: IdOf<MessageId>(),
  user_id: IdOf<UserId>(),
  campaign_id: IdOf<CampaignId>(),
  channel: OneOf(CHANNELS),
  variant: Nullable(Type.Integer()),
  event: Nullable(Type.Unsafe<TriggeringEvent>({ type: 'object' })),
  is_requested: Type.Boolean(),
})

const RecipientRow = Type.Object({ recipient: Nullable(Type.String()) })

/** The address that a message went to; null if it is no longer known. */
export const findRecipient = async (ctx: ProjectCtx, id: MessageId): Promise<string | null> =>
  (await ctx.db.first(RecipientRow, sql`select recipient from messages where project_id = ${ctx.projectId} and id = ${id}`))?.recipient ??
  null

/** A message of a user who is not erased. */
export const findViewed = (ctx: ProjectCtx, id: MessageId) =>
  ctx.db.first(
    ViewedMessage,
    sql`select id, user_id, campaign_id, channel, variant, event, is_requested from messages
        where project_id = ${ctx.projectId} and id = ${id} and not is_erased`,
  )

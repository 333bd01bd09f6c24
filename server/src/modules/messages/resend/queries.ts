import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import { IdOf, Nullable } from '../../../lib/shapes.ts'
import { FinishedMessage } from './schema.ts'

/** A message, and whether its request had redacted values or files. */
export const findFinished = (ctx: ProjectCtx | InTx, id: MessageId) =>
  ctx.db.first(
    FinishedMessage,
    sql`select m.user_id, m.campaign_id, m.channel, m.state, m.variant, m.event, m.is_requested, m.expires_at, m.created_at, r.expires_after_minutes,
               coalesce(cardinality(r.redact) > 0, false) as has_redacted, coalesce(r.attachments > 0, false) as has_files
        from messages m
        left join message_requests r on m.is_requested and r.project_id = m.project_id and r.message_id = m.id
        where m.project_id = ${ctx.projectId} and m.id = ${id}`,
  )

const CopiedRow = Type.Object({ content_id: Nullable(IdOf<number>()) })

/** Copies the request of a message to another one, without its key, redacted values and files. Undefined if it was deleted meanwhile. */
export const copyRequest = (ctx: InTx, from: MessageId, to: MessageId) =>
  ctx.db.first(
    CopiedRow,
    sql`insert into message_requests (project_id, message_id, fingerprint, sent_by, locale, content_id, headers, expires_after_minutes, created_at)
        select project_id, ${to}, fingerprint, sent_by, locale, content_id, headers, expires_after_minutes, ${ctx.clock.now()}
        from message_requests
        where project_id = ${ctx.projectId} and message_id = ${from}
        returning content_id`,
  )

type Renewed = { id: CampaignId; expires_after_hours: number }

/**
 * Queues the messages again that were sent again by hand and withdrawn because their campaign got another time, which has come. They live as long as
 * before, or as the campaign says if that is shorter: the wait for a time before is not counted. Returns how many.
 */
export const renewResent = (ctx: InTx, { id, expires_after_hours }: Renewed): Promise<number> =>
  ctx.db.run(
    sql`update messages
        set state = 'queued', reason = null, detail = null, due_at = ${ctx.clock.now()},
            expires_at = case when expires_at is not null
              then ${ctx.clock.now()}::timestamptz + least(expires_at - created_at, make_interval(hours => ${expires_after_hours}::int)) end,
            settled_at = null, acted_at = null, attempts = 0, is_held = false
        where project_id = ${ctx.projectId} and -campaign_id = ${-id} and state = 'aborted' and reason = 'rescheduled'
          and resent_from is not null and not is_erased`,
  )

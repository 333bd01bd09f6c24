import { type Static, Type } from 'typebox'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { leaseEnd } from '../../../infra/runtime/lease-time.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import { Count, Flag, IdOf } from '../../../lib/shapes.ts'
import type { Pause } from './pauses.queries.ts'
import { claimedMail, withKeysOf } from './queries.ts'
import { ClaimedRecipient } from './schema.ts'

/** Which waiting recipients: those of these emails, of a campaign, at a site, at a domain. All conditions hold. */
export type MailFilter = { message_ids?: MessageId[]; campaign_id?: CampaignId; site?: string; domain?: string }

const when = (value: unknown, condition: Sql): Sql => (value === undefined ? sql`true` : condition)

/** That a waiting recipient is among those of a filter. */
const isAmong = (ctx: ProjectCtx | InTx, { message_ids, campaign_id, site, domain }: MailFilter) =>
  sql`project_id = ${ctx.projectId} and state = 'queued' and ${when(message_ids, sql`mail_id = any(${message_ids ?? []}::bigint[])`)}
      and ${when(campaign_id, sql`campaign_id = ${campaign_id}`)} and ${when(site, sql`site = ${site}`)}
      and ${when(domain, sql`domain = ${domain}`)}`

/**
 * Takes waiting recipients to cancel them, held ones included: no process delivers to them meanwhile. Waits for those that are being changed,
 * so that none is left out.
 */
export const claimToCancel = (ctx: InTx, filter: MailFilter, limit: number, leaseUntil: Date) =>
  ctx.db.many(
    ClaimedRecipient,
    sql`with taken as materialized (
          select mail_id, no, gen_random_uuid() as token from mail_recipients
          where ${isAmong(ctx, filter)}
          order by mail_id, no
          limit ${limit}
          for update
        )
        update mail_recipients r
        set state = 'claimed', attempts = r.attempts + 1, lease_token = taken.token, lease_until = ${leaseEnd(ctx, leaseUntil)}
        from taken
        where ${withKeysOf(ctx, sql`taken`)}
        returning ${claimedMail}`,
  )

/** Whether email of a campaign waits or is being delivered. One statement, so that none changes from one to the other unseen. */
export const hasUnfinishedMail = (ctx: InTx, campaignId: CampaignId): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select 1 from mail_recipients where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and state = 'queued')
            or exists (select 1 from mail_recipients where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and state = 'claimed')
               as has_unfinished`,
  )

/** The number of emails of a campaign that processes have claimed to deliver them. */
export const countClaimed = (ctx: ProjectCtx | InTx, campaignId: CampaignId): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(distinct mail_id) as count from mail_recipients
        where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and state = 'claimed'`,
  )

/** How many recipients a statement found and changed, and the last of them: the next statement continues behind it. */
const ChangedRecipients = Type.Object({ found: Count, changed: Count, mail_id: IdOf<MessageId>(), no: Type.Integer() })

/** Where a statement begins, and how many recipients it changes at most. */
type Reach = { limit: number; behind?: Pick<Static<typeof ChangedRecipients>, 'mail_id' | 'no'> | undefined }

/**
 * Changes the next waiting recipients in the order of their keys, and waits for those that are being changed. Returns nothing if there is
 * none. They are a range of keys, because with a join PostgreSQL may compare each with each.
 */
const changeNext = (ctx: InTx, filter: MailFilter, { limit, behind }: Reach, condition: Sql, change: Sql) => {
  const isNext = sql`${condition} and ${when(behind, sql`(mail_id, no) > (${behind?.mail_id ?? 0}, ${behind?.no ?? 0})`)}`
  return ctx.db.first(
    ChangedRecipients,
    sql`with next as materialized (
          select mail_id, no from mail_recipients where ${isAmong(ctx, filter)} and ${isNext} order by mail_id, no limit ${limit}
        ), ended as materialized (
          select mail_id, no from next order by mail_id desc, no desc limit 1
        ), changed as (
          update mail_recipients set ${change}
          where ${isAmong(ctx, filter)} and ${isNext} and (mail_id, no) <= ((select mail_id from ended), (select no from ended))
          returning 1
        )
        select (select count(*) from next) as found, (select count(*) from changed) as changed, mail_id, no from ended`,
  )
}

/** Makes waiting recipients due now, held ones excepted. */
export const makeDue = (ctx: InTx, filter: MailFilter, reach: Reach) =>
  changeNext(ctx, filter, reach, sql`not is_held and due_at > ${ctx.clock.now()}`, sql`due_at = ${ctx.clock.now()}`)

/** Returns held recipients to the queue. If another pause applies, they are held again. */
export const releaseHeld = (ctx: InTx, filter: MailFilter, reach: Reach) =>
  changeNext(ctx, filter, reach, sql`is_held`, sql`is_held = false, due_at = ${ctx.clock.now()}`)

export const insertPause = (ctx: InTx, { scope, value }: Pause) =>
  ctx.db.run(
    sql`insert into mail_pauses (project_id, scope, value, created_at) values (${ctx.projectId}, ${scope}, ${value}, ${ctx.clock.now()})
        on conflict do nothing`,
  )

export const deletePause = (ctx: InTx, { scope, value }: Pause) =>
  ctx.db.run(sql`delete from mail_pauses where project_id = ${ctx.projectId} and scope = ${scope} and value = ${value}`)

/** Removes personal data from the emails of these messages, and cancels those that are waiting. */
export const eraseMail = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.run(
    sql`with erased as (
          update mail_messages set content = null, completed_at = coalesce(completed_at, ${ctx.clock.now()})
          where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])
        )
        update mail_recipients
        set address = '', history = '[]', is_held = false,
            finished_at = case when state = 'queued' then ${ctx.clock.now()}::timestamptz else finished_at end,
            state = case when state = 'queued' then 'cancelled' else state end
        where project_id = ${ctx.projectId} and mail_id = any(${ids}::bigint[])`,
  )

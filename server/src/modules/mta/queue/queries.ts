import { type Static, Type } from 'typebox'
import { fence, type Sql, sql } from '../../../infra/postgres/db.ts'
import { firstOfEach } from '../../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { leaseEnd, leaseNow, ownTimeOf } from '../../../infra/runtime/lease-time.ts'
import type { MessageId, ProjectId } from '../../../lib/ids.ts'
import { Flag, IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import type { MailPriority } from '../shaping/retries.ts'
import { ClaimedRecipient, MailRow, type NewMail, type RecipientResult } from './schema.ts'

/**
 * Inserts emails. They are passed as arrays rather than JSON, because contents are large. A completed email with the same id is replaced:
 * one that was cancelled may be sent again.
 */
export const insertMails = (ctx: InTx, mails: NewMail[]) =>
  ctx.db.run(
    sql`insert into mail_messages as m (project_id, id, source, priority, campaign_id, journey_id, key_id, mail_from, return_domain, rfc_message_id,
                                        size, recipients, needs_smtp_utf8, needs_8bit, envelope_id, returns, content, is_deflated, created_at,
                                        retry_minutes, expires_at)
        select ${ctx.projectId}, n.id, n.source, n.priority, n.campaign_id, n.journey_id, n.key_id, n.mail_from, n.return_domain, n.rfc_message_id,
               n.size, n.recipients, n.needs_smtp_utf8, n.needs_8bit, n.envelope_id, n.returns, decode(n.content, 'base64'), true, ${ctx.clock.now()},
               string_to_array(n.retry_minutes, ',')::integer[], n.expires_at
        from unnest(${mails.map(({ id }) => id)}::bigint[], ${mails.map(({ source }) => source)}::text[], ${mails.map(({ priority }) => priority)}::smallint[],
                    ${mails.map(({ campaign_id }) => campaign_id)}::bigint[], ${mails.map(({ journey_id }) => journey_id)}::bigint[],
                    ${mails.map(({ key_id }) => key_id)}::bigint[], ${mails.map(({ mail_from }) => mail_from)}::text[],
                    ${mails.map(({ return_domain }) => return_domain)}::text[], ${mails.map(({ rfc_message_id }) => rfc_message_id)}::text[],
                    ${mails.map(({ content }) => content.size)}::int[], ${mails.map(({ to }) => to.length)}::smallint[],
                    ${mails.map(({ needs_smtp_utf8 }) => needs_smtp_utf8)}::boolean[], ${mails.map(({ needs_8bit }) => needs_8bit)}::boolean[],
                    ${mails.map(({ reports }) => reports?.envelope_id)}::text[], ${mails.map(({ reports }) => reports?.returns)}::text[],
                    ${mails.map(({ content }) => content.deflated.toString('base64'))}::text[],
                    ${mails.map(({ retry_minutes }) => retry_minutes?.join(','))}::text[], ${mails.map(({ expires_at }) => expires_at)}::timestamptz[])
             as n(id, source, priority, campaign_id, journey_id, key_id, mail_from, return_domain, rfc_message_id, size, recipients, needs_smtp_utf8,
                  needs_8bit, envelope_id, returns, content, retry_minutes, expires_at)
        on conflict (project_id, id) do update
        set content = excluded.content, is_deflated = true, size = excluded.size, mail_from = excluded.mail_from, return_domain = excluded.return_domain,
            rfc_message_id = excluded.rfc_message_id, needs_smtp_utf8 = excluded.needs_smtp_utf8, needs_8bit = excluded.needs_8bit,
            created_at = excluded.created_at, retry_minutes = excluded.retry_minutes, expires_at = excluded.expires_at,
            recipients = excluded.recipients, completed_at = null
        where m.completed_at is not null`,
  )

/**
 * Without `no`, the recipients of an email count from 0, in order. Of an email that is sent again, those that were cancelled begin anew, and
 * its user whatever happened, because something must be pending. Their history stays.
 */
export const insertRecipients = (ctx: InTx, mails: NewMail[]) => {
  const rows = mails.flatMap(({ to, id, priority, campaign_id, content, reports }) =>
    to.map((address, no) => {
      const { notify, original_recipient } = reports?.recipients[no] ?? NO_REPORTS
      return { id, no, priority, campaign_id, size: content.size, address, domain: domainOf(address), notify, original_recipient }
    }),
  )
  return ctx.db.run(
    sql`insert into mail_recipients (project_id, mail_id, no, priority, campaign_id, size, address, domain, notify, original_recipient, due_at,
                                     created_at)
        select ${ctx.projectId}, n.id, n.no, n.priority, n.campaign_id, n.size, n.address, n.domain, string_to_array(n.notify, ','), n.original_recipient,
               ${ctx.clock.now()}, ${ctx.clock.now()}
        from unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map(({ no }) => no)}::smallint[], ${rows.map(({ priority }) => priority)}::smallint[],
                    ${rows.map(({ campaign_id }) => campaign_id)}::bigint[], ${rows.map(({ size }) => size)}::int[],
                    ${rows.map(({ address }) => address)}::text[], ${rows.map(({ domain }) => domain)}::text[],
                    ${rows.map(({ notify }) => notify?.join(','))}::text[],
                    ${rows.map(({ original_recipient }) => original_recipient)}::text[])
             as n(id, no, priority, campaign_id, size, address, domain, notify, original_recipient)
        on conflict (project_id, mail_id, no) do update
        set state = 'queued', address = excluded.address, domain = excluded.domain, size = excluded.size, site = null, due_at = excluded.due_at,
            is_held = false, attempts = 0, created_at = excluded.created_at, finished_at = null
        where mail_recipients.state = 'cancelled' or (mail_recipients.no = 0 and mail_recipients.state in ('failed', 'expired'))`,
  )
}

const NO_REPORTS = { notify: null, original_recipient: null }

/** The domain of an address, in lower case. */
const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

const isDue = sql`state = 'queued' and not is_held`
const isHeld = sql`state = 'queued' and is_held`

/** The projects with email of a priority, as a table `waiting`, with the time of their next one. */
const waitingProjects = (priority: MailPriority) =>
  firstOfEach('waiting', {
    table: sql`mail_recipients`,
    keys: ['project_id'],
    order: ['due_at'],
    where: sql`${isDue} and priority = ${priority}`,
  })

const WaitingProject = Type.Object({ project_id: IdOf<ProjectId>(), due_at: Instant })

/** The projects with email that waits, and when their next one is due, the earliest first. */
export const projectsWithMail = (ctx: Ctx, priority: MailPriority, limit: number) =>
  ctx.db.many(
    WaitingProject,
    sql`with recursive ${waitingProjects(priority)}
        select project_id, due_at from waiting order by due_at, project_id limit ${limit}`,
  )

/** When the next email of a priority is due. */
export const nextMailAt = (ctx: Ctx, priority: MailPriority): Promise<Date | null> =>
  ctx.db.value(Nullable(Instant), sql`with recursive ${waitingProjects(priority)} select min(due_at) as due_at from waiting`)

/** Locked rows `r`, read where they lie. Leaves out what was changed since the statement began, so it is for statements that are run again. */
const among = (rows: Sql) => sql`r.ctid = any(array(select tid from ${rows}))`

/** Whether the last attempt in the history of `r` left it open, and is followed by another one: if `r` is sent again after its end, it begins anew. */
const wasOpen = sql`r.history->-1->>'outcome' in ('deferred', 'uncertain')`
const isRetried = sql`(${wasOpen} and r.attempts > 1)`

/** What a process reads of a recipient `r` that it claims. Numbers of attempts go on when an email is sent again; a cancellation used none. */
export const claimedMail = sql`r.project_id, r.mail_id, r.no, r.address, r.domain, r.site, r.campaign_id, r.size, r.attempts, r.due_at, r.notify,
                  r.original_recipient, r.lease_token, greatest(r.attempts, (r.history->-1->>'attempt')::integer + (r.history->-1->>'outcome' <> 'cancelled')::integer) as attempt,
                  case when ${isRetried} then (r.history->-1->>'at')::timestamptz end as last_attempt_at,
                  case when ${isRetried} then coalesce(r.history->-1->>'response', r.history->-1->>'detail') end as last_error,
                  coalesce(${isRetried} and r.history->-1 ? 'sender_refused', false) as was_sender_refused,
                  coalesce(${isRetried} and jsonb_path_exists(r.history, '$[*].response'), false) as was_answered`

/** How many recipients to claim of a project. */
export type MailShare = { project_id: ProjectId; limit: number }

/** Claims recipients that are due: no other process delivers to them before the lease ends. Each project has its own lease. */
export const claimMail = (ctx: Ctx, priority: MailPriority, shares: MailShare[], leaseUntil: Date) =>
  ctx.db.many(
    ClaimedRecipient,
    sql`with queues as materialized (
          select project_id, share, gen_random_uuid() as token
          from unnest(${shares.map(({ project_id }) => project_id)}::bigint[], ${shares.map(({ limit }) => limit)}::integer[]) as q(project_id, share)
        ), due as materialized (
          select r.tid
          from queues q
          cross join lateral (
            select ctid as tid from mail_recipients
            where ${isDue} and priority = ${priority} and project_id = q.project_id and due_at <= ${ctx.clock.now()}
            order by due_at, mail_id, no
            limit q.share
            for update skip locked
          ) r
        )
        update mail_recipients r
        set state = 'claimed', attempts = r.attempts + 1, lease_token = q.token, lease_until = ${leaseEnd(ctx, leaseUntil)}
        from queues q
        where ${among(sql`due`)} and r.project_id + 0 = q.project_id
        returning ${claimedMail}`,
  )

const Key = Type.Object({ mail_id: IdOf<MessageId>(), no: Type.Integer() })

/**
 * The recipients of these that are claimed under their leases, locked, as a table `held`. They are named by their keys: a row that another
 * transaction changed while this one waited for it, as a renewal does, lies elsewhere afterwards, where the statement does not see it.
 */
const held = (ctx: Pick<ProjectCtx, 'projectId'>, rows: readonly Pick<ClaimedRecipient, 'mail_id' | 'no' | 'lease_token'>[]) =>
  sql`held as materialized (
        select h.mail_id, h.no, h.place
        from unnest(${rows.map(({ mail_id }) => mail_id)}::bigint[], ${rows.map(({ no }) => no)}::smallint[],
                    ${rows.map(({ lease_token }) => lease_token)}::uuid[]) with ordinality as h(mail_id, no, token, place)
        cross join lateral (
          select state, lease_token from mail_recipients
          where project_id = ${ctx.projectId} and mail_id = h.mail_id and no = h.no ${fence}
          for update
        ) r
        where r.state = 'claimed' and r.lease_token = h.token
      )`

/**
 * A condition that rows `r` of a project have their keys in a table of locked rows. The ids of the emails are compared a second time, so
 * that the index is used.
 */
export const withKeysOf = (ctx: Pick<ProjectCtx, 'projectId'>, rows: Sql) =>
  sql`r.project_id = ${ctx.projectId} and r.mail_id = any(array(select mail_id from ${rows}))
      and r.mail_id = ${rows}.mail_id and r.no = ${rows}.no`

/** Extends leases. Returns the recipients that are still claimed. */
export const renewMailLeases = (ctx: ProjectCtx, rows: readonly ClaimedRecipient[], leaseUntil: Date) =>
  ctx.db.many(
    Key,
    sql`with ${held(ctx, rows)}
        update mail_recipients r set lease_until = ${leaseEnd(ctx, leaseUntil)} from held where ${withKeysOf(ctx, sql`held`)}
        returning r.mail_id, r.no`,
  )

/** Returns recipients whose process died to the queue. They may have got the email already: it is delivered at least once. */
export const releaseMailLeases = (ctx: Ctx, limit: number) =>
  ctx.db.run(
    sql`with ended as materialized (
          select ctid as tid from mail_recipients
          where state = 'claimed' and lease_until <= ${leaseNow(ctx)}
          order by lease_until
          limit ${limit}
          for update skip locked
        )
        update mail_recipients r set state = 'queued', lease_token = null, lease_until = null where ${among(sql`ended`)}`,
  )

/** When the next lease ends, unless it is renewed. */
export const nextMailLeaseEnd = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(
    Nullable(Instant),
    sql`select ${ownTimeOf(ctx, sql`lease_until`)} as lease_until
        from (select (select lease_until from mail_recipients where state = 'claimed' order by lease_until limit 1) as lease_until) next`,
  )

/** Returns held recipients whose time is over to the queue, so that they are given up. */
export const releaseExpired = (ctx: Ctx, limit: number) =>
  ctx.db.run(
    sql`with expired as materialized (
          select ctid as tid from mail_recipients
          where ${isHeld} and due_at <= ${ctx.clock.now()}
          order by due_at
          limit ${limit}
          for update skip locked
        )
        update mail_recipients r set is_held = false where ${among(sql`expired`)}`,
  )

/** When the time of the next held recipient is over. */
export const nextHeldExpiry = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(Nullable(Instant), sql`select (select due_at from mail_recipients where ${isHeld} order by due_at limit 1) as due_at`)

const mailColumns = sql`id, source, priority, campaign_id, journey_id, mail_from, return_domain, rfc_message_id, size, recipients, needs_smtp_utf8,
  needs_8bit, envelope_id, returns, created_at, retry_minutes, expires_at, completed_at`

/** These emails, without their contents. */
export const findMails = (ctx: ProjectCtx, ids: MessageId[]) =>
  ctx.db.many(MailRow, sql`select ${mailColumns} from mail_messages where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`)

/**
 * Locks emails until the end of the transaction, so that of several transactions that finish recipients of an email, only one completes it.
 */
export const lockMails = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.many(
    MailRow,
    sql`select ${mailColumns} from mail_messages where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) order by id for update`,
  )

const Content = Type.Object({
  project_id: IdOf<ProjectId>(),
  id: IdOf<MessageId>(),
  content: Nullable(Type.Unsafe<Buffer>({})),
  is_deflated: Flag,
  size: Type.Integer(),
})

/** The contents of emails, of any projects, as they are stored. */
export const contentsOf = (ctx: Ctx, mails: { project_id: ProjectId; id: MessageId }[]) =>
  ctx.db.many(
    Content,
    sql`select q.project_id, q.id, m.content, m.is_deflated, m.size
        from unnest(${mails.map(({ project_id }) => project_id)}::bigint[], ${mails.map(({ id }) => id)}::bigint[]) as q(project_id, id)
        cross join lateral (
          select content, is_deflated, size from mail_messages where project_id = q.project_id and id = q.id ${fence}
        ) m`,
  )

const Saved = Type.Object({ mail_id: IdOf<MessageId>(), no: Type.Integer(), is_erased: Type.Boolean() })

/** Saves results of recipients whose lease this process still holds, and returns these. Erased ones are due at once, to be cancelled. */
export const saveMailResults = (ctx: InTx, results: RecipientResult[]) =>
  ctx.db.many(
    Saved,
    sql`with ${held(ctx, results)}
        update mail_recipients r
        set state = s.state, due_at = case when r.address = '' then ${ctx.clock.now()} else coalesce(s.due_at, r.due_at) end,
            site = coalesce(s.site, r.site), attempts = r.attempts - s.untried::integer,
            is_held = s.held and r.address <> '', lease_token = null, lease_until = null,
            history = case when s.history is null or r.address = '' then r.history else r.history || s.history end,
            finished_at = case when s.state <> 'queued' then ${ctx.clock.now()}::timestamptz end
        from held, unnest(${results.map(({ state }) => state)}::text[], ${results.map(({ due_at }) => due_at)}::timestamptz[],
                          ${results.map(({ site }) => site)}::text[], ${results.map(({ is_untried }) => is_untried)}::boolean[],
                          ${results.map(({ is_held }) => is_held)}::boolean[],
                          ${results.map(({ history }) => history && JSON.stringify(history))}::jsonb[])
             with ordinality as s(state, due_at, site, untried, held, history, place)
        where ${withKeysOf(ctx, sql`held`)} and s.place = held.place
        returning r.mail_id, r.no, r.address = '' as is_erased`,
  )

const Completed = Type.Object({ id: IdOf<MessageId>(), delivered: Type.Integer(), failed: Type.Integer() })
export type CompletedMail = Static<typeof Completed>

/**
 * Completes those of locked emails that have no pending recipient, and deletes their contents. Returns the completed emails, with the
 * numbers of delivered and failed recipients.
 */
export const completeMails = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.many(
    Completed,
    sql`with numbers as materialized (
          select q.id, n.*
          from unnest(${ids}::bigint[]) as q(id)
          cross join lateral (
            select count(*) filter (where state in ('queued', 'claimed')) as pending, count(*) filter (where state = 'delivered') as delivered,
                   count(*) filter (where state in ('failed', 'expired', 'cancelled')) as failed
            from mail_recipients where project_id = ${ctx.projectId} and mail_id = q.id ${fence}
          ) n
        )
        update mail_messages m
        set completed_at = ${ctx.clock.now()}, content = null
        from numbers
        where m.project_id = ${ctx.projectId} and m.id = numbers.id and numbers.pending = 0 and m.completed_at is null
        returning m.id, numbers.delivered, numbers.failed`,
  )

import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, KeyId, MessageId } from '../../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/times.ts'
import type { MailFilter } from './control.queries.ts'
import { MAIL_SOURCES, type PastAttempt, RECIPIENT_STATES, type RecipientState } from './schema.ts'

export const mailListing = listing({
  resource: 'mail_recipients',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`address`],
  searchedFields: 'recipient',
})

/** More than an email has. */
const RECIPIENTS_MAX = 10_000

/** A recipient of an email, as it is shown. */
export const ListedRecipient = Type.Object({
  id: Type.Integer(),
  message_id: IdOf<MessageId>(),
  campaign_id: Nullable(IdOf<CampaignId>()),
  address: Type.String(),
  domain: Type.String(),
  site: Nullable(Type.String()),
  state: OneOf(RECIPIENT_STATES),
  is_held: Type.Boolean(),
  attempts: Type.Integer(),
  due_at: Instant,
  last_attempt: Nullable(Type.Unsafe<PastAttempt>({ type: 'object' })),
  source: OneOf(MAIL_SOURCES),
  mail_from: Type.String(),
  created_at: Instant,
  expires_at: Instant,
  finished_at: Nullable(Instant),
})
export type ListedRecipient = Static<typeof ListedRecipient>

const when = (value: unknown, condition: Sql): Sql => (value === undefined ? sql`true` : condition)

/**
 * Which recipients are listed: in these states, or in all. `submittedBy` is the key whose emails are shown, `isHidden` the condition on the
 * id of an email that is left out.
 */
export type ListedFilter = Omit<MailFilter, 'message_ids'> & {
  message_id?: MessageId
  states?: readonly RecipientState[]
  submittedBy: KeyId | null
  isHidden: (mailId: Sql) => Sql
}

/** A page of recipients. */
export const listRecipients = (ctx: ProjectCtx, page: PageRequest, filter: ListedFilter): Promise<PageOf<ListedRecipient>> => {
  const { message_id, campaign_id, site, domain, states, submittedBy, isHidden } = filter
  return pageOf(ctx, ListedRecipient, mailListing, page, {
    select: sql`id, mail_id as message_id, campaign_id, address, domain, site, state, is_held, attempts, due_at, history->-1 as last_attempt, source,
      mail_from, created_at, expires_at, finished_at`,
    from: sql`(select r.mail_id * ${RECIPIENTS_MAX} + r.no as id, r.mail_id, r.campaign_id, r.address, r.domain, r.site, r.state, r.is_held, r.attempts, r.due_at, r.history, r.created_at,
                      r.finished_at, m.source, m.mail_from, m.expires_at
               from mail_recipients r join mail_messages m on m.project_id = r.project_id and m.id = r.mail_id
               where r.project_id = ${ctx.projectId} and ${when(message_id, sql`r.mail_id = ${message_id}`)}
                 and ${submittedBy === null ? sql`true` : sql`m.key_id = ${submittedBy}`}) as listed`,
    where: sql`${when(states, sql`state = any(${states ?? []}::text[])`)} and ${when(campaign_id, sql`campaign_id = ${campaign_id}`)}
      and ${when(site, sql`site = ${site}`)} and ${when(domain, sql`domain = ${domain}`)} and not (${isHidden(sql`listed.mail_id`)})`,
  })
}

const Attempts = Type.Object({
  no: Type.Integer(),
  address: Type.String(),
  site: Nullable(Type.String()),
  state: OneOf(RECIPIENT_STATES),
  due_at: Instant,
  history: Type.Unsafe<PastAttempt[]>({ type: 'array' }),
})

const RECIPIENTS_SHOWN = 100

/** The recipients of an email with their attempts, in order. */
export const attemptsOf = (ctx: ProjectCtx, id: MessageId) =>
  ctx.db.many(
    Attempts,
    sql`select no, address, site, state, due_at, history from mail_recipients
        where project_id = ${ctx.projectId} and mail_id = ${id}
        order by no
        limit ${RECIPIENTS_SHOWN}`,
  )

/** The ids of emails to a site, for filters. */
export const mailsToSite = (ctx: ProjectCtx, site: string): Sql =>
  sql`select mail_id from mail_recipients where project_id = ${ctx.projectId} and site = ${site}`

const Untried = Type.Object({ mails: Count, bytes: Count })

/** How much bulk email of a project waits for its first attempt, counted up to a limit. */
export const untriedBulk = (ctx: ProjectCtx | InTx, limit: number) =>
  ctx.db.one(
    Untried,
    sql`select count(*) as mails, coalesce(sum(size), 0) as bytes
        from (select size from mail_recipients
              where project_id = ${ctx.projectId} and state = 'queued' and attempts = 0 and priority = 1
              limit ${limit}) u`,
  )

const UntriedOfCampaign = Type.Object({
  campaign_id: Nullable(IdOf<CampaignId>()),
  ...Untried.properties,
  held_mails: Count,
  held_bytes: Count,
})

/** Email that is due later than this does not wait for its turn: a busy site puts email off by ten minutes at most. */
const SOON_MS = 15 * MINUTE_MS

/** The same by campaign, all of it, with that apart which a pause holds or which goes much later: for a queue that is full. */
export function untriedByCampaign(ctx: ProjectCtx | InTx) {
  const now = ctx.clock.now().getTime()
  // At midnight the ceilings of a warm-up begin anew.
  const midnight = new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS)
  const isHeld = sql`(is_held or due_at > ${new Date(now + SOON_MS)} or due_at = ${midnight})`
  return ctx.db.many(
    UntriedOfCampaign,
    sql`select campaign_id, count(*) filter (where not ${isHeld}) as mails, coalesce(sum(size) filter (where not ${isHeld}), 0) as bytes,
               count(*) filter (where ${isHeld}) as held_mails, coalesce(sum(size) filter (where ${isHeld}), 0) as held_bytes
        from mail_recipients
        where project_id = ${ctx.projectId} and state = 'queued' and attempts = 0 and priority = 1
        group by campaign_id`,
  )
}

/** The number of recipients that are due, over all projects, and when the longest waiting one was due. */
export const mailDepth = (ctx: Ctx) =>
  ctx.db.first(
    Type.Object({ waiting: Type.Integer(), oldest: Nullable(Instant) }),
    sql`select count(*) as waiting, min(due_at) as oldest from mail_recipients
        where state = 'queued' and not is_held and due_at <= ${ctx.clock.now()}`,
  )

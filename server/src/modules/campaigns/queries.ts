import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { fence, type Sql, sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, DomainId, ProviderId, SubscriptionId } from '../../lib/ids.ts'
import { Count, Exact, IdOf, Nullable } from '../../lib/shapes.ts'
import { SENDING_STATES } from '../messages/index.ts'
import { dueAt } from './fields.ts'
import { MailRetries } from './mail-retries.schema.ts'
import { type CampaignFields, CampaignRow, type PendingAction, Utm } from './schema.ts'
import { LIVE_STATES, PAUSABLE_STATES } from './states.ts'

// The driver reads arrays of bigint as strings, and jsonb as numbers.
export const campaignColumns = sql`id, project_id, type, name, slug, is_direct, channel, subscription_id, provider_id, state, event_name,
  to_jsonb(list_ids) as list_ids, to_jsonb(exclusion_list_ids) as exclusion_list_ids, tags, send_in_user_timezone, send_at,
  custom_domain_id, rate, utm, mail_retries, expires_after_hours, holdout_percent, variants, winner, winner_variant, event_rule, paused_at, paused_reason, started_at,
  finished_at, archived_at, created_at, updated_at`

export const campaignListing = listing({
  resource: 'campaigns',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    name: { column: sql`name`, type: 'text' },
    type: { column: sql`type`, type: 'text' },
    channel: { column: sql`channel`, type: 'text' },
    state: { column: sql`state`, type: 'text' },
    send_at: { column: sql`send_at`, type: 'text', nullable: true },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'created_at',
  defaultDirection: 'desc',
  search: [sql`name`, sql`coalesce(slug, '')`, sql`array_to_string(tags, E'\x1f')`],
  searchedFields: 'name, slug, tags',
})

/** A page of campaigns that are not archived, or of those that are: all of them, or those that name a provider. */
export const listCampaigns = (
  ctx: ProjectCtx,
  page: PageRequest,
  { isArchived, providerId }: { isArchived: boolean; providerId?: ProviderId },
): Promise<PageOf<CampaignRow>> =>
  pageOf(ctx, CampaignRow, campaignListing, page, {
    select: campaignColumns,
    from: sql`campaigns`,
    where: sql`project_id = ${ctx.projectId} and ${isArchived ? sql`archived_at is not null` : sql`archived_at is null`}
      ${providerId === undefined ? sql`` : sql`and provider_id = ${providerId}`}`,
  })

export const findCampaign = (ctx: ProjectCtx, id: CampaignId) =>
  ctx.db.first(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns where project_id = ${ctx.projectId} and id = ${id} and archived_at is null`,
  )

/** The live campaigns among these ids, in no order. */
export const findCampaigns = (ctx: ProjectCtx, ids: CampaignId[]) =>
  ctx.db.many(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and archived_at is null`,
  )

const NamedCampaign = Type.Object({ id: IdOf<CampaignId>(), name: Type.String() })

/** The names of campaigns, archived ones included. */
export const campaignNames = (ctx: ProjectCtx, ids: CampaignId[]) =>
  ctx.db.many(NamedCampaign, sql`select id, name from campaigns where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`)

const SubscribedCampaign = Type.Object({ id: IdOf<CampaignId>(), subscription_id: IdOf<SubscriptionId>() })

/** The subscription types of campaigns, archived ones included. */
export const findCampaignSubscriptions = (ctx: ProjectCtx, ids: CampaignId[]) =>
  ctx.db.many(
    SubscribedCampaign,
    sql`select id, subscription_id from campaigns where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`,
  )

/** The latest blasts that are loading or running, and campaigns that are paused. */
export const findInProgress = (ctx: ProjectCtx, limit: number) =>
  ctx.db.many(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns
        where project_id = ${ctx.projectId} and archived_at is null
          and ((type = 'blast' and state in ('loading', 'running')) or (paused_at is not null and state = any(${PAUSABLE_STATES}::text[])))
        order by updated_at desc
        limit ${limit}`,
  )

/** The campaigns that were paused last. */
export const findPaused = (ctx: ProjectCtx, limit: number) =>
  ctx.db.many(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns
        where project_id = ${ctx.projectId} and archived_at is null and paused_at is not null and state = any(${PAUSABLE_STATES}::text[])
        order by paused_at desc
        limit ${limit}`,
  )

const SlugRow = Type.Object({ slug: Type.String() })

/** The slugs that are this one, or this one with something after a hyphen. */
export const slugsLike = (ctx: ProjectCtx, base: string) =>
  ctx.db.many(
    SlugRow,
    sql`select slug from campaigns
        where project_id = ${ctx.projectId} and archived_at is null and (slug = ${base} or slug like ${`${base}-%`})`,
  )

/** Locks a campaign, so that changes of its state and templates are made one at a time. */
export const lockCampaign = (ctx: InTx, id: CampaignId) =>
  ctx.db.first(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null
        for update`,
  )

const IdRow = Exact({ id: IdOf<CampaignId>() })

/** The campaigns with a tag, archived ones too. */
export const campaignsTagged = async (ctx: ProjectCtx, tag: string): Promise<CampaignId[]> =>
  (await ctx.db.many(IdRow, sql`select id from campaigns where project_id = ${ctx.projectId} and ${tag} = any(tags)`)).map(({ id }) => id)

const json = (value: object | null) => (value === null ? null : JSON.stringify(value))

export const insertCampaign = (ctx: ProjectCtx, { type, channel }: Pick<CampaignRow, 'type' | 'channel'>, fields: CampaignFields) =>
  ctx.db.one(
    CampaignRow,
    sql`insert into campaigns (project_id, type, channel, name, slug, subscription_id, provider_id, state, event_name, list_ids, exclusion_list_ids,
                               tags, send_in_user_timezone, send_at, due_at, custom_domain_id, rate, utm, mail_retries, expires_after_hours, holdout_percent,
                               variants, winner, event_rule, created_at, updated_at)
        values (${ctx.projectId}, ${type}, ${channel}, ${fields.name}, ${fields.slug}, ${fields.subscription_id}, ${fields.provider_id}, ${fields.state},
                ${fields.event_name}, ${fields.list_ids}::bigint[], ${fields.exclusion_list_ids}::bigint[], ${fields.tags}::text[],
                ${fields.send_in_user_timezone}, ${fields.send_at}, ${dueAt(fields)}, ${fields.custom_domain_id}, ${json(fields.rate)}::jsonb,
                ${json(fields.utm)}::jsonb, ${json(fields.mail_retries)}::jsonb, ${fields.expires_after_hours}, ${fields.holdout_percent}, ${json(fields.variants)}::jsonb, ${json(fields.winner)}::jsonb,
                ${json(fields.event_rule)}::jsonb, ${ctx.clock.now()}, ${ctx.clock.now()})
        returning ${campaignColumns}`,
  )

/** Saves a locked campaign. One that stops is no longer paused. A pending action replaces the one before. */
export const saveCampaign = (ctx: InTx, id: CampaignId, fields: CampaignFields, pendingAction: PendingAction | null) =>
  ctx.db.one(
    CampaignRow,
    sql`update campaigns
        set name = ${fields.name}, slug = ${fields.slug}, subscription_id = ${fields.subscription_id}, provider_id = ${fields.provider_id}, state = ${fields.state},
            event_name = ${fields.event_name}, list_ids = ${fields.list_ids}::bigint[],
            exclusion_list_ids = ${fields.exclusion_list_ids}::bigint[], tags = ${fields.tags}::text[],
            send_in_user_timezone = ${fields.send_in_user_timezone}, send_at = ${fields.send_at}, due_at = ${dueAt(fields)},
            custom_domain_id = ${fields.custom_domain_id}, rate = ${json(fields.rate)}::jsonb, utm = ${json(fields.utm)}::jsonb,
            mail_retries = ${json(fields.mail_retries)}::jsonb,
            expires_after_hours = ${fields.expires_after_hours}, holdout_percent = ${fields.holdout_percent},
            variants = ${json(fields.variants)}::jsonb, winner = ${json(fields.winner)}::jsonb, event_rule = ${json(fields.event_rule)}::jsonb,
            pending_action = coalesce(${pendingAction}, pending_action), paused_at = case when ${fields.state} = any(${PAUSABLE_STATES}::text[]) then paused_at end,
            paused_reason = case when ${fields.state} = any(${PAUSABLE_STATES}::text[]) then paused_reason end,
            updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null
        returning ${campaignColumns}`,
  )

/** Pauses or resumes a locked campaign. */
export const savePause = (ctx: InTx, id: CampaignId, pausedAt: Date | null, pendingAction: PendingAction) =>
  ctx.db.one(
    CampaignRow,
    sql`update campaigns
        set paused_at = ${pausedAt}, paused_reason = null, over_budget = 0, pending_action = ${pendingAction}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null
        returning ${campaignColumns}`,
  )

/**
 * Counts messages that exceeded their budget, from the first since `since` or from now, and pauses the campaigns that have `max` of them.
 * Returns those. Campaigns are locked in the order of their ids.
 */
export const countOverBudget = (
  ctx: ProjectCtx,
  counts: { id: CampaignId; count: number }[],
  { since, max }: { since: Date; max: number },
) =>
  ctx.db.many(
    IdRow,
    sql`with counted as (
          select c.id, n.count + case when c.over_budget_since > ${since} then c.over_budget else 0 end as total,
                 case when c.over_budget_since > ${since} then c.over_budget_since else ${ctx.clock.now()} end as since,
                 c.paused_at is null and c.state = any(${SENDING_STATES}::text[]) as is_sending
          from campaigns c
          join jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) as n(id bigint, count int) on n.id = c.id
          where c.project_id = ${ctx.projectId} and c.archived_at is null
          order by c.id
          for update of c),
        saved as (
          update campaigns c
          set over_budget = n.total, over_budget_since = n.since,
              paused_at = case when n.is_sending and n.total >= ${max} then ${ctx.clock.now()} else c.paused_at end,
              paused_reason = case when n.is_sending and n.total >= ${max} then 'render_budget' else c.paused_reason end,
              pending_action = case when n.is_sending and n.total >= ${max} then 'hold' else c.pending_action end,
              updated_at = case when n.is_sending and n.total >= ${max} then ${ctx.clock.now()} else c.updated_at end
          from counted n
          where c.project_id = ${ctx.projectId} and c.id = n.id
          returning c.id, n.is_sending and n.total >= ${max} as is_paused)
        select id from saved where is_paused order by id`,
  )

/** Archives a campaign. If it is being sent, it ends as aborted. */
export const archiveCampaign = (ctx: InTx, id: CampaignId, state: CampaignRow['state'], pendingAction: PendingAction | null) =>
  ctx.db.run(
    sql`update campaigns
        set archived_at = ${ctx.clock.now()}, state = ${state}, paused_at = case when ${state} = any(${PAUSABLE_STATES}::text[]) then paused_at end,
            paused_reason = case when ${state} = any(${PAUSABLE_STATES}::text[]) then paused_reason end, pending_action = coalesce(${pendingAction}, pending_action), updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null`,
  )

/** Locks a campaign that is archived. */
export const lockArchived = (ctx: InTx, id: CampaignId) =>
  ctx.db.first(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is not null
        for update`,
  )

/** Restores a locked campaign that is archived. */
export const unarchiveCampaign = (ctx: InTx, id: CampaignId, slug: string | null) =>
  ctx.db.one(
    CampaignRow,
    sql`update campaigns set archived_at = null, slug = ${slug}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is not null
        returning ${campaignColumns}`,
  )

/** Archives all campaigns of a project that is deleted. Their messages that wait are not sent. */
export const archiveCampaigns = (ctx: InTx) =>
  ctx.db.run(
    sql`update campaigns
        set archived_at = ${ctx.clock.now()}, state = case when state = any(${LIVE_STATES}::text[]) then 'aborted' else state end
        where project_id = ${ctx.projectId} and archived_at is null`,
  )

export const countCampaigns = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from campaigns where project_id = ${ctx.projectId} and archived_at is null and not is_direct`,
  )

const SendingRow = Type.Object({
  id: IdOf<CampaignId>(),
  name: Type.String(),
  state: CampaignRow.properties.state,
  is_paused: Type.Boolean(),
  subscription_id: IdOf<SubscriptionId>(),
  provider_id: Nullable(IdOf<ProviderId>()),
  custom_domain_id: Nullable(IdOf<DomainId>()),
  exclusion_list_ids: CampaignRow.properties.exclusion_list_ids,
  expires_after_hours: Type.Integer(),
  winner_variant: Nullable(Type.Integer()),
  waits_for_winner: Type.Boolean(),
  rate: Nullable(Type.Object({ limit: Type.Integer(), interval_ms: Type.Integer() })),
  utm: Nullable(Utm),
  mail_retries: Nullable(MailRetries),
})

/**
 * The members that sending depends on, of the live campaigns among these ids, or with `archived` of all. Under a shared lock they are not
 * stopped or paused before the transaction ends.
 */
export const findSendingCampaigns = (ctx: ProjectCtx | InTx, ids: CampaignId[], how: 'share' | 'archived' | 'live' = 'live') =>
  SENDING[how](ctx, ctx.projectId, ids)

/** A finished campaign sends what is in the mail queue and what is sent again, but nothing while a trigger that was paused is withdrawn. */
const sendingState = sql`case when state = 'finished' and pending_action = 'withdraw' then 'aborted' else state end`

const sendingStatement = (calls: JointCall<CampaignId[]>[], which: Sql, lock: Sql) =>
  sql`select q.call, c.*
      from ${callRows(calls, sql`ids bigint[]`, (ids) => ({ ids }))}
      cross join lateral (
        select id, name, ${sendingState} as state, utm, mail_retries, paused_at is not null as is_paused, subscription_id, provider_id, custom_domain_id,
               expires_after_hours, winner_variant, winner is not null and winner_variant is null as waits_for_winner,
               case when type = 'trigger' then to_jsonb(exclusion_list_ids) else '[]' end as exclusion_list_ids,
               case when rate is not null
                    then jsonb_build_object('limit', rate -> 'limit', 'interval_ms', (rate ->> 'interval_seconds')::int * 1000) end as rate
        from campaigns
        where project_id = q.project_id and id = any(q.ids) and ${which}
        order by id
        ${lock}
      ) c`

const sending = (which: Sql, lock: Sql) =>
  jointMany(SendingRow, (_, calls: JointCall<CampaignId[]>[]) => sendingStatement(calls, which, lock))

const SENDING = {
  live: sending(sql`archived_at is null`, fence),
  share: sending(sql`archived_at is null`, sql`for share`),
  archived: sending(sql`true`, fence),
}

import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, ProjectId } from '../../../lib/ids.ts'
import { IdOf, Nullable, OneOf } from '../../../lib/shapes.ts'
import { MESSAGE_STATES, PENDING_STATES, type Reason } from '../schema.ts'

const CountRow = Type.Object({
  campaign_id: IdOf<CampaignId>(),
  state: OneOf(MESSAGE_STATES),
  reason: Nullable(Type.Unsafe<Reason>({ type: 'string' })),
  variant: Nullable(Type.Integer()),
  messages: Type.Integer(),
  opens: Type.Integer(),
  clicks: Type.Integer(),
  unsubscribes: Type.Integer(),
})
export type CountRow = Static<typeof CountRow>

/**
 * The number of messages of these campaigns by state, and of their opens, clicks and opt-outs. An opt-out is counted under the state that
 * the message had at that time.
 */
export const findCounts = (ctx: ProjectCtx | InTx, ids: CampaignId[]) =>
  ctx.db.many(
    CountRow,
    sql`select campaign_id, state, reason, variant, sum(messages)::bigint as messages, sum(opens)::bigint as opens, sum(clicks)::bigint as clicks,
               sum(unsubscribes)::bigint as unsubscribes
        from message_counts
        where project_id = ${ctx.projectId} and campaign_id = any(${ids}::bigint[])
        group by campaign_id, state, reason, variant
        having sum(messages) <> 0 or sum(unsubscribes) <> 0
        order by campaign_id, state, reason, variant`,
  )

const ProgressRow = Type.Object({
  project_id: IdOf<ProjectId>(),
  campaign_id: IdOf<CampaignId>(),
  waiting: Type.Integer(),
  done: Type.Integer(),
})

/** For each of these campaigns, the number of messages that are not in a final state, and of those that are. */
export const messageProgressOf = (ctx: Ctx, campaigns: { id: CampaignId; project_id: ProjectId }[]) =>
  ctx.db.many(
    ProgressRow,
    sql`select project_id, campaign_id,
               coalesce(sum(messages) filter (where state = any(${PENDING_STATES}::text[])), 0)::bigint as waiting,
               coalesce(sum(messages) filter (where not state = any(${PENDING_STATES}::text[])), 0)::bigint as done
        from unnest(${campaigns.map(({ project_id }) => project_id)}::bigint[], ${campaigns.map(({ id }) => id)}::bigint[]) as wanted (project_id, campaign_id)
        join message_counts using (project_id, campaign_id)
        group by project_id, campaign_id`,
  )

const TotalRow = Type.Object({ messages: Type.Integer(), waiting: Type.Integer() })

/** The number of messages of a project, and of those that are not in a final state. */
export const totalOf = (ctx: ProjectCtx) =>
  ctx.db.one(
    TotalRow,
    sql`select coalesce(sum(messages), 0)::bigint as messages,
               coalesce(sum(messages) filter (where state = any(${PENDING_STATES}::text[])), 0)::bigint as waiting
        from message_counts where project_id = ${ctx.projectId}`,
  )

/**
 * Adds up the counts of campaigns with more than `rowsMax` rows, into one row for each variant, state and reason, where that spares most first.
 * Those that differ are told apart in these campaigns only, because that sorts them, and are left where it spares none. Sums stay the same.
 * Returns how many rows fewer there are.
 */
export const foldRows = async (ctx: Ctx, rowsMax: number, campaignsMax: number): Promise<number> => {
  const row = await ctx.db.first(
    Type.Object({ spared: Type.Integer() }),
    sql`with with_many as materialized (
          select project_id, campaign_id from message_counts
          group by project_id, campaign_id
          having count(*) > ${rowsMax}
        ), long as (
          select m.project_id, m.campaign_id
          from with_many m
          cross join lateral (
            select count(*) - count(distinct (variant, state, reason)) as rows
            from message_counts c
            where c.project_id = m.project_id and c.campaign_id = m.campaign_id
          ) spared
          where spared.rows > 0
          order by spared.rows desc
          limit ${campaignsMax}
        ), taken as (
          delete from message_counts t
          where t.ctid = any(array(select t.ctid from long join message_counts t using (project_id, campaign_id) for update of t skip locked))
          returning project_id, campaign_id, variant, state, reason, messages, opens, clicks, unsubscribes
        ), folded as (
          insert into message_counts (project_id, campaign_id, variant, state, reason, messages, opens, clicks, unsubscribes)
          select project_id, campaign_id, variant, state, reason, sum(messages), sum(opens), sum(clicks), sum(unsubscribes)
          from taken
          group by project_id, campaign_id, variant, state, reason
          having sum(messages) <> 0 or sum(opens) <> 0 or sum(clicks) <> 0 or sum(unsubscribes) <> 0
          returning 1
        )
        select (select count(*) from taken) - (select count(*) from folded) as spared`,
  )
  return row?.spared ?? 0
}

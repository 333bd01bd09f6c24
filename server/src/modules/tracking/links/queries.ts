import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, LinkId, UserId } from '../../../lib/ids.ts'
import { Count, IdOf } from '../../../lib/shapes.ts'
import { CountedLinkRow, OpensRow } from '../schema.ts'

const LinkRow = Type.Object({ id: IdOf<LinkId>(), position: Type.Integer() })

/** The stored links among these: the place in the array is the position of the link. */
export const findLinks = (ctx: ProjectCtx, campaignId: CampaignId, urls: string[]) =>
  ctx.db.many(
    LinkRow,
    sql`select l.id, l.position
        from unnest(${urls}::text[]) with ordinality as i(url, number)
        join links l on l.project_id = ${ctx.projectId} and l.campaign_id = ${campaignId}
         and l.position = i.number - 1 and md5(l.url) = md5(i.url)`,
  )

/**
 * Inserts links and returns all of them. The update changes nothing; without it, links that another process inserted would not be
 * returned.
 */
export const saveLinks = (ctx: ProjectCtx, campaignId: CampaignId, urls: string[]) =>
  ctx.db.many(
    LinkRow,
    sql`insert into links (project_id, campaign_id, position, url, created_at)
        select ${ctx.projectId}, ${campaignId}, i.number - 1, i.url, ${ctx.clock.now()}
        from unnest(${urls}::text[]) with ordinality as i(url, number)
        order by i.number
        on conflict (project_id, campaign_id, position, md5(url)) do update set url = excluded.url
        returning id, position`,
  )

/** The links of a campaign with their clicks, deleted ones included, in the order of the templates. */
export const countLinks = (ctx: ProjectCtx, campaignId: CampaignId, limit: number) =>
  ctx.db.many(
    CountedLinkRow,
    sql`select l.id, l.url, l.position, l.former_clicks + c.clicks as clicks, l.former_users + c.people as people,
               l.former_bot_clicks + c.machine_clicks as machine_clicks
        from links l
        cross join lateral (
          select coalesce(sum(clicks), 0)::bigint as clicks, count(*) filter (where clicks > 0) as people,
                 coalesce(sum(machine_clicks), 0)::bigint as machine_clicks
          from link_clicks where project_id = ${ctx.projectId} and link_id = l.id
        ) c
        where l.project_id = ${ctx.projectId} and l.campaign_id = ${campaignId}
        order by l.position, l.id
        limit ${limit}`,
  )

export const findOpens = (ctx: ProjectCtx, campaignId: CampaignId) =>
  ctx.db.first(
    OpensRow,
    sql`select opens as total, proxied_opens as proxied, machine_opens as machine
        from campaign_opens where project_id = ${ctx.projectId} and campaign_id = ${campaignId}`,
  )

/** A batch of engagement, as arrays of the same length. */
export type EngagementBatch = {
  campaignIds: CampaignId[]
  userIds: UserId[]
  /** Null for an open. */
  linkIds: (LinkId | null)[]
  areBots: boolean[]
  areProxied: boolean[]
}

/** Adds a batch to the counts. Clicks on unknown links are left out. */
export const count = (ctx: InTx, { campaignIds, userIds, linkIds, areBots, areProxied }: EngagementBatch) =>
  ctx.db.run(
    sql`with batch as (
          select campaign_id, user_id, link_id, is_bot, is_proxied
          from unnest(${campaignIds}::bigint[], ${userIds}::bigint[], ${linkIds}::bigint[], ${areBots}::boolean[], ${areProxied}::boolean[])
               as i(campaign_id, user_id, link_id, is_bot, is_proxied)
        ), clicked as (
          insert into link_clicks as c (project_id, link_id, user_id, clicks, machine_clicks, clicked_on)
          select ${ctx.projectId}, l.id, b.user_id, count(*) filter (where not b.is_bot), count(*) filter (where b.is_bot),
                 ${ctx.clock.now()}::timestamptz::date
          from links l join batch b on b.link_id = l.id
          where l.project_id = ${ctx.projectId} and l.id = any(${linkIds}::bigint[])
          group by l.id, b.user_id
          order by l.id, b.user_id
          on conflict (project_id, link_id, user_id) do update
          set clicks = c.clicks + excluded.clicks, machine_clicks = c.machine_clicks + excluded.machine_clicks,
              clicked_on = greatest(c.clicked_on, excluded.clicked_on)
        )
        insert into campaign_opens as o (project_id, campaign_id, opens, proxied_opens, machine_opens)
        select ${ctx.projectId}, campaign_id, count(*) filter (where not is_bot), count(*) filter (where is_proxied),
               count(*) filter (where is_bot)
        from batch
        where link_id is null
        group by campaign_id
        order by campaign_id
        on conflict (project_id, campaign_id) do update
        set opens = o.opens + excluded.opens, proxied_opens = o.proxied_opens + excluded.proxied_opens,
            machine_opens = o.machine_opens + excluded.machine_opens`,
  )

/** Moves the clicks of merged users to the users they were merged into. */
export const mergeClicks = (ctx: InTx, pairs: { from_id: UserId; into_id: UserId }[]) =>
  ctx.db.run(
    sql`with moved as (
          delete from link_clicks c
          using unnest(${pairs.map((pair) => pair.from_id)}::bigint[], ${pairs.map((pair) => pair.into_id)}::bigint[]) as m(from_id, into_id)
          where c.project_id = ${ctx.projectId} and c.user_id = m.from_id and c.user_id = any(${pairs.map((pair) => pair.from_id)}::bigint[])
          returning c.link_id, m.into_id, c.clicks, c.machine_clicks, c.clicked_on
        )
        insert into link_clicks as c (project_id, link_id, user_id, clicks, machine_clicks, clicked_on)
        select ${ctx.projectId}, link_id, into_id, sum(clicks), sum(machine_clicks), max(clicked_on)
        from moved
        group by link_id, into_id
        order by link_id, into_id
        on conflict (project_id, link_id, user_id) do update
        set clicks = c.clicks + excluded.clicks, machine_clicks = c.machine_clicks + excluded.machine_clicks,
            clicked_on = greatest(c.clicked_on, excluded.clicked_on)`,
  )

/** Adds clicks that are `deleted` to the sums of their links, which are locked in the order of their ids. */
const addedToSums = (ctx: InTx) =>
  sql`summed as materialized (
        select link_id, sum(clicks) as clicks, count(*) filter (where clicks > 0) as people, sum(machine_clicks) as machine_clicks
        from deleted
        group by link_id
      ), locked as materialized (
        select id from links
        where project_id = ${ctx.projectId} and id = any(array(select link_id from summed))
        order by id
        for no key update
      ), kept as (
        update links l
        set former_clicks = l.former_clicks + s.clicks, former_users = l.former_users + s.people,
            former_bot_clicks = l.former_bot_clicks + s.machine_clicks
        from summed s, locked k
        where l.project_id = ${ctx.projectId} and l.id = s.link_id and k.id = l.id
      )`

/** Deletes some of the clicks from before this day, and adds them to the sums of their links. Returns how many. */
export const foldOldClicks = (ctx: InTx, before: Date, limit: number): Promise<number> =>
  ctx.db.value(
    Count,
    sql`with old as materialized (
          select link_id, user_id from link_clicks
          where project_id = ${ctx.projectId} and clicked_on < ${before}::timestamptz::date
          order by clicked_on
          limit ${limit}
          for update skip locked
        ), deleted as (
          delete from link_clicks c
          using old o
          where c.project_id = ${ctx.projectId} and c.link_id = o.link_id and c.user_id = o.user_id
          returning c.link_id, c.clicks, c.machine_clicks
        ), ${addedToSums(ctx)}
        select count(*) as count from deleted`,
  )

/** Deletes the clicks of these users, and adds them to the sums of their links. */
export const eraseClicks = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(
    sql`with deleted as (
          delete from link_clicks
          where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])
          returning link_id, clicks, machine_clicks
        ), ${addedToSums(ctx)}
        select`,
  )

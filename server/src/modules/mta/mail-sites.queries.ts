import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { Count, Nullable, OneOf } from '../../lib/shapes.ts'
import { DAY_MS } from '../../lib/times.ts'
import { MailSiteRow, ProjectLimits, SITE_STATES } from './mail-sites.schema.ts'

/** What became of attempts at a site. `lastReply` is the last that was no acceptance. */
export type SiteResults = { site: string; label: string; delivered: number; deferred: number; bounced: number; last_reply: string | null }

/** Counts attempts by the hour. `results` has each site at most once. */
export const addResults = (ctx: InTx, results: SiteResults[]) =>
  ctx.db.run(
    sql`with results as materialized (
          select * from jsonb_to_recordset(${JSON.stringify(results)}::jsonb)
            as r (site text, label text, delivered int, deferred int, bounced int, last_reply text)
        ), sites as (
          insert into mail_sites as s (project_id, site, label, last_reply, last_replied_at, updated_at)
          select ${ctx.projectId}, site, label, last_reply, case when last_reply is not null then ${ctx.clock.now()}::timestamptz end, ${ctx.clock.now()}
          from results
          order by site
          on conflict (project_id, site) do update
          set label = excluded.label, updated_at = excluded.updated_at,
              last_reply = coalesce(excluded.last_reply, s.last_reply), last_replied_at = coalesce(excluded.last_replied_at, s.last_replied_at)
          where excluded.last_reply is not null or s.updated_at < excluded.updated_at - interval '1 minute'
        )
        insert into mail_site_hours as h (project_id, site, hour, delivered, deferred, bounced)
        select ${ctx.projectId}, site, date_trunc('hour', ${ctx.clock.now()}::timestamptz, 'UTC'), delivered, deferred, bounced
        from results
        order by site
        on conflict (project_id, site, hour) do update
        set delivered = h.delivered + excluded.delivered, deferred = h.deferred + excluded.deferred, bounced = h.bounced + excluded.bounced`,
  )

/** Deletes counts before an instant. */
export const purgeHours = (ctx: InTx, before: Date, limit: number) =>
  ctx.db.run(
    sql`delete from mail_site_hours
        where project_id = ${ctx.projectId} and (site, hour) in (
          select site, hour from mail_site_hours where project_id = ${ctx.projectId} and hour < ${before} order by hour limit ${limit}
          for update skip locked)`,
  )

export const siteListing = listing({
  resource: 'mail_sites',
  id: sql`s.site`,
  idName: 'site',
  sorts: { site: { column: sql`s.site`, type: 'text' }, label: { column: sql`s.label`, type: 'text' } },
  defaultSort: 'label',
  defaultDirection: 'asc',
  search: [sql`s.site`, sql`s.label`],
  searchedFields: 'site, label',
})

const columns = sql`s.site, s.label, s.limits, s.last_reply, s.last_replied_at, h.delivered, h.deferred, h.bounced`

/** The sites of the project as `s`, with their counts of 24 hours as `h`. */
const counted = (ctx: ProjectCtx) => sql`mail_sites s
  cross join lateral (
    select coalesce(sum(delivered), 0)::int as delivered, coalesce(sum(deferred), 0)::int as deferred, coalesce(sum(bounced), 0)::int as bounced
    from mail_site_hours
    where project_id = s.project_id and site = s.site and hour > ${new Date(ctx.clock.now().getTime() - DAY_MS)}
  ) h`

export const listSites = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<MailSiteRow>> =>
  pageOf(ctx, MailSiteRow, siteListing, page, { select: columns, from: counted(ctx), where: sql`s.project_id = ${ctx.projectId}` })

export const findSite = (ctx: ProjectCtx, site: string) =>
  ctx.db.first(MailSiteRow, sql`select ${columns} from ${counted(ctx)} where s.project_id = ${ctx.projectId} and s.site = ${site}`)

/**
 * Saves the limits of the project for a site. `label` is the label of a site that the project has sent nothing to yet. With null, limits
 * for such a site are not saved.
 */
export const saveLimits = (ctx: ProjectCtx, site: string, label: string | null, limits: ProjectLimits | null) =>
  ctx.db.run(
    sql`insert into mail_sites as s (project_id, site, label, limits, updated_at)
        select ${ctx.projectId}, ${site}, coalesce(known.label, ${label}::text), ${limits === null ? null : JSON.stringify(limits)}::jsonb, ${ctx.clock.now()}
        from (select 1) one
        left join mail_sites known on known.project_id = ${ctx.projectId} and known.site = ${site}
        where coalesce(known.label, ${label}::text) is not null
        on conflict (project_id, site) do update set limits = excluded.limits`,
  )

const LimitsRow = Type.Object({ site: Type.String(), limits: ProjectLimits })

/** The limits that the project set. */
export const findLimits = (ctx: ProjectCtx) =>
  ctx.db.many(LimitsRow, sql`select site, limits from mail_sites where project_id = ${ctx.projectId} and limits is not null`)

/** The state of a site in one process. */
export type ReportedSite = { key: string; is: (typeof SITE_STATES)[number]; until: number; because: string | null }

/**
 * Saves the states of the sites of a process. Returns how many processes reported since `since`. Processes that last reported before
 * `goneSince` are deleted.
 */
export const reportProcess = (ctx: Ctx, id: string, sites: ReportedSite[], { since, goneSince }: { since: Date; goneSince: Date }) =>
  ctx.db.value(
    Count,
    sql`with gone as (delete from mail_processes where reported_at < ${goneSince} and id <> ${id}),
        reported as (
          insert into mail_processes (id, sites, reported_at) values (${id}, ${JSON.stringify(sites)}::jsonb, ${ctx.clock.now()})
          on conflict (id) do update set sites = excluded.sites, reported_at = excluded.reported_at
        )
        select count(*) + 1 as count from mail_processes where id <> ${id} and reported_at >= ${since}`,
  )

const StateRow = Type.Object({
  site: Type.String(),
  state: OneOf(SITE_STATES),
  until: Type.Number(),
  because: Nullable(Type.String()),
})
export type StateRow = Static<typeof StateRow>

/**
 * The states of sites in the processes that deliver, which reported since `since`. If none does, nothing is delivered, and what they last reported
 * holds.
 */
export const statesOf = (ctx: Ctx, sites: string[], since: Date) =>
  ctx.db.many(
    StateRow,
    sql`select r.key as site, r.is as state, r.until, r.because
        from mail_processes p
        cross join lateral jsonb_to_recordset(p.sites) as r (key text, "is" text, until float8, because text)
        where r.key = any(${sites})
          and (p.reported_at >= ${since} or not exists (select 1 from mail_processes where reported_at >= ${since}))`,
  )

import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { Instant } from '../../lib/shapes.ts'

/** Counts a complaint about an email that went to a site. */
export const addComplaint = (ctx: InTx, site: string) =>
  ctx.db.run(
    sql`insert into mail_site_hours as h (project_id, site, hour, delivered, deferred, bounced, complained)
        values (${ctx.projectId}, ${site}, date_trunc('hour', ${ctx.clock.now()}::timestamptz, 'UTC'), 0, 0, 0, 1)
        on conflict (project_id, site, hour) do update set complained = h.complained + 1`,
  )

const HourRow = Type.Object({ hour: Instant })

/** The beginning of the last hour since an instant in which a host accepted an email of the project. */
export const lastDeliveryHour = (ctx: InTx, since: Date) =>
  ctx.db.first(
    HourRow,
    sql`select hour from mail_site_hours where project_id = ${ctx.projectId} and hour >= ${since} and delivered > 0 order by hour desc limit 1`,
  )

const DayRow = Type.Object({
  site: Type.String(),
  label: Type.String(),
  day: Type.String(),
  delivered: Type.Integer(),
  bounced: Type.Integer(),
  complained: Type.Integer(),
})

/** The days of the sites with the most attempts since an instant, the sites with the most first. */
export const daysOfSites = (ctx: ProjectCtx, since: Date, sites: number) =>
  ctx.db.many(
    DayRow,
    sql`with days as (
          select site, (hour at time zone 'UTC')::date as day, sum(delivered)::int as delivered, sum(bounced)::int as bounced,
                 sum(deferred)::int as deferred, sum(complained)::int as complained
          from mail_site_hours
          where project_id = ${ctx.projectId} and hour >= ${since}
          group by site, (hour at time zone 'UTC')::date
        ),
        largest as (
          select site, sum(delivered + deferred + bounced) as attempts from days
          group by site
          order by attempts desc, site
          limit ${sites}
        )
        select d.site, s.label, to_char(d.day, 'YYYY-MM-DD') as day, d.delivered, d.bounced, d.complained
        from days d
        join largest l on l.site = d.site
        join mail_sites s on s.project_id = ${ctx.projectId} and s.site = d.site
        order by l.attempts desc, d.site, d.day`,
  )

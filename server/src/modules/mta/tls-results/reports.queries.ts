import { type Static, Type } from 'typebox'
import { fence, sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { IdOf, Instant, OneOf } from '../../../lib/shapes.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { TLS_RESULTS } from './results.ts'

const KEPT_MS = 30 * DAY_MS

/** Policies that a domain publishes. Successes without one are counted for no domain. */
const REPORTED = ['tlsa', 'sts'] as const

const ReportKey = Type.Object({ project_id: IdOf<ProjectId>(), day: Instant, domain: Type.String() })
/** A project, a day and a domain: there is one report for them. */
export type TlsReportKey = Static<typeof ReportKey>

/** The domains that have no report of a day yet, although email went there under a policy of theirs: those behind `after`, in order. */
export const unreportedDomains = (ctx: Ctx, day: Date, after: TlsReportKey | undefined, limit: number) =>
  ctx.db.many(
    ReportKey,
    sql`select distinct t.project_id, t.day, t.domain
        from tls_results t
        where t.day = ${day} and t.domain <> '' and t.policy = any(${[...REPORTED]}::text[])
          and not exists (select from tls_reports r where r.project_id = t.project_id and r.day = t.day and r.domain = t.domain)
          and (t.project_id, t.domain) > (${after?.project_id ?? 0}, ${after?.domain ?? ''})
        order by t.project_id, t.domain
        limit ${limit}`,
  )

const Reported = Type.Object({
  policy: OneOf(REPORTED),
  result: OneOf(TLS_RESULTS),
  count: Type.Integer(),
  /** How many of them each mail host had. Not all hosts may be named. */
  hosts: Type.Unsafe<Record<string, number>>({ type: 'object' }),
})
export type ReportedCount = Static<typeof Reported>

/** The counts of a domain and day under a policy. */
export const countsToReport = (ctx: ProjectCtx, { day, domain }: TlsReportKey) =>
  ctx.db.many(
    Reported,
    sql`select policy, result, count, hosts from tls_results
        where project_id = ${ctx.projectId} and day = ${day} and domain = ${domain} and policy = any(${[...REPORTED]}::text[])
        order by policy, result`,
  )

/** Records a report, with the URLs that it is to be posted to. Returns the number of rows: 0 if another process was first. */
export const insertTlsReport = (ctx: InTx, { day, domain }: TlsReportKey, urls: string[]) =>
  ctx.db.run(
    sql`insert into tls_reports (project_id, day, domain, urls, next_at)
        values (${ctx.projectId}, ${day}, ${domain}, ${urls}::text[], ${urls.length > 0 ? ctx.clock.now() : null})
        on conflict do nothing`,
  )

const Post = Type.Object({ ...ReportKey.properties, urls: Type.Array(Type.String()) })
export type TlsReportPosts = Static<typeof Post>

/** Reports that are to be posted now. They are due again at `until`, in case this process dies. */
export const claimTlsPosts = (ctx: Ctx, limit: number, until: Date) =>
  ctx.db.many(
    Post,
    sql`with due as materialized (
          select project_id, day, domain from tls_reports
          where next_at <= ${ctx.clock.now()}
          order by next_at
          limit ${limit}
          for update skip locked
        )
        update tls_reports r set next_at = ${until}
        from due
        where r.project_id = due.project_id and r.day = due.day and r.domain = due.domain
        returning r.project_id, r.day, r.domain, r.urls`,
  )

/** Saves which URLs a report is still to be posted to; without any, it is done. */
export const saveTlsPosts = (ctx: ProjectCtx, { day, domain }: TlsReportKey, urls: string[]) =>
  ctx.db.run(
    sql`update tls_reports set urls = ${urls}::text[], next_at = case when cardinality(${urls}::text[]) > 0 then next_at end
        where project_id = ${ctx.projectId} and day = ${day} and domain = ${domain}`,
  )

/** Deletes the record of reports about days that are more than 30 days ago. Returns how many. */
export const purgeTlsReports = (ctx: Ctx, limit: number) =>
  ctx.db.run(
    sql`delete from tls_reports r
        using (select project_id, day, domain from tls_reports
               where day < ${new Date(ctx.clock.now().getTime() - KEPT_MS)}
               order by day
               limit ${limit}
               ${fence}) old
        where r.project_id = old.project_id and r.day = old.day and r.domain = old.domain`,
  )

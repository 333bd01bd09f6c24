import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { fence, sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { IdOf, Instant, OneOf } from '../../../lib/shapes.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { TLS_POLICIES, TLS_RESULTS, type TlsCount } from './results.ts'
import type { TlsResultCount } from './schema.ts'

/** Domains that a project has counts of their own for, each day. Further ones are counted together. */
const DOMAINS_MAX = 1000
/** Mail hosts of a result that are counted by name: those with most. */
const HOSTS_MAX = 20
const KEPT_MS = 30 * DAY_MS

/** Adds to the counts of today. In the order of the key, so that two transactions do not wait for each other. */
export const addTlsCounts = (ctx: InTx, counts: readonly TlsCount[]) =>
  ctx.db.run(
    sql`with given as (
          select domain, policy, result, host, count(*) as count
          from unnest(
            ${counts.map(({ domain }) => domain ?? '')}::text[],
            ${counts.map(({ policy }) => policy)}::text[],
            ${counts.map(({ result }) => result)}::text[],
            ${counts.map(({ host }) => host)}::text[]
          ) as g (domain, policy, result, host)
          group by domain, policy, result, host
        ), today as (
          select distinct domain from tls_results where project_id = ${ctx.projectId} and day = ${dayOf(ctx.clock.now())} and domain <> ''
        ), named as (
          select case when t.domain is not null or (select count(*) from today) < ${DOMAINS_MAX} then g.domain else '' end as domain,
                 policy, result, host, sum(g.count)::bigint as count
          from given g
          left join today t on t.domain = g.domain
          group by 1, 2, 3, 4
        ), summed as (
          select domain, policy, result, sum(count)::bigint as count,
                 coalesce(jsonb_object_agg(host, count) filter (where host is not null and domain <> ''), '{}') as hosts
          from named
          group by domain, policy, result
        )
        insert into tls_results as r (project_id, day, domain, policy, result, count, hosts)
        select ${ctx.projectId}, ${dayOf(ctx.clock.now())}, domain, policy, result, count, hosts from summed
        order by domain, policy, result
        on conflict (project_id, day, domain, policy, result) do update
        set count = r.count + excluded.count, hosts = case when excluded.hosts = '{}' then r.hosts else ${hostsTogether} end`,
  )

const hostsTogether = sql`(
          select jsonb_object_agg(host, count)
          from (select host, sum(count::bigint) as count
                from (select key as host, value as count from jsonb_each_text(r.hosts)
                      union all select key, value from jsonb_each_text(excluded.hosts)) as counts
                group by host
                order by 2 desc, host
                limit ${HOSTS_MAX}) most
        )`

const dayOf = (at: Date) => new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS)

export const tlsListing = listing({
  resource: 'tls_results',
  sorts: {
    day: { column: sql`day`, type: 'timestamptz' },
    domain: { column: sql`domain`, type: 'text', nullable: true },
    count: { column: sql`count`, type: 'bigint' },
  },
  defaultSort: 'day',
  defaultDirection: 'desc',
  search: [sql`domain`],
  searchedFields: 'domain',
})

const Row = Type.Object({
  id: IdOf<TlsResultCount['id']>(),
  day: Instant,
  domain: Type.Union([Type.String(), Type.Null()]),
  policy: OneOf(TLS_POLICIES),
  result: OneOf(TLS_RESULTS),
  count: Type.Integer(),
})

export const listTlsCounts = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<TlsResultCount>> =>
  pageOf(ctx, Row, tlsListing, page, {
    select: sql`id, day, domain, policy, result, count`,
    from: sql`(select id, day, nullif(domain, '') as domain, policy, result, count from tls_results where project_id = ${ctx.projectId}) counts`,
    where: sql`true`,
  })

/** Deletes counts that are older than 30 days. Returns how many. */
export const purgeTlsCounts = (ctx: Ctx, limit: number) =>
  ctx.db.run(
    sql`delete from tls_results t
        using (select project_id, id from tls_results
               where day < ${new Date(ctx.clock.now().getTime() - KEPT_MS)}
               order by day
               limit ${limit}
               ${fence}) old
        where t.project_id = old.project_id and t.id = old.id`,
  )

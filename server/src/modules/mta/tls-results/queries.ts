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
const KEPT_MS = 30 * DAY_MS

/** Adds to the counts of today. In the order of the key, so that two transactions do not wait for each other. */
export const addTlsCounts = (ctx: InTx, counts: readonly TlsCount[]) =>
  ctx.db.run(
    sql`with given as (
          select domain, policy, result, count(*) as count
          from unnest(
            ${counts.map(({ domain }) => domain ?? '')}::text[],
            ${counts.map(({ policy }) => policy)}::text[],
            ${counts.map(({ result }) => result)}::text[]
          ) as g (domain, policy, result)
          group by domain, policy, result
        ), today as (
          select distinct domain from tls_results where project_id = ${ctx.projectId} and day = ${dayOf(ctx.clock.now())} and domain <> ''
        ), named as (
          select case when t.domain is not null or (select count(*) from today) < ${DOMAINS_MAX} then g.domain else '' end as domain,
                 policy, result, sum(g.count)::bigint as count
          from given g
          left join today t on t.domain = g.domain
          group by 1, 2, 3
        )
        insert into tls_results as r (project_id, day, domain, policy, result, count)
        select ${ctx.projectId}, ${dayOf(ctx.clock.now())}, domain, policy, result, count from named
        order by domain, policy, result
        on conflict (project_id, day, domain, policy, result) do update set count = r.count + excluded.count`,
  )

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

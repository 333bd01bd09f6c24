import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { type RequestQuery, RequestRow } from './schema.ts'

export type NewRequest = Omit<RequestRow, 'id'> & { project_id: ProjectId }

/** Stores requests of several projects. */
export const insertRequests = (ctx: Ctx, requests: NewRequest[]) =>
  ctx.db.run(
    sql`insert into api_requests (project_id, request_id, method, route, params, query, body, status, code, param, elapsed_ms, actor_type,
                                  actor_id, actor_name, via, original_request, left_out, created_at)
        select r.project_id, r.request_id, r.method, r.route, r.params, r.query, r.body, r.status, r.code, r.param, r.elapsed_ms, r.actor_type,
               r.actor_id, r.actor_name, r.via, r.original_request, r.left_out, r.created_at
        from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb)
             as r(project_id bigint, request_id text, method text, route text, params jsonb, query jsonb, body jsonb, status int, code text,
                  param text, elapsed_ms int, actor_type text, actor_id bigint, actor_name text, via text, original_request text, left_out int,
                  created_at timestamptz)`,
  )

/** Deletes the requests of some projects, except the newest of each, up to a number. */
export const trimRequests = (ctx: Ctx, projectIds: ProjectId[], keep: number) =>
  ctx.db.run(
    sql`delete from api_requests r
        using (select p.id, (select id from api_requests where project_id = p.id order by id desc offset ${keep} limit 1) as last
               from jsonb_to_recordset(${JSON.stringify(projectIds.map((id) => ({ id })))}::jsonb) as p(id bigint)) as project
        where r.project_id = project.id and r.id <= project.last`,
  )

export const requestListing = listing({
  resource: 'requests',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`route`, sql`coalesce(code, '')`, sql`coalesce(actor_name, '')`, sql`request_id`],
  searchedFields: 'route, code, actor name, request id',
})

const columns = sql`id, request_id, method, route, params, query, body, status, code, param, elapsed_ms, actor_type, actor_id, actor_name, via,
  original_request, left_out, created_at`

const when = (value: unknown, condition: Sql): Sql => (value === undefined ? sql`true` : condition)

export const listRequests = (ctx: ProjectCtx, page: PageRequest, query: RequestQuery): Promise<PageOf<RequestRow>> => {
  const { request_id, method, status, actor_type, actor_id, is_replay } = query
  return pageOf(ctx, RequestRow, requestListing, page, {
    select: columns,
    from: sql`api_requests`,
    where: sql`project_id = ${ctx.projectId} and ${when(request_id, sql`request_id = ${request_id ?? ''}`)}
      and ${when(method, sql`method = ${method ?? ''}`)} and ${when(status, sql`status / 100 = ${Number((status ?? '0').charAt(0))}`)}
      and ${when(actor_type, sql`actor_type = ${actor_type ?? ''}`)} and ${when(actor_id, sql`actor_id = ${Number(actor_id)}`)}
      and ${when(is_replay, sql`(original_request is not null) = ${is_replay === 'true'}`)}`,
  })
}

const Latest = Type.Object({ id: Nullable(IdOf<number>()) })

/** The newest request that was kept; null if there is none. */
export const latestRequest = async (ctx: ProjectCtx): Promise<number | null> =>
  (await ctx.db.first(Latest, sql`select max(id) as id from api_requests where project_id = ${ctx.projectId}`))?.id ?? null

const OldRequest = Type.Object({ id: IdOf<number>(), created_at: Instant })

/** The next requests after an id. */
export const nextRequests = (ctx: InTx, after: number, limit: number) =>
  ctx.db.many(
    OldRequest,
    sql`select id, created_at from api_requests
        where project_id = ${ctx.projectId} and id > ${after}
        order by id
        limit ${limit}`,
  )

/** Deletes requests. */
export const deleteRequests = (ctx: InTx, ids: number[]) =>
  ctx.db.run(sql`delete from api_requests where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`)

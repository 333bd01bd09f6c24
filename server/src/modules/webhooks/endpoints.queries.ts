import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { type EndpointChanges, EndpointRow } from './schema.ts'
import type { Streak } from './suspension.ts'

const endpointColumns = sql`id, project_id, name, url, status, event_types, description, disabled_reason, created_at, updated_at`

export const endpointListing = listing({
  resource: 'webhooks',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    name: { column: sql`name`, type: 'text' },
    status: { column: sql`status`, type: 'text' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`name`, sql`url`, sql`description`],
  searchedFields: 'name, url, description',
})

const isThere = (ctx: Pick<ProjectCtx, 'projectId'>) => sql`project_id = ${ctx.projectId} and archived_at is null`

export const listEndpoints = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<EndpointRow>> =>
  pageOf(ctx, EndpointRow, endpointListing, page, { select: endpointColumns, from: sql`webhook_endpoints`, where: isThere(ctx) })

/** The endpoints that are disabled, the latest change first. */
export const findDisabled = (ctx: ProjectCtx, limit: number) =>
  ctx.db.many(
    EndpointRow,
    sql`select ${endpointColumns} from webhook_endpoints where ${isThere(ctx)} and status = 'disabled' order by updated_at desc limit ${limit}`,
  )

export const countEndpoints = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from webhook_endpoints where ${isThere(ctx)}`)

export const findEndpoint = (ctx: ProjectCtx, id: EndpointId) =>
  ctx.db.first(EndpointRow, sql`select ${endpointColumns} from webhook_endpoints where ${isThere(ctx)} and id = ${id}`)

/** Locks an endpoint against being paused, suspended or deleted until the end of the transaction. */
export const lockEndpoint = (ctx: InTx, id: EndpointId) =>
  ctx.db.first(EndpointRow, sql`select ${endpointColumns} from webhook_endpoints where ${isThere(ctx)} and id = ${id} for share`)

export type NewEndpoint = { name: string; url: string; eventTypes: string[]; description: string | null; apiVersion: string }

export const insertEndpoint = (ctx: InTx, { name, url, eventTypes, description, apiVersion }: NewEndpoint) =>
  ctx.db.one(
    EndpointRow,
    sql`insert into webhook_endpoints (project_id, name, url, status, event_types, description, api_version, created_at, updated_at)
        values (${ctx.projectId}, ${name}, ${url}, 'active', ${eventTypes}::text[], ${description}, ${apiVersion}, ${ctx.clock.now()}, ${ctx.clock.now()})
        returning ${endpointColumns}`,
  )

/** Undefined members keep their value; `updated_at` changes only when something else does. A resumed endpoint starts without failures. */
export function updateEndpoint(ctx: InTx, id: EndpointId, { name, url, event_types, description, status }: EndpointChanges) {
  const next = {
    name: sql`coalesce(${name ?? null}::text, name)`,
    url: sql`coalesce(${url ?? null}::text, url)`,
    eventTypes: sql`coalesce(${event_types ?? null}::text[], event_types)`,
    description: sql`case when ${description !== undefined} then ${description ?? null}::text else description end`,
    status: sql`coalesce(${status ?? null}::text, status)`,
  }
  // What failed before says nothing about another URL either.
  const beginsAnew = sql`(${status ?? null}::text = 'active' and status <> 'active' or url <> ${next.url})`
  return ctx.db.first(
    EndpointRow,
    sql`update webhook_endpoints
        set name = ${next.name}, url = ${next.url}, event_types = ${next.eventTypes}, description = ${next.description}, status = ${next.status},
            consecutive_failures = case when ${beginsAnew} then 0 else consecutive_failures end,
            first_failure_at = case when ${beginsAnew} then null else first_failure_at end,
            disabled_reason = case when ${status ?? null}::text is null then disabled_reason end,
            updated_at = case when (name, url, event_types, description, status)
                                is distinct from (${next.name}, ${next.url}, ${next.eventTypes}, ${next.description}, ${next.status})
                              then ${ctx.clock.now()}::timestamptz else updated_at end
        where ${isThere(ctx)} and id = ${id}
        returning ${endpointColumns}`,
  )
}

/** Sets `updated_at` after a new secret, and locks the endpoint until the end of the transaction. */
export const touchEndpoint = (ctx: InTx, id: EndpointId) =>
  ctx.db.first(
    EndpointRow,
    sql`update webhook_endpoints set updated_at = ${ctx.clock.now()} where ${isThere(ctx)} and id = ${id} returning ${endpointColumns}`,
  )

export const archiveEndpoint = (ctx: InTx, id: EndpointId) =>
  ctx.db.first(
    EndpointRow,
    sql`update webhook_endpoints set archived_at = ${ctx.clock.now()} where ${isThere(ctx)} and id = ${id} returning ${endpointColumns}`,
  )

export const archiveEndpoints = (ctx: InTx) =>
  ctx.db.many(
    EndpointRow,
    sql`update webhook_endpoints set archived_at = ${ctx.clock.now()} where ${isThere(ctx)} returning ${endpointColumns}`,
  )

/** Suspends an active endpoint. */
export const disableEndpoint = (ctx: InTx<Ctx>, projectId: ProjectId, id: EndpointId, { url, reason }: { url: string; reason: string }) =>
  ctx.db.run(
    sql`update webhook_endpoints set status = 'disabled', disabled_reason = ${reason}, updated_at = ${ctx.clock.now()}
        where project_id = ${projectId} and id = ${id} and url = ${url} and status = 'active' and archived_at is null`,
  )

/** Stores the current secret; the one before also signs until `oldExpireAt`. */
export const replaceSecret = (ctx: InTx, endpointId: EndpointId, sealed: string, oldExpireAt: Date) =>
  ctx.db.run(
    sql`with former as (
          update webhook_secrets set expires_at = ${oldExpireAt}
          where project_id = ${ctx.projectId} and endpoint_id = ${endpointId} and expires_at is null
        )
        insert into webhook_secrets (project_id, endpoint_id, sealed, created_at)
        values (${ctx.projectId}, ${endpointId}, ${sealed}, ${ctx.clock.now()})`,
  )

export const countOldSecrets = (ctx: InTx, endpointId: EndpointId): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from webhook_secrets
          where project_id = ${ctx.projectId} and endpoint_id = ${endpointId} and expires_at > ${ctx.clock.now()}`,
  )

/** Deletes every secret of the endpoint. */
export const deleteSecrets = (ctx: InTx, endpointId: EndpointId) =>
  ctx.db.run(sql`delete from webhook_secrets where project_id = ${ctx.projectId} and endpoint_id = ${endpointId}`)

/** Deletes secrets that no longer sign. */
export const purgeSecrets = (ctx: Ctx) =>
  ctx.db.run(
    sql`delete from webhook_secrets
        where (project_id, id) in (select project_id, id from webhook_secrets where expires_at <= ${ctx.clock.now()})`,
  )

const SealedSecret = Type.Object({ endpoint_id: IdOf<EndpointId>(), sealed: Type.String() })

/** The secrets that sign now, newest first. */
export const liveSecrets = (ctx: Ctx, projectIds: ProjectId[], endpointIds: EndpointId[]) =>
  ctx.db.many(
    SealedSecret,
    sql`select endpoint_id, sealed from webhook_secrets
        where project_id = any(${projectIds}::bigint[]) and endpoint_id = any(${endpointIds}::bigint[])
          and (expires_at is null or expires_at > ${ctx.clock.now()})
        order by endpoint_id, id desc`,
  )

const UnhealthyRow = Type.Object({ id: IdOf<EndpointId>(), url: Type.String() })

/** Locks the endpoints with failures, counted or in these streaks, and those that are gone, always in the same order. */
export const lockUnhealthy = (ctx: InTx<Ctx>, found: Streak[]) =>
  ctx.db.many(
    UnhealthyRow,
    sql`select e.id, e.url
        from unnest(${found.map(({ projectId }) => projectId)}::bigint[], ${found.map(({ endpointId }) => endpointId)}::bigint[],
                    ${found.map(({ failures }) => failures)}::int[], ${found.map(({ gone }) => gone)}::boolean[])
             as s (project_id, endpoint_id, failures, gone)
        join webhook_endpoints e on e.project_id = s.project_id and e.id = s.endpoint_id
        where s.failures > 0 or s.gone or e.consecutive_failures > 0
        order by e.id
        for no key update of e`,
  )

const Health = Type.Object({
  id: IdOf<EndpointId>(),
  consecutive_failures: Type.Integer(),
  first_failure_at: Nullable(Instant),
})
export type Health = Static<typeof Health>

/** Counts consecutive failures of endpoints that are locked. Returns those whose count has changed, and those that are gone. */
export const countFailures = (ctx: InTx<Ctx>, found: Streak[]) =>
  ctx.db.many(
    Health,
    sql`with streaks as (
          select * from unnest(${found.map(({ projectId }) => projectId)}::bigint[], ${found.map(({ endpointId }) => endpointId)}::bigint[],
                               ${found.map(({ broken }) => broken)}::boolean[], ${found.map(({ failures }) => failures)}::int[],
                               ${found.map(({ firstFailureAt }) => firstFailureAt)}::timestamptz[],
                               ${found.map(({ gone }) => gone)}::boolean[])
            as s (project_id, endpoint_id, broken, failures, first_failure_at, gone)
        )
        update webhook_endpoints e
        set consecutive_failures = case when s.broken then 0 else e.consecutive_failures end + s.failures,
            first_failure_at = case when s.broken or e.first_failure_at is null then s.first_failure_at else e.first_failure_at end
        from streaks s
        where e.project_id = s.project_id and e.id = s.endpoint_id and (s.failures > 0 or s.gone or e.consecutive_failures > 0)
        returning e.id, e.consecutive_failures, e.first_failure_at`,
  )

/** Deletes archived endpoints without deliveries. */
export const purgeEndpoints = (ctx: Ctx, limit: number) =>
  ctx.db.run(
    sql`delete from webhook_endpoints
        where (project_id, id) in (select e.project_id, e.id from webhook_endpoints e
                                   where e.archived_at is not null
                                     and not exists (select 1 from webhook_deliveries d where d.project_id = e.project_id and d.endpoint_id = e.id)
                                   order by e.id limit ${limit})`,
  )

const StatusCount = Type.Object({ status: Type.String(), count: Type.Integer() })

/** The number of endpoints by status, over all projects. */
export const countByStatus = (ctx: Ctx) =>
  ctx.db.many(StatusCount, sql`select status, count(*) as count from webhook_endpoints where archived_at is null group by status`)

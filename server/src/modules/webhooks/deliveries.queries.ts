import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import { firstOfEach } from '../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { AttemptRow, type DeliveryId, DeliveryRow } from './schema.ts'

/** Cancels all pending deliveries of an endpoint. */
export const cancelDeliveries = (ctx: InTx<Ctx>, projectId: ProjectId, endpointId: EndpointId) =>
  ctx.db.run(
    sql`update webhook_deliveries set status = 'cancelled', next_attempt_at = null, lease_until = null
        where project_id = ${projectId} and endpoint_id = ${endpointId} and status = 'pending'`,
  )

const deliveryColumns = sql`id, event_id, event_type, status, attempts, last_status_code, last_error, next_attempt_at, created_at`

export const deliveryListing = listing({
  resource: 'webhook_deliveries',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`event_id`, sql`event_type`],
  searchedFields: 'event_id, event_type',
})

export const listDeliveries = (ctx: ProjectCtx, endpointId: EndpointId, page: PageRequest): Promise<PageOf<DeliveryRow>> =>
  pageOf(ctx, DeliveryRow, deliveryListing, page, {
    select: deliveryColumns,
    from: sql`webhook_deliveries`,
    where: sql`project_id = ${ctx.projectId} and endpoint_id = ${endpointId}`,
  })

/** Events and their endpoints, as arrays of the same length. */
export type Addressed = { projectIds: ProjectId[]; endpointIds: EndpointId[]; eventIds: string[]; eventTypes: string[]; createdAt: Date[] }

const Inserted = Type.Object({ id: IdOf<DeliveryId>() })

/** Queues events for active endpoints. */
export const insertDeliveries = (ctx: InTx<Ctx>, { projectIds, endpointIds, eventIds, eventTypes, createdAt }: Addressed) =>
  ctx.db.many(
    Inserted,
    sql`insert into webhook_deliveries (project_id, endpoint_id, event_id, event_type, status, next_attempt_at, created_at)
        select e.project_id, e.endpoint_id, e.event_id, e.event_type, 'pending', ${ctx.clock.now()}, e.created_at
        from unnest(${projectIds}::bigint[], ${endpointIds}::bigint[], ${eventIds}::text[], ${eventTypes}::text[], ${createdAt}::timestamptz[])
          with ordinality as e (project_id, endpoint_id, event_id, event_type, created_at, place)
        order by e.place
        on conflict (project_id, endpoint_id, event_id) do nothing
        returning id`,
  )

const EndpointBacklog = Type.Object({
  endpoint_id: IdOf<EndpointId>(),
  consecutive_failures: Type.Integer(),
  due: Type.Integer(),
  pending: Type.Integer(),
})
export type EndpointBacklog = Static<typeof EndpointBacklog>

/** How many deliveries of these endpoints are due, and how many are pending in all. Larger numbers are returned as `dueMax` and `pendingMax`. */
export const backlogsOf = (
  ctx: InTx<Ctx>,
  endpoints: { project_id: ProjectId; endpoint_id: EndpointId }[],
  dueMax: number,
  pendingMax: number,
) =>
  ctx.db.many(
    EndpointBacklog,
    sql`select c.endpoint_id, e.consecutive_failures, d.due, p.pending
        from unnest(${endpoints.map(({ project_id }) => project_id)}::bigint[], ${endpoints.map(({ endpoint_id }) => endpoint_id)}::bigint[])
             as c (project_id, endpoint_id)
        cross join lateral (select consecutive_failures from webhook_endpoints
                            where project_id = c.project_id and id = c.endpoint_id limit 1) e
        cross join lateral (select count(*) as due
                            from (select 1 from webhook_deliveries
                                  where project_id = c.project_id and endpoint_id = c.endpoint_id and status = 'pending'
                                    and next_attempt_at <= ${ctx.clock.now()}
                                  order by next_attempt_at, id
                                  limit ${dueMax}) d) d
        cross join lateral (select count(*) as pending
                            from (select 1 from webhook_deliveries
                                  where project_id = c.project_id and endpoint_id = c.endpoint_id and status = 'pending'
                                  order by next_attempt_at, id
                                  limit ${pendingMax}) p) p`,
  )

const DeliveryToRead = Type.Object({ ...DeliveryRow.properties, url: Type.String(), api_version: Type.String() })

export const findDelivery = (ctx: ProjectCtx, endpointId: EndpointId, id: DeliveryId) =>
  ctx.db.first(
    DeliveryToRead,
    sql`select d.id, d.event_id, d.event_type, d.status, d.attempts, d.last_status_code, d.last_error, d.next_attempt_at, d.created_at,
               e.url, e.api_version
        from webhook_deliveries d
        join webhook_endpoints e on e.project_id = d.project_id and e.id = d.endpoint_id and e.archived_at is null
        where d.project_id = ${ctx.projectId} and d.endpoint_id = ${endpointId} and d.id = ${id}`,
  )

/** The newest attempts of a delivery, newest first. */
export const newestAttempts = (ctx: ProjectCtx, id: DeliveryId, limit: number) =>
  ctx.db.many(
    AttemptRow,
    sql`select attempted_at, elapsed_ms, status_code, error, response_body
        from webhook_attempts
        where project_id = ${ctx.projectId} and delivery_id = ${id}
        order by id desc
        limit ${limit}`,
  )

/** Sends an event again, now, with the whole retry schedule. */
export const resendDelivery = (ctx: InTx, endpointId: EndpointId, id: DeliveryId) =>
  ctx.db.first(
    DeliveryRow,
    sql`update webhook_deliveries set status = 'pending', schedule_step = 0, next_attempt_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and endpoint_id = ${endpointId} and id = ${id}
        returning ${deliveryColumns}`,
  )

const ClaimedDelivery = Type.Object({
  id: IdOf<DeliveryId>(),
  project_id: IdOf<ProjectId>(),
  endpoint_id: IdOf<EndpointId>(),
  event_id: Type.String(),
  attempts: Type.Integer(),
  schedule_step: Type.Integer(),
  /** When the attempt was due. A delivery that is sent again meanwhile has another time. */
  due_at: Instant,
  url: Type.String(),
  api_version: Type.String(),
})
export type ClaimedDelivery = Static<typeof ClaimedDelivery>

/** What a worker may lease: `usual` for an endpoint, except those in `rooms`, and one for an endpoint after `failingAfter` failures. */
export type Room = {
  total: number
  usual: number
  rooms: Map<EndpointId, number>
  failingAfter: number
  /** The most for a project: `usual`, except those in `rooms`. */
  projects: { usual: number; rooms: Map<ProjectId, number> }
}

/** The endpoints with pending deliveries, each with its first one. */
const waitingEndpoints = firstOfEach('waiting', {
  table: sql`webhook_deliveries`,
  keys: ['project_id', 'endpoint_id'],
  order: ['next_attempt_at'],
  where: sql`status = 'pending'`,
})

const isFree = sql`(lease_until is null or lease_until <= now())`

/**
 * Leases due deliveries, the oldest of each endpoint that are not leased. The first of each endpoint come before the second of any, and
 * the first of each project before the second of any: neither many deliveries nor slow replies of one delay another. An endpoint that
 * keeps failing has one lease at a time, over all workers. Deliveries that a dead worker had leased are due again when the lease ends.
 */
export const claimDeliveries = (ctx: Ctx, { total, usual, rooms, failingAfter, projects }: Room, leaseSeconds: number) => {
  const endpointRooms = JSON.stringify(Object.fromEntries(rooms))
  const projectRooms = JSON.stringify(Object.fromEntries(projects.rooms))
  return ctx.db.many(
    ClaimedDelivery,
    sql`with recursive ${waitingEndpoints},
        offered as materialized (
          select d.tid, d.id, w.project_id, d.next_attempt_at, d.place
          from waiting w
          cross join lateral (
            select consecutive_failures >= ${failingAfter}::int as is_failing,
                   coalesce((${endpointRooms}::jsonb -> w.endpoint_id::text)::int, ${usual}::int) as room,
                   ${endpointRooms}::jsonb ? w.endpoint_id::text as is_known
            from webhook_endpoints
            where project_id = w.project_id and id = w.endpoint_id
            limit 1
          ) e
          cross join lateral (
            select ctid as tid, id, next_attempt_at, lease_until, row_number() over (order by next_attempt_at, id) as place
            from webhook_deliveries
            where project_id = w.project_id and endpoint_id = w.endpoint_id and status = 'pending' and next_attempt_at <= ${ctx.clock.now()}
              and (e.is_failing or ${isFree})
            order by next_attempt_at, id
            limit case when not e.is_failing then e.room when e.is_known then 0 else 1 end
          ) d
          where ${isFree} and coalesce((${projectRooms}::jsonb -> w.project_id::text)::int, ${projects.usual}::int) > 0
        ),
        due as materialized (
          select tid
          from (select tid, id, project_id, next_attempt_at, row_number() over (partition by project_id order by place, next_attempt_at, id) as nth
                from offered) o
          where nth <= coalesce((${projectRooms}::jsonb -> project_id::text)::int, ${projects.usual}::int)
          order by nth, next_attempt_at, id
          limit ${total}
        ),
        free as materialized (
          select d.tid
          from due
          cross join lateral (
            select ctid as tid from webhook_deliveries
            where ctid = due.tid and status = 'pending' and ${isFree}
            for update skip locked
          ) d
        ),
        claimed as (
          update webhook_deliveries d
          set lease_until = now() + make_interval(secs => ${leaseSeconds})
          where d.ctid = any(array(select tid from free))
          returning d.id, d.project_id, d.endpoint_id, d.event_id, d.attempts, d.schedule_step, d.next_attempt_at
        )
        select c.id, c.project_id, c.endpoint_id, c.event_id, c.attempts, c.schedule_step, c.next_attempt_at as due_at, e.url, e.api_version
        from claimed c
        cross join lateral (select url, api_version from webhook_endpoints where project_id = c.project_id and id = c.endpoint_id limit 1) e`,
  )
}

/** Extends the leases of deliveries that are being sent. */
export const renewDeliveries = (ctx: Ctx, projectIds: ProjectId[], ids: DeliveryId[], leaseSeconds: number) =>
  ctx.db.run(
    sql`update webhook_deliveries set lease_until = now() + make_interval(secs => ${leaseSeconds})
        where project_id = any(${projectIds}::bigint[]) and id = any(${ids}::bigint[]) and lease_until is not null`,
  )

/** When the next attempt is due. */
export const nextAttemptAt = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(Nullable(Instant), sql`with recursive ${waitingEndpoints} select min(next_attempt_at) as due_at from waiting`)

/** Ends the leases of deliveries that were not attempted. */
export const releaseDeliveries = (ctx: Ctx, projectIds: ProjectId[], ids: DeliveryId[]) =>
  ctx.db.run(
    sql`update webhook_deliveries set lease_until = null
        where project_id = any(${projectIds}::bigint[]) and id = any(${ids}::bigint[]) and status = 'pending'`,
  )

/** Deletes deliveries before an instant, with their attempts. */
export const purgeDeliveries = (ctx: Ctx, before: Date, limit: number) =>
  ctx.db.run(
    sql`delete from webhook_deliveries
        where (project_id, id) in (select project_id, id from webhook_deliveries where created_at < ${before} order by created_at limit ${limit})`,
  )

const Depth = Type.Object({ waiting: Type.Integer(), oldest: Nullable(Instant) })

/** The number of due deliveries over all projects, and the oldest due time. */
export const queueDepth = (ctx: Ctx) =>
  ctx.db.first(
    Depth,
    sql`select count(*) as waiting, min(next_attempt_at) as oldest from webhook_deliveries where status = 'pending' and next_attempt_at <= ${ctx.clock.now()}`,
  )

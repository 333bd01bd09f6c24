import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { Count } from '../../lib/shapes.ts'

/** Begins the next version of a project's subscriptions, and locks it until the end of the transaction. Returns the version. */
export const nextVersion = (ctx: InTx<Ctx>, projectId: ProjectId): Promise<number> =>
  ctx.db.value(
    Count,
    sql`insert into webhook_versions (project_id, version, event_types) values (${projectId}, 1, '{}')
        on conflict (project_id) do update set version = webhook_versions.version + 1
        returning version`,
  )

/** Ends the current subscription of an endpoint if it has other types. */
export const endSubscription = (ctx: InTx, endpointId: EndpointId, types: readonly string[], version: number) =>
  ctx.db.run(
    sql`update webhook_event_subscriptions set to_version = ${version}, ended_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and endpoint_id = ${endpointId} and to_version is null and event_types <> ${types}::text[]`,
  )

/** Begins a subscription, unless the endpoint has one. */
export const beginSubscription = (ctx: InTx, endpointId: EndpointId, types: readonly string[], version: number) =>
  ctx.db.run(
    sql`insert into webhook_event_subscriptions (project_id, endpoint_id, from_version, event_types)
        select ${ctx.projectId}, ${endpointId}, ${version}, ${types}::text[]
        where not exists (select 1 from webhook_event_subscriptions
                          where project_id = ${ctx.projectId} and endpoint_id = ${endpointId} and to_version is null)`,
  )

/**
 * Starts the cursor of an endpoint behind all events so far. One that is not due has passed all that have a position: it moves behind them, so
 * that it does not read those of a type that is new to it. The caller has locked the version, so that no event gets a position meanwhile.
 */
export const startCursor = (ctx: InTx, endpointId: EndpointId) =>
  ctx.db.run(
    sql`insert into webhook_cursors (project_id, endpoint_id, position, looked_order)
        values (${ctx.projectId}, ${endpointId}, nextval('webhook_positions'), 0)
        on conflict (project_id, endpoint_id) do update set position = excluded.position where webhook_cursors.due_at is null`,
  )

/** Deletes the subscriptions and the cursor of an endpoint. */
export const deleteSubscriptions = (ctx: InTx<Ctx>, projectId: ProjectId, endpointId: EndpointId) =>
  ctx.db.run(
    sql`with deleted as (delete from webhook_cursors where project_id = ${projectId} and endpoint_id = ${endpointId})
        delete from webhook_event_subscriptions where project_id = ${projectId} and endpoint_id = ${endpointId}`,
  )

/** Saves which event types the endpoints of a project subscribe to. */
export const saveTypes = (ctx: InTx<Ctx>, projectId: ProjectId) =>
  ctx.db.run(
    sql`update webhook_versions
        set event_types = array(select distinct w.type from webhook_event_subscriptions s cross join unnest(s.event_types) as w (type)
                                where s.project_id = ${projectId} and s.to_version is null order by w.type)
        where project_id = ${projectId}`,
  )

/**
 * Deletes subscriptions that ended before an instant, of endpoints that have got all their events: no cursor is due, and no event has still
 * to be numbered. A transaction that saw a subscription may have stored its events up to an hour after its end.
 */
export const purgeSubscriptions = (ctx: Ctx, before: Date, limit: number) =>
  ctx.db.run(
    sql`delete from webhook_event_subscriptions
        where (project_id, endpoint_id, from_version) in (
          select s.project_id, s.endpoint_id, s.from_version from webhook_event_subscriptions s
          join webhook_cursors c on c.project_id = s.project_id and c.endpoint_id = s.endpoint_id and c.due_at is null
          where s.ended_at < ${before}
            and (select e.id from webhook_events e
                 where e.project_id = s.project_id and e.position is null and e.created_at < s.ended_at + interval '1 hour'
                 order by e.created_at, e.id
                 limit 1) is null
          limit ${limit})`,
  )

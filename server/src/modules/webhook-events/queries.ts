import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant } from '../../lib/shapes.ts'

/** Webhook events to be stored, as arrays of the same length. */
export type Batch = { ids: string[]; types: string[]; occurredAt: Date[]; data: string[] }

/** Stores the webhook events that at least one endpoint subscribes to now, with these endpoints. */
export const insertWanted = (ctx: InTx, { ids, types, occurredAt, data }: Batch) =>
  ctx.db.run(
    sql`with wanted as (
          select w.type, array_agg(s.endpoint_id order by s.endpoint_id) as endpoint_ids
          from webhook_event_subscriptions s
          cross join unnest(s.event_types) as w (type)
          where s.project_id = ${ctx.projectId}
          group by w.type
        )
        insert into webhook_events (id, project_id, type, occurred_at, data, endpoint_ids, created_at)
        select h.id, ${ctx.projectId}::bigint, h.type, h.occurred_at, h.data, wanted.endpoint_ids, ${ctx.clock.now()}
        from unnest(${ids}::text[], ${types}::text[], ${occurredAt}::timestamptz[], ${data}::json[]) as h (id, type, occurred_at, data)
        join wanted using (type)
        order by h.id`,
  )

const TypeRow = Type.Object({ type: Type.String() })

/** The event types that endpoints subscribe to now. */
export const subscribedTypes = (ctx: InTx) =>
  ctx.db.many(
    TypeRow,
    sql`select distinct w.type from webhook_event_subscriptions s cross join unnest(s.event_types) as w (type) where s.project_id = ${ctx.projectId}`,
  )

/** Stores an example for one endpoint, already dispatched. */
export const insertTest = (ctx: InTx, id: string, type: string, data: string, endpointId: EndpointId) =>
  ctx.db.run(
    sql`insert into webhook_events (id, project_id, type, occurred_at, data, is_test, endpoint_ids, created_at, dispatched_at)
        values (${id}, ${ctx.projectId}, ${type}, ${ctx.clock.now()}, ${data}::json, true, array[${endpointId}::bigint], ${ctx.clock.now()}, ${ctx.clock.now()})`,
  )

const Undispatched = Type.Object({
  id: Type.String(),
  project_id: IdOf<ProjectId>(),
  type: Type.String(),
  endpoint_id: IdOf<EndpointId>(),
})

/**
 * The oldest webhook events that are not dispatched, once for each of their endpoints. They are dispatched when the transaction commits.
 */
export const takeUndispatched = (ctx: InTx<Ctx>, limit: number) =>
  ctx.db.many(
    Undispatched,
    sql`with oldest as (
          select id, project_id from webhook_events
          where dispatched_at is null
          order by created_at, id
          limit ${limit}
          for update skip locked
        ),
        taken as (
          update webhook_events s
          set dispatched_at = ${ctx.clock.now()}
          from oldest
          where s.id = oldest.id and s.project_id = oldest.project_id
          returning s.id, s.project_id, s.type, s.endpoint_ids
        )
        select id, project_id, type, endpoint_id from taken cross join unnest(endpoint_ids) as endpoint_id order by id, endpoint_id`,
  )

/** A stored webhook event; `data` is the text of the JSON, so that every attempt sends the same bytes. */
const StoredWebhookEvent = Type.Object({
  id: Type.String(),
  project_id: IdOf<ProjectId>(),
  type: Type.String(),
  occurred_at: Instant,
  data: Type.String(),
  is_test: Type.Boolean(),
})

export type StoredWebhookEvent = Static<typeof StoredWebhookEvent>

export const findWebhookEvents = (ctx: Ctx, projectIds: ProjectId[], ids: string[]) =>
  ctx.db.many(
    StoredWebhookEvent,
    sql`select id, project_id, type, occurred_at, data::text as data, is_test from webhook_events
        where project_id = any(${projectIds}::bigint[]) and id = any(${ids}::text[])`,
  )

/** Deletes webhook events that were dispatched before an instant. */
export const purgeWebhookEvents = (ctx: Ctx, dispatchedBefore: Date, limit: number) =>
  ctx.db.run(
    sql`delete from webhook_events
        where (project_id, id) in (select project_id, id from webhook_events where dispatched_at < ${dispatchedBefore} order by dispatched_at limit ${limit})`,
  )

/** Saves the event types of an endpoint. */
export const subscribe = (ctx: InTx, endpointId: EndpointId, types: readonly string[]) =>
  ctx.db.run(
    sql`insert into webhook_event_subscriptions (project_id, endpoint_id, event_types)
        values (${ctx.projectId}, ${endpointId}, ${types}::text[])
        on conflict (project_id, endpoint_id) do update set event_types = excluded.event_types`,
  )

/** Deletes the event types of an endpoint. */
export const unsubscribe = (ctx: InTx<Ctx>, projectId: ProjectId, endpointId: EndpointId) =>
  ctx.db.run(sql`delete from webhook_event_subscriptions where project_id = ${projectId} and endpoint_id = ${endpointId}`)

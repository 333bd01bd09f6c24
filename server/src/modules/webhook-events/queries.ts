import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany, jointRun } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant } from '../../lib/shapes.ts'

/** Webhook events to be stored, as arrays of the same length. */
export type Batch = { ids: string[]; types: string[]; occurredAt: Date[]; data: string[] }

/** Stores the webhook events that at least one endpoint subscribes to now, with these endpoints. */
export const insertWanted = (ctx: InTx, batch: Batch) => insertAllWanted(ctx, ctx.projectId, batch)

const insertAllWanted = jointRun<Batch>((ctx, calls) => {
  const projects = calls.flatMap(({ projectId, input }) => input.ids.map(() => projectId))
  const ids = calls.flatMap(({ input }) => input.ids)
  const types = calls.flatMap(({ input }) => input.types)
  const occurredAt = calls.flatMap(({ input }) => input.occurredAt)
  const data = calls.flatMap(({ input }) => input.data)
  return ctx.db.run(
    sql`with wanted as (
          select s.project_id, w.type, array_agg(s.endpoint_id order by s.endpoint_id) as endpoint_ids
          from webhook_event_subscriptions s
          cross join unnest(s.event_types) as w (type)
          where s.project_id = any(${[...new Set(projects)]}::bigint[])
          group by s.project_id, w.type
        )
        insert into webhook_events (id, project_id, type, occurred_at, data, endpoint_ids, created_at)
        select h.id, h.project_id, h.type, h.occurred_at, h.data, wanted.endpoint_ids, ${ctx.clock.now()}
        from unnest(${ids}::text[], ${projects}::bigint[], ${types}::text[], ${occurredAt}::timestamptz[], ${data}::json[])
             as h (id, project_id, type, occurred_at, data)
        join wanted on wanted.project_id = h.project_id and wanted.type = h.type
        order by h.id`,
  )
})

const TypeRow = Type.Object({ type: Type.String() })

/** The event types that endpoints subscribe to now. */
export const subscribedTypes = async (ctx: InTx): Promise<string[]> => (await findTypes(ctx, ctx.projectId, null)).map(({ type }) => type)

const findTypes = jointMany(
  TypeRow,
  (_, calls: JointCall<null>[]) =>
    sql`select distinct q.call, w.type
        from ${callRows(calls)}
        join webhook_event_subscriptions s on s.project_id = q.project_id
        cross join unnest(s.event_types) as w (type)`,
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

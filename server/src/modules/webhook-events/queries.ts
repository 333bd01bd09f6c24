import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany, jointRun } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant } from '../../lib/shapes.ts'

/** Webhook events to be stored, as arrays of the same length. `data` are texts of JSON. */
export type Batch = { ids: string[]; types: string[]; occurredAt: Date[]; data: string[] }

/** Stores the webhook events that at least one endpoint subscribes to now, with the version of the subscriptions. */
export const insertWanted = (ctx: InTx, batch: Batch) => insertAllWanted(ctx, ctx.projectId, batch)

/** The data is one text of JSON, because the quotes in the elements of an array would be escaped, and read again. */
const insertAllWanted = jointRun<Batch>((ctx, calls) => {
  const projects = calls.flatMap(({ projectId, input }) => input.ids.map(() => projectId))
  const ids = calls.flatMap(({ input }) => input.ids)
  const types = calls.flatMap(({ input }) => input.types)
  const occurredAt = calls.flatMap(({ input }) => input.occurredAt)
  const data = calls.flatMap(({ input }) => input.data)
  return ctx.db.run(
    sql`insert into webhook_events (id, project_id, type, occurred_at, data, version, created_at)
        select h.id, h.project_id, h.type, h.occurred_at, h.data, v.version, ${ctx.clock.now()}
        from rows from (unnest(${ids}::text[], ${projects}::bigint[], ${types}::text[], ${occurredAt}::timestamptz[]),
                        json_array_elements(${`[${data.join(',')}]`}::json)) as h (id, project_id, type, occurred_at, data)
        join webhook_versions v on v.project_id = h.project_id and h.type = any(v.event_types)
        order by h.id`,
  )
})

const TypeRow = Type.Object({ type: Type.String() })

/** The event types that endpoints subscribe to now. */
export const subscribedTypes = async (ctx: InTx): Promise<string[]> => (await findTypes(ctx, ctx.projectId, null)).map(({ type }) => type)

const findTypes = jointMany(
  TypeRow,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, w.type
        from ${callRows(calls)}
        join webhook_versions v on v.project_id = q.project_id
        cross join unnest(v.event_types) as w (type)`,
)

/** Stores an example for one endpoint. No cursor reads it: it precedes every position. */
export const insertTest = (ctx: InTx, id: string, type: string, data: string) =>
  ctx.db.run(
    sql`insert into webhook_events (id, project_id, type, occurred_at, data, is_test, version, position, created_at)
        values (${id}, ${ctx.projectId}, ${type}, ${ctx.clock.now()}, ${data}::json, true, 0, 0, ${ctx.clock.now()})`,
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

/** Deletes webhook events that were stored before an instant. */
export const purgeWebhookEvents = (ctx: Ctx, before: Date, limit: number) =>
  ctx.db.run(
    sql`delete from webhook_events
        where (project_id, id) in (select project_id, id from webhook_events where created_at < ${before} order by created_at limit ${limit})`,
  )

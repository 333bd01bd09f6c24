import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import { firstOfEach } from '../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { type ReplayId, ReplayRow } from './schema.ts'

const columns = sql`id, event_types, unaccepted_only, status, deliveries, since, until, created_at, finished_at`

/** The end of a replay that is not known yet. All positions are before it. */
export const UNKNOWN_END = Number.MAX_SAFE_INTEGER

export type NewReplay = {
  event_types: string[]
  since: Date
  until: Date
  unaccepted_only: boolean
  /** Where it begins to read. */
  position: number
  open_transactions: string[]
}

/** Stores a replay; undefined if the endpoint has one that is running. */
export const insertReplay = (ctx: InTx, endpointId: EndpointId, replay: NewReplay) =>
  ctx.db.first(
    ReplayRow,
    sql`insert into webhook_replays (project_id, endpoint_id, event_types, since, until, unaccepted_only, status, position, end_position,
                                     due_at, created_at, open_transactions)
        values (${ctx.projectId}, ${endpointId}, ${replay.event_types}::text[], ${replay.since}, ${replay.until}, ${replay.unaccepted_only},
                'running', ${replay.position}, ${UNKNOWN_END}, ${ctx.clock.now()}, ${ctx.clock.now()}, ${replay.open_transactions}::text[])
        on conflict (project_id, endpoint_id) where status = 'running' do nothing
        returning ${columns}`,
  )

export const replayListing = listing({
  resource: 'webhook_replays',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`status`],
  searchedFields: 'status',
})

export const listReplays = (ctx: ProjectCtx, endpointId: EndpointId, page: PageRequest): Promise<PageOf<ReplayRow>> =>
  pageOf(ctx, ReplayRow, replayListing, page, {
    select: columns,
    from: sql`webhook_replays`,
    where: sql`project_id = ${ctx.projectId} and endpoint_id = ${endpointId}`,
  })

/** Ends the replay of an endpoint that is running. */
export const cancelReplays = (ctx: InTx<Ctx>, projectId: ProjectId, endpointId: EndpointId) =>
  ctx.db.run(
    sql`update webhook_replays set status = 'cancelled', due_at = null, finished_at = ${ctx.clock.now()}
        where project_id = ${projectId} and endpoint_id = ${endpointId} and status = 'running'`,
  )

/** Deletes replays that ended before an instant. Their deliveries, which are not newer, have been deleted already. */
export const purgeReplays = (ctx: Ctx, before: Date, limit: number) =>
  ctx.db.run(
    sql`delete from webhook_replays
        where (project_id, id) in (select project_id, id from webhook_replays where finished_at < ${before} order by id limit ${limit})`,
  )

const RunningReplay = Type.Object({
  project_id: IdOf<ProjectId>(),
  endpoint_id: IdOf<EndpointId>(),
  id: IdOf<ReplayId>(),
  event_types: Type.Array(Type.String()),
  since: Instant,
  until: Instant,
  unaccepted_only: Type.Boolean(),
  position: Type.Integer(),
  /** `UNKNOWN_END` until all events from before the replay have positions. */
  end_position: Type.Integer(),
  created_at: Instant,
  /** Those that were storing events when it began. */
  open_transactions: Type.Array(Type.String()),
})
export type RunningReplay = Static<typeof RunningReplay>

/** The replay of each project that is due first. */
const nextReplays = firstOfEach('next_replay', {
  table: sql`webhook_replays`,
  keys: ['project_id'],
  order: ['due_at'],
  where: sql`due_at is not null`,
})

/** Locks replays that are due, the same number of each project, except those that another process has locked. */
export const lockReplays = (ctx: InTx<Ctx>, perProject: number, limit: number) =>
  ctx.db.many(
    RunningReplay,
    sql`with recursive ${nextReplays}
        select r.project_id, r.endpoint_id, r.id, r.event_types, r.since, r.until, r.unaccepted_only, r.position, r.end_position,
               r.created_at, r.open_transactions
        from (select project_id from next_replay where due_at <= ${ctx.clock.now()} order by due_at limit ${limit}) p
        cross join lateral (
          select project_id, endpoint_id, id, event_types, since, until, unaccepted_only, position, end_position, created_at,
                 open_transactions
          from webhook_replays
          where project_id = p.project_id and due_at is not null and due_at <= ${ctx.clock.now()}
          order by due_at, id
          limit ${perProject}
          for update skip locked
        ) r
        limit ${limit}`,
  )

/** When the next replay is due. */
export const nextReplayAt = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(Nullable(Instant), sql`with recursive ${nextReplays} select min(due_at) as due_at from next_replay`)

/** How far a replay is. `due_at` is null at its end. */
export type ReplayProgress = Pick<RunningReplay, 'project_id' | 'id' | 'position' | 'end_position'> & {
  deliveries: number
  due_at: Date | null
}

export const saveProgress = (ctx: InTx<Ctx>, progress: ReplayProgress[]) =>
  ctx.db.run(
    sql`update webhook_replays r
        set position = p.position, end_position = p.end_position, deliveries = r.deliveries + p.deliveries, due_at = p.due_at,
            status = case when p.due_at is null then 'finished' else r.status end,
            finished_at = case when p.due_at is null then ${ctx.clock.now()}::timestamptz end
        from jsonb_to_recordset(${JSON.stringify(progress)}::jsonb)
             as p (project_id bigint, id bigint, position bigint, end_position bigint, deliveries int, due_at timestamptz)
        where r.project_id = p.project_id and r.id = p.id and r.status = 'running'`,
  )

/** Events to deliver again. `unacceptedOnly` leaves out those that the endpoint has accepted. */
export type Repeated = {
  project_id: ProjectId
  endpoint_id: EndpointId
  replay_id: number
  event_id: string
  event_type: string
  unaccepted_only: boolean
  created_at: Date
}

/** Whether the endpoint has accepted a delivery `d`. One that was sent again since may have any status. */
const isAccepted = sql`(d.status = 'succeeded'
                        or coalesce((select true from webhook_attempts a
                                     where a.project_id = d.project_id and a.delivery_id = d.id and a.error is null
                                     limit 1), false))`

const AcceptedRow = Type.Object({ replay_id: IdOf<ReplayId>(), event_id: Type.String() })

/** Those of these events that the endpoint of the replay has accepted. */
export const acceptedAmong = (ctx: InTx<Ctx>, events: Pick<Repeated, 'project_id' | 'endpoint_id' | 'replay_id' | 'event_id'>[]) =>
  ctx.db.many(
    AcceptedRow,
    sql`select e.replay_id, e.event_id
        from jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
             as e (project_id bigint, endpoint_id bigint, replay_id bigint, event_id text)
        cross join lateral (
          select ${isAccepted} as is_accepted from webhook_deliveries d
          where d.project_id = e.project_id and d.endpoint_id = e.endpoint_id and d.event_id = e.event_id
          limit 1
        ) known
        where known.is_accepted`,
  )

const QueuedRow = Type.Object({ endpoint_id: IdOf<EndpointId>() })

/**
 * Queues deliveries with the whole retry schedule. Those that are due already, whose attempt may be under way, stay due, so that they are
 * not sent twice at once; the schedule begins anew if it fails. Returns the endpoints, once for each delivery.
 */
export const repeatDeliveries = (ctx: InTx<Ctx>, repeated: Repeated[]) =>
  ctx.db.many(
    QueuedRow,
    sql`insert into webhook_deliveries as d (project_id, endpoint_id, event_id, event_type, status, next_attempt_at, created_at)
        select e.project_id, e.endpoint_id, e.event_id, e.event_type, 'pending', ${ctx.clock.now()}, e.created_at
        from jsonb_to_recordset(${JSON.stringify(repeated)}::jsonb)
             as e (project_id bigint, endpoint_id bigint, event_id text, event_type text, unaccepted_only boolean, created_at timestamptz)
        left join lateral (
          select e.unaccepted_only and ${isAccepted} as is_left_out from webhook_deliveries d
          where d.project_id = e.project_id and d.endpoint_id = e.endpoint_id and d.event_id = e.event_id
          limit 1
        ) known on true
        where known.is_left_out is not true
        order by e.project_id, e.endpoint_id, e.event_id
        on conflict (project_id, endpoint_id, event_id) do update
        set status = 'pending', schedule_step = 0, next_attempt_at = least(d.next_attempt_at, excluded.next_attempt_at)
        where d.status <> 'pending' or d.next_attempt_at > excluded.next_attempt_at or d.schedule_step > 0
        returning endpoint_id`,
  )

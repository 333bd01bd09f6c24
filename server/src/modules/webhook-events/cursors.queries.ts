/**
 * How deliveries are found: each endpoint has a cursor over the events of its project. Each statement is for several projects, and has
 * one good plan only: rows are named by what they were found with (`ctid`) or inserted over themselves, never joined.
 */
import { type Static, Type } from 'typebox'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import { firstOfEach } from '../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable } from '../../lib/shapes.ts'

const ProjectRow = Type.Object({ project_id: IdOf<ProjectId>() })

const isDue = (ctx: Ctx) => sql`due_at is not null and due_at <= ${ctx.clock.now()}`

/** The cursor of each project that is due first. */
const nextCursors = (where: Sql) =>
  firstOfEach('next_cursor', {
    table: sql`webhook_cursors`,
    keys: ['project_id'],
    order: ['due_at'],
    where: sql`due_at is not null and ${where}`,
  })

/** The oldest event of each project that has no position. */
const nextEvents = (where: Sql) =>
  firstOfEach('next_event', {
    table: sql`webhook_events`,
    keys: ['project_id'],
    order: ['created_at', 'id'],
    where: sql`position is null and ${where}`,
  })

/** Projects with events to be numbered or with cursors that are due, from the one after `after` on. */
export const projectsWithEvents = async (ctx: Ctx, after: ProjectId, limit: number): Promise<ProjectId[]> => {
  const rows = await ctx.db.many(
    ProjectRow,
    sql`with recursive ${nextEvents(sql`project_id > ${after}`)}, ${nextCursors(sql`project_id > ${after}`)}
        select project_id
        from ((select project_id from next_event limit ${limit})
              union
              (select project_id from next_cursor where due_at <= ${ctx.clock.now()} limit ${limit})) found
        order by project_id
        limit ${limit}`,
  )
  return rows.map(({ project_id }) => project_id)
}

/** Locks the subscriptions of these projects, except those that another process has locked. Returns the locked ones. */
export const lockVersions = async (ctx: InTx<Ctx>, projectIds: ProjectId[]): Promise<ProjectId[]> => {
  const rows = await ctx.db.many(
    ProjectRow,
    sql`select project_id from webhook_versions where project_id = any(${projectIds}::bigint[]) order by project_id for update skip locked`,
  )
  return rows.map(({ project_id }) => project_id)
}

/**
 * Gives positions to the oldest events that have none, and makes the cursors of their endpoints due. Returns the number of events. The
 * caller has locked the versions of the projects, so that no other process numbers their events, and no cursor changes between being found
 * and being made due.
 */
export const numberEvents = (ctx: InTx<Ctx>, projectIds: ProjectId[], perProject: number): Promise<number> =>
  ctx.db.value(
    Count,
    sql`with oldest as materialized (
          select e.tid, e.project_id, e.type
          from unnest(${projectIds}::bigint[]) as p (id)
          cross join lateral (
            select ctid as tid, project_id, type from webhook_events
            where project_id = p.id and position is null
            order by created_at, id
            limit ${perProject}
          ) e
        ),
        numbered as (
          update webhook_events set position = nextval('webhook_positions')
          where ctid = any(array(select tid from oldest))
        ),
        types as materialized (select project_id, array_agg(distinct type) as types from oldest group by project_id),
        woken as (
          update webhook_cursors set due_at = ${ctx.clock.now()}
          where ctid = any(array(
            select c.tid
            from types t
            cross join lateral (select distinct s.endpoint_id from webhook_event_subscriptions s
                                where s.project_id = t.project_id and s.event_types && t.types) s
            cross join lateral (select ctid as tid from webhook_cursors
                                where project_id = t.project_id and endpoint_id = s.endpoint_id and due_at is null
                                limit 1) c))
        )
        select count(*) as count from oldest`,
  )

/** When there is work next: now while events have no position, and otherwise when the next cursor is due. */
export const nextDispatchAt = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(
    Nullable(Instant),
    sql`with recursive ${nextEvents(sql`true`)}, ${nextCursors(sql`true`)}
        select case when exists (select from next_event) then ${ctx.clock.now()}::timestamptz
                    else (select min(due_at) from next_cursor)
               end as due_at`,
  )

const CursorRow = Type.Object({ project_id: IdOf<ProjectId>(), endpoint_id: IdOf<EndpointId>(), position: Type.Integer() })
export type Cursor = Static<typeof CursorRow>

/** The cursors of these projects that are due, those that were read least recently first. */
export const cursorsDue = (ctx: InTx<Ctx>, projectIds: ProjectId[], perProject: number) =>
  ctx.db.many(
    CursorRow,
    sql`select c.project_id, c.endpoint_id, c.position
        from unnest(${projectIds}::bigint[]) as p (id)
        cross join lateral (
          select project_id, endpoint_id, position from webhook_cursors
          where project_id = p.id and ${isDue(ctx)}
          order by looked_order, endpoint_id
          limit ${perProject}
        ) c`,
  )

const NextEvent = Type.Object({
  project_id: IdOf<ProjectId>(),
  endpoint_id: IdOf<EndpointId>(),
  id: Type.String(),
  type: Type.String(),
  position: Type.Integer(),
  created_at: Instant,
  /** Whether the endpoint was subscribed to the type when the event was stored. */
  is_wanted: Type.Boolean(),
})
export type NextEvent = Static<typeof NextEvent>

/**
 * The next events after the cursors of endpoints, at most `reads` for each. They are of the types that it subscribes to, or did before. Whether
 * it did when they were stored is decided after the limit, so that a look reads few however many of them are of another time.
 */
export const eventsAfter = (ctx: InTx<Ctx>, cursors: (Cursor & { reads: number })[]) =>
  ctx.db.many(
    NextEvent,
    sql`select c.project_id, c.endpoint_id, e.id, e.type, e.position, e.created_at, e.is_wanted
        from unnest(${cursors.map(({ project_id }) => project_id)}::bigint[], ${cursors.map(({ endpoint_id }) => endpoint_id)}::bigint[],
                    ${cursors.map(({ position }) => position)}::bigint[], ${cursors.map(({ reads }) => reads)}::int[])
             as c (project_id, endpoint_id, position, reads)
        cross join lateral (
          select e.id, e.type, e.position, e.created_at, e.version <@ t.versions as is_wanted
          from (select w.type, range_agg(int8range(s.from_version, s.to_version)) as versions
                from webhook_event_subscriptions s
                cross join unnest(s.event_types) as w (type)
                where s.project_id = c.project_id and s.endpoint_id = c.endpoint_id
                group by w.type) t
          cross join lateral (
            select id, type, position, created_at, version from webhook_events
            where project_id = c.project_id and type = t.type and position > c.position
            order by position
            limit c.reads
          ) e
          order by e.position
          limit c.reads
        ) e`,
  )

const PastEvent = Type.Object({
  replay_id: Type.Integer(),
  id: Type.String(),
  type: Type.String(),
  position: Type.Integer(),
  occurred_at: Instant,
  created_at: Instant,
})
export type PastEvent = Static<typeof PastEvent>

/** A range of positions, after `position` and up to `end_position`, in which a replay looks for events of its types. */
export type PastRange = { project_id: ProjectId; id: number; event_types: string[]; position: number; end_position: number }

/** The next events of each range, in order, at most `perRange`. */
export const eventsWithin = (ctx: InTx<Ctx>, ranges: PastRange[], perRange: number) =>
  ctx.db.many(
    PastEvent,
    sql`select r.id as replay_id, e.id, e.type, e.position, e.occurred_at, e.created_at
        from jsonb_to_recordset(${JSON.stringify(ranges)}::jsonb)
             as r (project_id bigint, id bigint, event_types text[], position bigint, end_position bigint)
        cross join lateral (
          select e.id, e.type, e.position, e.occurred_at, e.created_at
          from unnest(r.event_types) as t (type)
          cross join lateral (
            select id, type, position, occurred_at, created_at from webhook_events
            where project_id = r.project_id and type = t.type and position > r.position and position <= r.end_position
            order by position
            limit ${perRange}
          ) e
          order by e.position
          limit ${perRange}
        ) e`,
  )

const RangeRow = Type.Object({ id: Type.Integer() })

/** Those of these ranges whose project has events from before an instant that have no position yet. */
export const rangesToNumber = async (
  ctx: InTx<Ctx>,
  ranges: { project_id: ProjectId; id: number; created_at: Date }[],
): Promise<ReadonlySet<number>> => {
  const rows = await ctx.db.many(
    RangeRow,
    sql`select r.id
        from jsonb_to_recordset(${JSON.stringify(ranges)}::jsonb) as r (project_id bigint, id bigint, created_at timestamptz)
        cross join lateral (
          select id from webhook_events
          where project_id = r.project_id and position is null and created_at <= r.created_at
          order by created_at, id
          limit 1
        ) e`,
  )
  return new Set(rows.map(({ id }) => id))
}

const TransactionRow = Type.Object({ virtualtransaction: Type.String() })

/**
 * The transactions that store events now, of any project. Their locks show them: their events are not visible, and are for the endpoints that
 * had subscribed when each was stored.
 */
export const transactionsStoring = async (ctx: InTx<Ctx>): Promise<string[]> => {
  const rows = await ctx.db.many(
    TransactionRow,
    sql`select distinct virtualtransaction from pg_locks
        where database = (select oid from pg_database where datname = current_database()) and relation = 'webhook_events'::regclass
          and mode = 'RowExclusiveLock' and granted`,
  )
  return rows.map(({ virtualtransaction }) => virtualtransaction)
}

/**
 * A position before those of all events whose ids are not less than this one; 0 if there is none. It is the least of some events, because one that
 * was committed late has a late position.
 */
export const positionBefore = (ctx: InTx, id: string): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select coalesce(min(position), 0) as count
        from (select position from webhook_events
              where project_id = ${ctx.projectId} and id < ${id} and position > 0
              order by id desc
              limit 100) e`,
  )

/** A position after those of all events that have one. */
export const nextPosition = (ctx: InTx<Ctx>): Promise<number> => ctx.db.value(Count, sql`select nextval('webhook_positions') as count`)

/** Where a cursor is after a look, and when to look again: null when there are no further events. */
export type Look = Cursor & { due_at: Date | null }

/** Saves where cursors are and when they are due. Their rows exist, and are locked with the version of their project. */
export const saveCursors = (ctx: InTx<Ctx>, looks: Look[]) =>
  ctx.db.run(
    sql`insert into webhook_cursors (project_id, endpoint_id, position, due_at, looked_order)
        select project_id, endpoint_id, position, due_at, nextval('webhook_positions')
        from unnest(${looks.map(({ project_id }) => project_id)}::bigint[], ${looks.map(({ endpoint_id }) => endpoint_id)}::bigint[],
                    ${looks.map(({ position }) => position)}::bigint[], ${looks.map(({ due_at }) => due_at)}::timestamptz[])
             as l (project_id, endpoint_id, position, due_at)
        on conflict (project_id, endpoint_id) do update set position = excluded.position, due_at = excluded.due_at, looked_order = excluded.looked_order`,
  )

/** Makes the cursor of an endpoint due now, if it is due later. */
export const lookNow = (ctx: Ctx, projectId: ProjectId, endpointId: EndpointId) =>
  ctx.db.run(
    sql`update webhook_cursors set due_at = ${ctx.clock.now()}
        where project_id = ${projectId} and endpoint_id = ${endpointId} and due_at > ${ctx.clock.now()}`,
  )

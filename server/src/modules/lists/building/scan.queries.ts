import { Type } from 'typebox'
import { raw, sql, unprepared } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import { Flag, IdOf } from '../../../lib/shapes.ts'
import { matchesEventSql, type Tracker } from '../../rules/index.ts'
import { inWindow, keptTimes, keptTimesOfEvents } from '../live/times.queries.ts'
import type { Part } from './parts.queries.ts'
import type { ScanPosition } from './queries.ts'

/** The name of the table of the events that a scan has matched. Only the build writes to it. */
const matched = (id: ListVersionId) => raw(`list_build_events_${Number(id)}`)

/** The name of the table of their times, by user. Only the build writes to it. */
const found = (id: ListVersionId) => raw(nameOfFound(id))

const nameOfFound = (id: ListVersionId) => `list_build_times_${Number(id)}`

/** Creates the tables of a scan, with a marker row. They are unlogged: a crash of the database empties both. */
export const openMatches = async (ctx: InTx, id: ListVersionId): Promise<void> => {
  await dropMatches(ctx, id)
  await ctx.db.run(
    unprepared(
      sql`create unlogged table ${matched(id)} (tracker_id bigint not null, user_id bigint not null, created_at timestamptz not null)`,
    ),
  )
  await ctx.db.run(
    unprepared(sql`create unlogged table ${found(id)} (tracker_id bigint not null, user_id bigint not null, times bigint[] not null)`),
  )
  await ctx.db.run(unprepared(sql`insert into ${found(id)} (tracker_id, user_id, times) values (0, 0, '{}')`))
}

/** Are the tables there, with their marker row? A build that an earlier release began has other tables. */
export const isWhole = async (ctx: InTx, id: ListVersionId): Promise<boolean> =>
  (await ctx.db.value(Flag, sql`select to_regclass(${nameOfFound(id)}) is not null as is_there`)) &&
  (await ctx.db.value(Flag, unprepared(sql`select exists (select 1 from ${found(id)} where tracker_id = 0) as whole`)))

/** Drops the matched events, whose times are collected, and indexes these by user. Statistics of the times themselves are not needed, and cost the most. */
export const indexTimes = async (ctx: InTx, id: ListVersionId): Promise<void> => {
  await ctx.db.run(unprepared(sql`drop table ${matched(id)}`))
  await ctx.db.run(unprepared(sql`create index on ${found(id)} (tracker_id, user_id)`))
  await ctx.db.run(unprepared(sql`analyze ${found(id)} (tracker_id, user_id)`))
}

export const dropMatches = (ctx: ProjectCtx, id: ListVersionId) =>
  ctx.db.run(unprepared(sql`drop table if exists ${matched(id)}, ${found(id)}`))

export const saveScan = (ctx: InTx, id: ListVersionId, status: 'filling' | 'building', position: ScanPosition) =>
  ctx.db.run(
    sql`update list_versions set status = ${status}, scan = ${JSON.stringify(position)}::jsonb where project_id = ${ctx.projectId} and id = ${id}`,
  )

const Partition = Type.Object({ name: Type.String(), pages: Type.Integer() })

/** The partitions of events with their sizes, in the order of the scan. */
export const partitions = (ctx: InTx) =>
  ctx.db.many(
    Partition,
    sql`select c.relname::text as name, (pg_relation_size(c.oid) / current_setting('block_size')::bigint) as pages
        from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'events'::regclass order by 1`,
  )

/** Reads pages of a partition, and keeps the events that match. Sorting them by user here would cost more than reading them. */
export const scanPages = (ctx: InTx, id: ListVersionId, trackerId: TrackerId, tracker: Tracker, pages: Part) =>
  ctx.db.run(
    unprepared(
      sql`insert into ${matched(id)} (tracker_id, user_id, created_at)
          select ${trackerId}, e.user_id, e.created_at
          from only ${raw(pages.partition)} e
          where e.ctid >= ${`(${pages.after},0)`}::tid and e.ctid < ${`(${pages.until},0)`}::tid
            and e.project_id = ${ctx.projectId} and ${inWindow(ctx, tracker)} and ${matchesEventSql(tracker)}`,
    ),
  )

/** Removes the time limit of statements for the rest of the transaction, for work that is done once for all matches of a scan. */
export const allowLongStatements = (ctx: InTx) => ctx.db.run(sql`select set_config('statement_timeout', '0', true)`)

/** Collects the times of the users with an id above `after` and up to `until` from the events that the scan has matched. */
export const collectTimes = (ctx: InTx, id: ListVersionId, trackerId: TrackerId, tracker: Tracker, { after, until }: Part) =>
  ctx.db.run(
    unprepared(
      sql`insert into ${found(id)} (tracker_id, user_id, times)
          select ${trackerId}, e.user_id, ${keptTimesOfEvents(ctx, tracker)}
          from ${matched(id)} e
          where e.tracker_id = ${trackerId} and e.user_id > ${after} and e.user_id <= ${until}
          group by e.user_id`,
    ),
  )

type Fill = { id: ListVersionId; trackerId: TrackerId; tracker: Tracker; after: UserId; last: UserId }

/**
 * Fills the times of a tracker for the users with an id above `after` and up to `last` from those of the scan: as they are, or together with
 * those of the users who were merged into them. Users who were erased after the scan had read their events have no row, and are left out.
 * `replaces` if some of them may have a row of times: an insert that must look for one costs nearly twice as much.
 */
export const fillFromMatches = (ctx: InTx, { id, trackerId, tracker, after, last }: Fill, replaces: boolean) =>
  ctx.db.run(
    unprepared(
      sql`with merged as materialized (
            select m.id, m.merged_into from users m
            where m.project_id = ${ctx.projectId} and m.merged_into > ${after} and m.merged_into <= ${last}
          )
          insert into tracked_times as k (project_id, tracker_id, user_id, times)
          select ${ctx.projectId}::bigint, ${trackerId}::bigint, f.user_id, f.times from ${found(id)} f
          join users u on u.project_id = ${ctx.projectId} and u.id = f.user_id and u.id > ${after} and u.id <= ${last}
          where f.tracker_id = ${trackerId} and f.user_id > ${after} and f.user_id <= ${last}
            and not exists (select 1 from merged m where m.merged_into = f.user_id)
          union all
          select ${ctx.projectId}, ${trackerId}, s.merged_into, ${keptTimes(tracker, sql`t.at`, sql`t.at`, sql`t.at > ${ctx.clock.now().getTime()}::bigint`)}
          from (select id, merged_into from merged union select merged_into, merged_into from merged) s
          join ${found(id)} f on f.tracker_id = ${trackerId} and f.user_id = s.id
          cross join lateral unnest(f.times) as t(at)
          group by s.merged_into
          ${replaces ? sql`on conflict (project_id, tracker_id, user_id) do update set times = excluded.times` : sql``}`,
    ),
  )

const Kept = Type.Object({ user_id: IdOf<UserId>(), is_stale: Type.Boolean() })

/** The users among these who have a row already. It is stale if they have events that arrived during the scan. */
export const findKept = (ctx: InTx, { trackerId, after, last }: Fill) =>
  ctx.db.many(
    Kept,
    sql`select user_id, is_stale from tracked_times
        where project_id = ${ctx.projectId} and tracker_id = ${trackerId} and user_id > ${after} and user_id <= ${last}`,
  )

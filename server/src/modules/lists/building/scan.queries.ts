import { Type } from 'typebox'
import { raw, sql, unprepared } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import { Flag, IdOf } from '../../../lib/shapes.ts'
import { matchesEventSql, type Tracker } from '../../rules/index.ts'
import { inWindow, keptTimes, keptTimesOfEvents } from '../live/times.queries.ts'
import type { Part } from './parts.queries.ts'
import type { ScanPosition } from './queries.ts'

/** The name of the table of matches of a scan. Only the build writes to it. */
const found = (id: ListVersionId) => raw(`tracked_times_found_${Number(id)}`)

/** Creates the table of matches with a marker row. The table is unlogged: a crash of the database empties it. */
export const openMatches = async (ctx: InTx, id: ListVersionId): Promise<void> => {
  await ctx.db.run(unprepared(sql`drop table if exists ${found(id)}`))
  await ctx.db.run(
    unprepared(sql`create unlogged table ${found(id)} (tracker_id bigint not null, user_id bigint not null, times bigint[] not null)`),
  )
  await ctx.db.run(unprepared(sql`insert into ${found(id)} (tracker_id, user_id, times) values (0, 0, '{}')`))
}

/** Does the table still have its marker row? */
export const isWhole = (ctx: InTx, id: ListVersionId): Promise<boolean> =>
  ctx.db.value(Flag, unprepared(sql`select exists (select 1 from ${found(id)} where tracker_id = 0) as whole`))

/** Indexes the matches by user. Nothing is planned by their times, whose statistics would cost the most. */
export const indexMatches = async (ctx: InTx, id: ListVersionId): Promise<void> => {
  await ctx.db.run(unprepared(sql`create index on ${found(id)} (tracker_id, user_id)`))
  await ctx.db.run(unprepared(sql`analyze ${found(id)} (tracker_id, user_id)`))
}

export const dropMatches = (ctx: ProjectCtx, id: ListVersionId) => ctx.db.run(unprepared(sql`drop table if exists ${found(id)}`))

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

/** Reads pages of a partition. The times of each user become one row. */
export const scanPages = (ctx: InTx, id: ListVersionId, trackerId: TrackerId, tracker: Tracker, pages: Part) =>
  ctx.db.run(
    unprepared(
      sql`insert into ${found(id)} (tracker_id, user_id, times)
          select ${trackerId}, e.user_id, ${keptTimesOfEvents(ctx, tracker)}
          from only ${raw(pages.partition)} e
          where e.ctid >= ${`(${pages.after},0)`}::tid and e.ctid < ${`(${pages.until},0)`}::tid
            and e.project_id = ${ctx.projectId} and ${inWindow(ctx, tracker)} and ${matchesEventSql(tracker)}
          group by e.user_id`,
    ),
  )

type Fill = { id: ListVersionId; trackerId: TrackerId; tracker: Tracker; after: UserId; last: UserId }

/**
 * Fills the times of a tracker for the users with an id above `after` and up to `last` from the matches of the scan. `replaces` if some of them
 * may have a row: an insert that must look for one costs nearly twice as much.
 */
export const fillFromMatches = (ctx: InTx, { id, trackerId, tracker, after, last }: Fill, replaces: boolean) =>
  ctx.db.run(
    unprepared(
      sql`insert into tracked_times as k (project_id, tracker_id, user_id, times)
          select ${ctx.projectId}, ${trackerId}, s.merged_into, ${keptTimes(tracker, sql`t.at`, sql`t.at`, sql`t.at > ${ctx.clock.now().getTime()}::bigint`)}
          from (select f.user_id as merged_into, f.times from ${found(id)} f
                where f.tracker_id = ${trackerId} and f.user_id > ${after} and f.user_id <= ${last}
                union all
                select m.merged_into, f.times from users m
                join ${found(id)} f on f.tracker_id = ${trackerId} and f.user_id = m.id
                where m.project_id = ${ctx.projectId} and m.merged_into > ${after} and m.merged_into <= ${last}) s
          cross join lateral unnest(s.times) as t(at)
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

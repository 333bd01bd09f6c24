import { Type } from 'typebox'
import { type Sql, sql, unprepared } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { IdOf } from '../../../lib/shapes.ts'
import { matchesEventSql, type Tracker } from '../../rules/index.ts'

/** Is `events e` within the window of a tracker? An event that has left it never counts again. */
export const inWindow = (ctx: ProjectCtx, { withinMs }: Tracker) =>
  withinMs === null ? sql`true` : sql`e.created_at > ${new Date(ctx.clock.now().getTime() - withinMs)}`

/**
 * The times that a tracker keeps of a group: the milliseconds `ms` in the order of `at`, the deciding ones first. Times after now do not
 * count yet, and take no place of those that do.
 */
export function keptTimes({ keep, count }: Tracker, ms: Sql, at: Sql, isFuture: Sql): Sql {
  if (keep === 'earliest') return sql`(array_agg(${ms} order by ${at} asc))[1:${count}]`
  return sql`(array_agg(${ms} order by ${at} desc))[1:${count}::bigint + count(*) filter (where ${isFuture})]`
}

/** The times that a tracker keeps of a group of `events e`. `date_part` has the whole milliseconds in a float, which takes less time than a numeric. */
export const keptTimesOfEvents = (ctx: ProjectCtx, tracker: Tracker) =>
  keptTimes(tracker, sql`(date_part('epoch', e.created_at) * 1000)::bigint`, sql`e.created_at`, sql`e.created_at > ${ctx.clock.now()}`)

const TimesRow = Type.Object({ user_id: IdOf<UserId>(), times: Type.Array(Type.Integer()) })

/** The times that a tracker would keep for these users, from all their events. */
export const readTimes = (ctx: ProjectCtx, tracker: Tracker, ids: UserId[]) =>
  ctx.db.many(
    TimesRow,
    unprepared(sql`select p.merged_into as user_id, ${keptTimesOfEvents(ctx, tracker)} as times
        from (select id, id as merged_into from unnest(${ids}::bigint[]) as i(id)
              union all
              select m.id, m.merged_into from users m where m.project_id = ${ctx.projectId} and m.merged_into = any(${ids}::bigint[])) p
        join events e on e.user_id = p.id and e.project_id = ${ctx.projectId} and ${inWindow(ctx, tracker)} and ${matchesEventSql(tracker)}
        group by p.merged_into`),
  )

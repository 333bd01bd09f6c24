import { Type } from 'typebox'
import { join, raw, sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import { Count, Instant, Nullable } from '../../lib/shapes.ts'

const Removal = Type.Object({ removed: Type.Integer(), past_to: Type.Integer(), completed_at: Nullable(Instant) })

/** The progress of the removal of events before an instant. */
export const findRemoval = (ctx: Ctx, before: Date) =>
  ctx.db.first(Removal, sql`select removed, past_to, completed_at from event_removals where before = ${before}`)

/** Limits the wait for a lock: while a statement waits for an exclusive lock, all later ones wait behind it. */
export const limitLockWait = (ctx: InTx<Ctx>, ms: number) => ctx.db.run(sql`select set_config('lock_timeout', ${`${ms}ms`}, true)`)

/** Drops partitions. Their names come from the database, so they need no quoting. */
export const dropMonthTables = (ctx: InTx<Ctx>, names: string[]) => ctx.db.run(sql`drop table if exists ${join(names.map(raw), ', ')}`)

/** Adds the number of dropped partitions. */
export const noteDropped = (ctx: InTx<Ctx>, before: Date, partitions: number) =>
  ctx.db.run(
    sql`insert into event_removals as r (before, removed) values (${before}, ${partitions})
        on conflict (before) do update set removed = r.removed + excluded.removed`,
  )

/** Notes that a removal is complete. Lists need no update if it removed nothing. */
export const noteComplete = (ctx: Ctx, before: Date) =>
  ctx.db.run(
    sql`insert into event_removals as r (before, completed_at, followed_at) values (${before}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict (before) do update
        set completed_at = excluded.completed_at, followed_at = case when r.removed = 0 then excluded.followed_at end`,
  )

const Unfollowed = Type.Object({ before: Instant })

/** The oldest complete removal after which lists were not updated yet. */
export const findUnfollowed = (ctx: Ctx) =>
  ctx.db.first(
    Unfollowed,
    sql`select before from event_removals where completed_at is not null and followed_at is null order by before limit 1`,
  )

/** Notes that lists were updated after a removal. */
export const noteFollowed = (ctx: Ctx, before: Date) =>
  ctx.db.run(sql`update event_removals set followed_at = ${ctx.clock.now()} where before = ${before} and followed_at is null`)

/** The size of the partition of all events before the first month. */
export const oldestMonthPages = (ctx: Ctx): Promise<number> =>
  ctx.db.value(Count, sql`select pg_relation_size('events_past') / current_setting('block_size')::int as pages`)

/** Deletes events before an instant from a range of pages, and stores the next page. */
export const deleteFromOldestMonth = (ctx: Ctx, before: Date, from: number, to: number) =>
  ctx.db.run(
    sql`with deleted as (
          delete from events_past
          where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${to},0)`}::tid and created_at < ${before}
          returning 1
        )
        insert into event_removals as r (before, removed, past_to)
        select ${before}, count(*), ${to} from deleted
        on conflict (before) do update set removed = r.removed + excluded.removed, past_to = excluded.past_to`,
  )

/** Subtracts some of the days before an instant from the counts. */
export const deleteDays = (ctx: Ctx, before: Date, most: number): Promise<number> =>
  ctx.db.value(
    Count,
    sql`with deleted as (
            delete from event_days
            where (project_id, name, day, partition) in
              (select project_id, name, day, partition from event_days where day < (${before}::timestamptz at time zone 'UTC')::date order by day limit ${most})
            returning project_id, name, partition, events
          ), less as (
            update event_names n
            set events = n.events - g.events, first_at = greatest(n.first_at, ${before}), last_at = greatest(n.last_at, ${before})
            from (select project_id, name, partition, sum(events)::bigint as events from deleted group by project_id, name, partition) g
            where n.project_id = g.project_id and n.name = g.name and n.partition = g.partition
          )
          select count(*) as days from deleted`,
  )

/** Deletes names without events, and their part of the totals. */
export const deleteNames = (ctx: Ctx) =>
  ctx.db.run(
    sql`with deleted as (
          delete from event_names where events <= 0 returning project_id, name, totalled
        )
        update event_name_totals t set events = t.events - d.totalled
        from (select project_id, name, sum(totalled)::bigint as totalled from deleted where totalled <> 0 group by project_id, name) d
        where t.project_id = d.project_id and t.name = d.name`,
  )

/** Deletes the totals of names without events. */
export const deleteNameTotals = (ctx: Ctx) => ctx.db.run(sql`delete from event_name_totals where events <= 0`)

/** Deletes the totals of days before an instant. */
export const deleteDayTotals = (ctx: Ctx, before: Date) =>
  ctx.db.run(sql`delete from event_day_totals where day < (${before}::timestamptz at time zone 'UTC')::date`)

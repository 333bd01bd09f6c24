import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { likePattern } from '../../infra/http/search.ts'
import { fence, join, type Sql, sql } from '../../infra/postgres/db.ts'
import { jointRun } from '../../infra/postgres/joint.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable, OneOf } from '../../lib/shapes.ts'
import { Coverage, idsToErase, Samples, samplesOf } from '../users/index.ts'
import { type DayCount, type NameCount, RECENT_KEPT } from './counts.ts'
import { EVENT_SOURCES } from './event.ts'
import { shownData } from './shown-data.queries.ts'

const ItemRow = Type.Object({
  name: Type.String(),
  data: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  created_at: Instant,
  received_at: Instant,
  source: OneOf(EVENT_SOURCES),
  journey_id: Nullable(IdOf<JourneyId>()),
  seq: Type.Integer(),
})
export type ItemRow = Static<typeof ItemRow>

export const timelineListing = listing({
  resource: 'user_events',
  sorts: { created_at: { column: sql`e.created_at`, type: 'timestamptz' } },
  defaultSort: 'created_at',
  defaultDirection: 'desc',
  id: sql`e.seq`,
  idName: 'seq',
  searchedFields: 'name',
})

/** A filter of the events of a user. `since` is included, `until` is not. */
export type Wanted = { name?: string; since?: Date; until?: Date }

/**
 * Makes `listEvents` read in the order of the index. The planner assumes that every user has few events, and would fetch and sort
 * all of them.
 */
export const followIndex = (ctx: InTx) => ctx.db.run(sql`select set_config('enable_bitmapscan', 'off', true)`)

/** A page of the events stored under any of these ids. */
export const listEvents = (ctx: InTx, ids: UserId[], wanted: Wanted, page: PageRequest, hidden: string[]): Promise<PageOf<ItemRow>> =>
  pageOf(ctx, ItemRow, timelineListing, page, {
    select: sql`e.name, ${shownData(hidden)} as data, e.created_at, e.received_at, coalesce(e.source, 'api') as source, e.journey_id, e.seq`,
    from: sql`unnest(${ids}::bigint[]) as u(id) cross join lateral (${nearest(ctx, wanted, page)}) e`,
    where: sql`true`,
  })

/**
 * As many events of each id as a page and its cursors need: the first on either side of the position, read from the index of each month,
 * in the order of months. A page costs the same for a user with a million events as for any other. Events are cut by time alone; those of
 * the last instant are all returned, so that the page can be cut exactly.
 */
function nearest(ctx: ProjectCtx, wanted: Wanted, page: PageRequest): Sql {
  const { name, since, until } = wanted
  const conditions = [
    sql`e.project_id = ${ctx.projectId} and e.user_id = u.id`,
    ...(name === undefined ? [] : [sql`e.name = ${name}`]),
    ...(page.q === '' ? [] : [sql`e.name ilike ${likePattern(page.q)}`]),
    ...(since === undefined ? [] : [sql`e.created_at >= ${since}::timestamptz`]),
    ...(until === undefined ? [] : [sql`e.created_at < ${until}::timestamptz`]),
  ]
  const position = page.cursor?.position
  const side = (ascending: boolean, rows: number) => {
    const way = ascending ? sql`asc` : sql`desc`
    const beyond =
      position && sql`(e.created_at, e.seq) ${ascending ? sql`>=` : sql`<=`} (${position.sortValue}::timestamptz, ${position.id}::bigint)`
    return sql`(select e.name, e.data, e.created_at, e.received_at, e.source, e.journey_id, e.seq
                from events e
                where ${join(beyond ? [...conditions, beyond] : conditions, ' and ')}
                order by e.created_at ${way}
                fetch first ${rows} rows with ties)`
  }
  const ascending = (page.direction === 'asc') !== (page.travel === 'prev')
  // One extra row shows whether there is another page, and one may be the row of the cursor.
  const ahead = side(ascending, (page.limit === -1 ? ctx.config.LIST_ALL_MAX : page.limit) + 2)
  return position ? sql`${ahead} union all ${side(!ascending, 2)}` : ahead
}

/** Adds to the counts by day and by name, and stores the users and times of the latest events of each name. */
export const addCounts = (ctx: InTx, partition: number, days: DayCount[], names: NameCount[]) =>
  addAllCounts(ctx, ctx.projectId, { partition, days, names })

const addAllCounts = jointRun<{ partition: number; days: DayCount[]; names: NameCount[] }>((ctx, calls) => {
  const days = calls.flatMap(({ projectId, input: { partition, days } }) =>
    days.map((day) => ({ project_id: projectId, partition, ...day })),
  )
  const names = calls.flatMap(({ projectId, input: { partition, names } }) =>
    names.map((name) => ({ project_id: projectId, partition, ...name })),
  )
  return ctx.db.run(
    sql`with counted as materialized (
          select i.project_id, i.name, i.day, i.partition, i.events
          from jsonb_to_recordset(${JSON.stringify(days)}::jsonb) as i(project_id bigint, partition smallint, name text, day date, events bigint)
        ), days as (
          insert into event_days as d (project_id, name, day, partition, events)
          select project_id, name, day, partition, events from counted order by project_id, name, day
          on conflict (project_id, name, day, partition) do update set events = d.events + excluded.events
        ), totals as (
          insert into event_day_totals as t (project_id, day, partition, events)
          select project_id, day, partition, sum(events)::bigint from counted group by project_id, day, partition order by project_id, day
          on conflict (project_id, day, partition) do update set events = t.events + excluded.events
        )
        insert into event_names as n (project_id, name, partition, events, first_at, last_at, recent_users, recent_times)
        select i.project_id, i.name, i.partition, i.events, i.first_at, i.last_at, i.recent_users, i.recent_times
        from jsonb_to_recordset(${JSON.stringify(names)}::jsonb)
             as i(project_id bigint, partition smallint, name text, events bigint, first_at timestamptz, last_at timestamptz, recent_users bigint[], recent_times timestamptz[])
        order by i.project_id, i.name
        on conflict (project_id, name, partition) do update
        set events = n.events + excluded.events,
            first_at = least(n.first_at, excluded.first_at),
            last_at = greatest(n.last_at, excluded.last_at),
            recent_users = (excluded.recent_users || n.recent_users)[1:${RECENT_KEPT}::int],
            recent_times = (excluded.recent_times || n.recent_times)[1:${RECENT_KEPT}::int]`,
  )
})

/** A range of days, both included, as `2026-11-23`. */
export type Days = { from: string; to: string }

const CandidateRow = Type.Object({ name: Type.String(), total: Nullable(Type.Integer()) })

/**
 * Names that may be the most frequent ones of a range: names with the highest totals, highest first, and names whose events are not all in
 * their total yet. The latter have null as their total, and may be returned several times. At most `most` of each kind. A total that is not
 * null is at least the number of events with the name in any range.
 */
export const listCandidates = (ctx: ProjectCtx, most: number) =>
  ctx.db.many(
    CandidateRow,
    sql`(select name, events as total from event_name_totals where project_id = ${ctx.projectId} order by events desc limit ${most})
        union all
        (select name, null from event_names where project_id = ${ctx.projectId} and not is_totalled limit ${most})`,
  )

const NameDayRow = Type.Object({
  name: Type.String(),
  day: Type.String(),
  count: Type.Integer(),
  name_total: Type.Integer(),
})
export type NameDayRow = Static<typeof NameDayRow>

/**
 * The daily counts of the `most` most frequent of these names, or of all names, most frequent first. All are summed, and only the most
 * frequent ones read day by day, because a project can have a hundred thousand.
 */
export const countsByDay = (ctx: ProjectCtx, days: Days, names: string[] | 'all', most: number) =>
  ctx.db.many(
    NameDayRow,
    sql`with sums as materialized (${names === 'all' ? sumsOfAll(ctx, days) : sumsOf(ctx, days, names)}),
        top_names as (
          select name, name_total from sums order by name_total desc, name limit ${most}
        )
        select f.name, c.day::text as day, c.count, f.name_total
        from top_names f
        cross join lateral (
          select day, sum(events)::bigint as count from event_days
          where project_id = ${ctx.projectId} and name = f.name and ${within(days)}
          group by day ${fence}
        ) c
        order by f.name_total desc, f.name, c.day`,
  )

const within = ({ from, to }: Days) => sql`day >= ${from}::date and day <= ${to}::date`

const sumsOfAll = (ctx: ProjectCtx, days: Days) =>
  sql`select name, sum(events)::bigint as name_total from event_days where project_id = ${ctx.projectId} and ${within(days)} group by name`

/** Looks each name up: the planner would read the whole range for a few hundred. */
const sumsOf = (ctx: ProjectCtx, days: Days, names: string[]) =>
  sql`select n.name, s.name_total
      from unnest(${names}::text[]) as n(name)
      cross join lateral (
        select sum(events)::bigint as name_total from event_days
        where project_id = ${ctx.projectId} and name = n.name and ${within(days)} ${fence}
      ) s
      where s.name_total is not null`

/** The number of events in a range of days, over all names. */
export const countOfDays = (ctx: ProjectCtx, days: Days): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select coalesce(sum(events), 0)::bigint as events from event_day_totals where project_id = ${ctx.projectId} and ${within(days)}`,
  )

const NameRow = Type.Object({ id: Type.Integer(), name: Type.String(), count: Type.Integer(), first_seen: Instant, last_seen: Instant })
export type NameRow = Static<typeof NameRow>

export const nameListing = listing({
  resource: 'event_names',
  sorts: {
    name: { column: sql`n.name`, type: 'text' },
    count: { column: sql`n.count`, type: 'bigint' },
    last_seen: { column: sql`n.last_seen`, type: 'timestamptz' },
  },
  defaultSort: 'name',
  defaultDirection: 'asc',
  id: sql`n.id`,
  search: [sql`n.name`],
  searchedFields: 'name',
})

/** A page of event names. */
export const listNames = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<NameRow>> =>
  pageOf(ctx, NameRow, nameListing, page, {
    select: sql`n.id, n.name, n.count, n.first_seen, n.last_seen`,
    from: sql`(select min(id) as id, name, sum(events)::bigint as count, min(first_at) as first_seen, max(last_at) as last_seen
                 from event_names where project_id = ${ctx.projectId} group by name) n`,
    where: sql`true`,
  })

const AttributeRow = Type.Object({
  name: Type.String(),
  key: Type.String(),
  types: Type.Array(Type.String()),
  coverage: Coverage,
  samples: Samples,
})

/**
 * For `with`: the data of the latest `eventsMax` events of each name, as the table `event_data`. Erased users have no events, and those of users who
 * are being erased are left out.
 */
const dataOfLatest = (ctx: ProjectCtx, names: string[], eventsMax: number, hidden: string[]) =>
  sql`latest as materialized (
        select distinct r.name, r.user_id, r.at
        from (select n.name, r.user_id, r.at, row_number() over (partition by n.name order by r.at desc) as rank
              from event_names n cross join lateral unnest(n.recent_users, n.recent_times) as r(user_id, at)
              where n.project_id = ${ctx.projectId} and n.name = any(${names}::text[]) and r.user_id not in ${idsToErase(ctx)}) r
        where r.rank <= ${eventsMax}
      ), event_data as materialized (
        select l.name, ${shownData(hidden)} as data
        from latest l
        cross join lateral (select e.data, e.source, e.name from events e
                            where e.project_id = ${ctx.projectId} and e.user_id = l.user_id and e.created_at = l.at and e.name = l.name) e
      )`

/** The attributes of the latest `eventsMax` events of each name, at most `most` of each. `hidden` are the keys that the caller may not see. */
export const attributesOfLatest = (ctx: ProjectCtx, names: string[], eventsMax: number, most: number, hidden: string[]) =>
  ctx.db.many(
    AttributeRow,
    sql`with ${dataOfLatest(ctx, names, eventsMax, hidden)}
        select a.name, a.key, a.types, a.coverage, a.samples
        from (select c.name, d.key, array_agg(distinct jsonb_typeof(d.value) order by jsonb_typeof(d.value)) as types,
                     count(*)::float8 / max(t.events) as coverage, ${samplesOf(sql`d.value`)} as samples,
                     row_number() over (partition by c.name order by count(*) desc, d.key) as rank
              from event_data c
              join (select name, count(*) as events from event_data group by name) t on t.name = c.name
              cross join lateral jsonb_each(c.data) as d(key, value)
              where jsonb_typeof(d.value) <> 'null'
              group by c.name, d.key) a
        where a.rank <= ${most}
        order by a.name, a.rank`,
  )

const Known = Type.Object({ name: Type.String() })

/** The names among these that the project has events of. */
export const usedEventNames = async (ctx: ProjectCtx, names: string[]): Promise<string[]> => {
  const rows = await ctx.db.many(
    Known,
    sql`select distinct name from event_names where project_id = ${ctx.projectId} and name = any(${names}::text[])`,
  )
  return rows.map(({ name }) => name)
}

/** So many events are read to find out which keys their data has. */
const EVENTS_LOOKED_AT = 500

/** The keys among these that occur in the data of the latest events with these names. */
export const usedDataKeys = async (ctx: ProjectCtx, eventNames: string[], keys: string[]): Promise<string[]> => {
  const rows = await ctx.db.many(
    Known,
    sql`with ${dataOfLatest(ctx, eventNames, Math.ceil(EVENTS_LOOKED_AT / eventNames.length), [])}
        select distinct k.name from event_data d cross join lateral jsonb_object_keys(d.data) as k(name) where k.name = any(${keys}::text[])`,
  )
  return rows.map(({ name }) => name)
}

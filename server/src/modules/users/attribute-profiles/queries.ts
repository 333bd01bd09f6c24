import { Type } from 'typebox'
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId, UserId } from '../../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import { isLive, isLiveRow } from '../queries.ts'
import { Samples } from './schema.ts'

/** The columns that are profiled. */
const profiledColumns = sql`u.id, u.updated_at, u.data, u.external_id, u.anonymous_id, u.email, u.phone, u.timezone, u.locale`

/** How many ids are kept for each attribute, to read samples from. */
const SAMPLED = 10

/** The possible types, in the order of replies. */
const TYPES = ['array', 'boolean', 'date', 'number', 'object', 'string']

/** The attributes of the users in the table expression `chunk`. Nothing in it has to be sorted. */
const profileOfChunk = sql`(
  select h.key, array_remove(array[${join(
    TYPES.map((type) => sql`case when bool_or(h.type = ${type}) then ${type}::text end`),
    ', ',
  )}], null) as types,
         count(*) as users, max(h.updated_at) as last_seen, (array_agg(h.id))[1:${SAMPLED}::int] as sample_users
  from (select c.id, c.updated_at, 'data.' || e.key as key, jsonb_typeof(e.value) as type
        from chunk c
        cross join lateral jsonb_each(c.data) as e(key, value)
        where jsonb_typeof(e.value) <> 'null'
        union all
        select c.id, c.updated_at, f.key, f.type
        from chunk c
        cross join lateral (values
          ('external_id', 'string', c.external_id is not null), ('anonymous_id', 'string', c.anonymous_id is not null),
          ('email', 'string', c.email is not null), ('phone', 'string', c.phone is not null),
          ('timezone', 'string', c.timezone is not null), ('locale', 'string', c.locale is not null),
          ('has_push_device', 'boolean', true), ('created_at', 'date', true)) as f(key, type, is_there)
        where f.is_there) h
  group by h.key)`

/** Counts the live users, up to `most`. */
export const countUsers = (ctx: ProjectCtx, most: number): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from (select 1 from users u where u.project_id = ${ctx.projectId} and ${isLive} limit ${most}) counted`,
  )

const Profile = Type.Object({
  key: Type.String(),
  types: Type.Array(Type.String()),
  users: Type.Integer(),
  last_seen: Instant,
  sample_users: Type.Array(IdOf<UserId>()),
})

/** The attributes of the newest users, without hidden ones. */
export const profileNewest = (ctx: ProjectCtx, users: number, hidden: string[], most: number) =>
  ctx.db.many(
    Profile,
    sql`with chunk as materialized (
          select ${profiledColumns} from users u where u.project_id = ${ctx.projectId} and ${isLive} order by u.id desc limit ${users}
        )
        select key, types, users, last_seen, sample_users from ${profileOfChunk} p
        where not key = any(${hidden}::text[])
        order by users desc, key
        limit ${most}`,
  )

const Profiled = Type.Object({ ...Profile.properties, users_profiled: Type.Integer(), as_of: Instant })

/** The attributes of all users as of the latest complete run; none before the first. */
export const profiledAttributes = (ctx: ProjectCtx, hidden: string[], most: number) =>
  ctx.db.many(
    Profiled,
    sql`select p.key, p.types, p.users, p.last_seen, p.sample_users, s.users as users_profiled, s.as_of
        from attribute_profiling s
        join attribute_profiles p on p.project_id = s.project_id and p.run = s.run
        where s.project_id = ${ctx.projectId} and s.as_of is not null and not p.key = any(${hidden}::text[])
        order by p.users desc, p.key
        limit ${most}`,
  )

const Keys = Type.Object({ users: Type.Integer(), newest: Type.Array(Type.String()), profiled: Type.Array(Type.String()) })

/** Up to `most` keys of `data` of the newest users, how many users these are, and the attributes of the latest complete run. */
export const keysOfUsers = async (ctx: ProjectCtx, users: number, most: number) =>
  (await ctx.db.first(
    Keys,
    sql`with newest as materialized (
          select u.data from users u where u.project_id = ${ctx.projectId} and ${isLive} order by u.id desc limit ${users}
        )
        select (select count(*) from newest) as users,
               array(select distinct e.key from newest n
                     cross join lateral jsonb_each(n.data) as e(key, value)
                     where jsonb_typeof(e.value) <> 'null'
                     limit ${most}) as newest,
               array(select p.key from attribute_profiling s
                     join attribute_profiles p on p.project_id = s.project_id and p.run = s.run
                     where s.project_id = ${ctx.projectId} and s.as_of is not null) as profiled`,
  )) ?? { users: 0, newest: [], profiled: [] }

const SAMPLE_LENGTH_MAX = 64
const SAMPLES_SHOWN = 5

const cut = (text: Sql) =>
  sql`case when length(${text}) > ${SAMPLE_LENGTH_MAX} then left(${text}, ${SAMPLE_LENGTH_MAX}) || '…' else ${text} end`

/** A jsonb value in the form of a sample. */
const asSample = (value: Sql) =>
  sql`case jsonb_typeof(${value})
        when 'number' then ${value}
        when 'boolean' then ${value}
        when 'string' then to_jsonb(${cut(sql`(${value} #>> '{}')`)})
        else to_jsonb(${cut(sql`(${value}::text)`)})
      end`

/** An instant in the format of replies (D-HTTP-5). The JSON functions of PostgreSQL format the time zone differently. */
const asTimestamp = (instant: Sql) => sql`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Some different samples out of a group of jsonb values, as a jsonb array. */
export const samplesOf = (value: Sql) => sql`to_jsonb((array_agg(distinct ${asSample(value)}))[1:${SAMPLES_SHOWN}::int])`

const Sampled = Type.Object({ key: Type.String(), samples: Samples })

/** Samples of the current values of these keys, each read from the user at the same index. Only live users are read. */
export const sampleValues = (ctx: ProjectCtx, keys: string[], ids: UserId[]) =>
  ctx.db.many(
    Sampled,
    sql`select k.key, ${samplesOf(sql`v.value`)} as samples
        from unnest(${keys}::text[], ${ids}::bigint[]) as k(key, id)
        join users u on u.id = k.id and u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[]) and ${isLiveRow}
        cross join lateral (
          select case
            when k.key like 'data.%' then u.data -> substr(k.key, length('data.') + 1)
            else jsonb_build_object(
              'external_id', u.external_id, 'anonymous_id', u.anonymous_id, 'email', u.email, 'phone', u.phone, 'timezone', u.timezone,
              'locale', u.locale, 'has_push_device', u.has_push_device, 'created_at', ${asTimestamp(sql`u.created_at`)}) -> k.key
          end as value) v
        where jsonb_typeof(v.value) <> 'null'
        group by k.key`,
  )

/** Starts hourly runs. A request soon after another writes nothing. */
export const requestProfiling = (ctx: ProjectCtx, askedBefore: Date) =>
  ctx.db.run(
    sql`insert into attribute_profiling as s (project_id, asked_at, due_at) values (${ctx.projectId}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict (project_id) do update set asked_at = excluded.asked_at, due_at = coalesce(s.due_at, excluded.due_at)
        where s.asked_at <= ${askedBefore}`,
  )

const DueRow = Type.Object({ due_at: Nullable(Instant) })

/** When the next profiling is due. */
export const nextProfilingAt = async (ctx: Ctx): Promise<Date | null> =>
  (await ctx.db.first(DueRow, sql`select due_at from attribute_profiling where due_at is not null order by due_at limit 1`))?.due_at ?? null

const Profiling = Type.Object({
  project_id: IdOf<ProjectId>(),
  asked_at: Instant,
  run: Type.Integer(),
  started_at: Nullable(Instant),
  looked_to: Type.Integer(),
  users_so_far: Type.Integer(),
})

/** Locks the profiling that has been due the longest, without those of some projects. */
export const claimProfiling = (ctx: InTx<Ctx>, without: ProjectId[]) =>
  ctx.db.first(
    Profiling,
    sql`select project_id, asked_at, run, started_at, looked_to, users_so_far
        from attribute_profiling
        where due_at <= ${ctx.clock.now()} and project_id <> all(${without}::bigint[])
        order by due_at
        limit 1
        for update skip locked`,
  )

const ProfiledChunk = Type.Object({ users: Type.Integer(), looked_to: Nullable(Type.Integer()) })

/** Profiles the next users after `lookedTo` and adds them to a run, which has at most `keysMax` attributes. */
export const profileNext = async (ctx: InTx<Ctx>, projectId: ProjectId, run: number, lookedTo: number, users: number, keysMax: number) =>
  (await ctx.db.first(
    ProfiledChunk,
    sql`with chunk as materialized (
          select ${profiledColumns} from users u where u.project_id = ${projectId} and ${isLive} and u.id > ${lookedTo} order by u.id limit ${users}
        ), known as materialized (
          select key from attribute_profiles where project_id = ${projectId} and run = ${run}
        ), found as (
          select f.key, f.types, f.users, f.last_seen, f.sample_users, k.key is not null as is_known,
                 row_number() over (partition by k.key is null order by f.users desc, f.key) as rank
          from ${profileOfChunk} f
          left join known k on k.key = f.key
        ), added as (
          insert into attribute_profiles as a (project_id, run, key, types, users, last_seen, sample_users)
          select ${projectId}, ${run}, key, types, users, last_seen, sample_users
          from found
          where is_known or rank <= ${keysMax} - (select count(*) from known)
          on conflict (project_id, run, key) do update
          set types = array(select distinct t from unnest(a.types || excluded.types) as u(t) order by t),
              users = a.users + excluded.users,
              last_seen = greatest(a.last_seen, excluded.last_seen),
              sample_users = (excluded.sample_users || a.sample_users)[1:${SAMPLED}::int]
        )
        select count(*) as users, max(id) as looked_to from chunk`,
  )) ?? { users: 0, looked_to: null }

/** Saves the progress of a run. */
export const saveProgress = (ctx: InTx<Ctx>, projectId: ProjectId, startedAt: Date, lookedTo: number, users: number) =>
  ctx.db.run(
    sql`update attribute_profiling set started_at = ${startedAt}, looked_to = ${lookedTo}, users_so_far = ${users} where project_id = ${projectId}`,
  )

/** Completes a run, which replaces the one before. */
export const finishRun = (ctx: InTx<Ctx>, projectId: ProjectId, run: number, startedAt: Date, users: number, dueAt: Date | null) =>
  ctx.db.run(
    sql`with former as (
          delete from attribute_profiles where project_id = ${projectId} and run < ${run}
        )
        update attribute_profiling
        set run = ${run}, users = ${users}, as_of = ${startedAt}, due_at = ${dueAt}, started_at = null, looked_to = 0, users_so_far = 0
        where project_id = ${projectId}`,
  )

const Used = Type.Object({ key: Type.String() })

/** So many of the newest users are read to find the attributes of a project that has not been profiled, or since. */
const NEWEST_USERS = 5000

/** Those of the keys of `data` that are in the register of attributes, that users had when they were last profiled, or that the newest users have. */
export const usedAttributes = async (ctx: ProjectCtx, keys: string[]): Promise<string[]> => {
  const known = await ctx.db.many(
    Used,
    sql`select key from attributes where project_id = ${ctx.projectId} and key = any(${keys}::text[])
        union select k.key
        from unnest(${keys}::text[]) as k(key)
        join attribute_profiles p on p.project_id = ${ctx.projectId} and p.key = 'data.' || k.key`,
  )
  const found = new Set(known.map(({ key }) => key))
  const others = keys.filter((key) => !found.has(key))
  if (others.length === 0) return keys
  const ofUsers = await ctx.db.many(
    Used,
    sql`select distinct e.key
        from (select u.data from users u where u.project_id = ${ctx.projectId} and ${isLive} order by u.id desc limit ${NEWEST_USERS}) newest
        cross join lateral jsonb_object_keys(newest.data) as e(key)
        where e.key = any(${others}::text[])`,
  )
  return [...found, ...ofUsers.map(({ key }) => key)]
}

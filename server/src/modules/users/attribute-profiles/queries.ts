import { Type } from 'typebox'
import { join, type Sql, sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId, UserId } from '../../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import { Samples } from './schema.ts'

/** People who are there, by the alias `u`. */
const isThere = sql`u.merged_into is null and u.erase_requested_at is null`

/** What of a person is looked at. */
const looked = sql`u.id, u.updated_at, u.data, u.external_id, u.anonymous_id, u.email, u.phone, u.timezone, u.locale`

/** How many ids are kept for each attribute, to read samples from. */
const SAMPLED = 10

/** The types there can be, in the order in which they are told. */
const TYPES = ['array', 'boolean', 'date', 'number', 'object', 'string']

/** What the people of the table expression `chunk` have, attribute by attribute. Nothing in it has to be sorted. */
const profileOfChunk = sql`(
  select h.key, array_remove(array[${join(
    TYPES.map((type) => sql`case when bool_or(h.type = ${type}) then ${type}::text end`),
    ', ',
  )}], null) as types,
         count(*) as people, max(h.updated_at) as last_seen, (array_agg(h.id))[1:${SAMPLED}::int] as sample_users
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

/** How many people there are, counted no further than `most`. */
export const countUsers = (ctx: ProjectCtx, most: number): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from (select 1 from users u where u.project_id = ${ctx.projectId} and ${isThere} limit ${most}) counted`,
  )

const Profile = Type.Object({
  key: Type.String(),
  types: Type.Array(Type.String()),
  people: Type.Integer(),
  last_seen: Instant,
  sample_users: Type.Array(IdOf<UserId>()),
})

/** The attributes of the newest people, without those that are hidden. */
export const profileNewest = (ctx: ProjectCtx, users: number, hidden: string[], most: number) =>
  ctx.db.many(
    Profile,
    sql`with chunk as materialized (
          select ${looked} from users u where u.project_id = ${ctx.projectId} and ${isThere} order by u.id desc limit ${users}
        )
        select key, types, people, last_seen, sample_users from ${profileOfChunk} p
        where not key = any(${hidden}::text[])
        order by people desc, key
        limit ${most}`,
  )

const Surveyed = Type.Object({ ...Profile.properties, people_looked_at: Type.Integer(), as_of: Instant })

/** The same of everybody, as the latest survey found it; nothing when there was none. */
export const surveyedAttributes = (ctx: ProjectCtx, hidden: string[], most: number) =>
  ctx.db.many(
    Surveyed,
    sql`select p.key, p.types, p.people, p.last_seen, p.sample_users, s.people as people_looked_at, s.as_of
        from attribute_profiling s
        join attribute_profiles p on p.project_id = s.project_id and p.survey = s.survey
        where s.project_id = ${ctx.projectId} and s.as_of is not null and not p.key = any(${hidden}::text[])
        order by p.people desc, p.key
        limit ${most}`,
  )

const SAMPLE_LENGTH_MAX = 64
const SAMPLES_SHOWN = 5

const cut = (text: Sql) =>
  sql`case when length(${text}) > ${SAMPLE_LENGTH_MAX} then left(${text}, ${SAMPLE_LENGTH_MAX}) || '…' else ${text} end`

/** A jsonb value as a sample shows it. */
const asSample = (value: Sql) =>
  sql`case jsonb_typeof(${value})
        when 'number' then ${value}
        when 'boolean' then ${value}
        when 'string' then to_jsonb(${cut(sql`(${value} #>> '{}')`)})
        else to_jsonb(${cut(sql`(${value}::text)`)})
      end`

/** An instant as replies write it (D-HTTP-5); JSON of the database would name the zone in another way. */
const asTimestamp = (instant: Sql) => sql`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Some different samples out of a group of jsonb values, as a jsonb array. */
export const samplesOf = (value: Sql) => sql`to_jsonb((array_agg(distinct ${asSample(value)}))[1:${SAMPLES_SHOWN}::int])`

const Sampled = Type.Object({ key: Type.String(), samples: Samples })

/** What these people have now under these keys; the arrays run side by side. Who is gone has nothing. */
export const sampleValues = (ctx: ProjectCtx, keys: string[], ids: UserId[]) =>
  ctx.db.many(
    Sampled,
    sql`select k.key, ${samplesOf(sql`v.value`)} as samples
        from unnest(${keys}::text[], ${ids}::bigint[]) as k(key, id)
        join users u on u.id = k.id and u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[]) and ${isThere}
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

/** Somebody wants to know: from now on there is a survey every hour. Asked again soon, it writes nothing. */
export const requestProfiling = (ctx: ProjectCtx, askedBefore: Date) =>
  ctx.db.run(
    sql`insert into attribute_profiling as s (project_id, asked_at, due_at) values (${ctx.projectId}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict (project_id) do update set asked_at = excluded.asked_at, due_at = coalesce(s.due_at, excluded.due_at)
        where s.asked_at <= ${askedBefore}`,
  )

const Survey = Type.Object({
  project_id: IdOf<ProjectId>(),
  asked_at: Instant,
  survey: Type.Integer(),
  started_at: Nullable(Instant),
  looked_to: Type.Integer(),
  people_so_far: Type.Integer(),
})

/** The survey that is due the longest; nobody else has it meanwhile. */
export const claimProfiling = (ctx: InTx<Ctx>) =>
  ctx.db.first(
    Survey,
    sql`select project_id, asked_at, survey, started_at, looked_to, people_so_far
        from attribute_profiling
        where due_at <= ${ctx.clock.now()}
        order by due_at
        limit 1
        for update skip locked`,
  )

const Looked = Type.Object({ people: Type.Integer(), looked_to: Nullable(Type.Integer()) })

/** Looks at the next people after `lookedTo` and adds what they have to a survey that knows at most `keysMax` attributes. */
export const lookAtNext = async (ctx: InTx<Ctx>, projectId: ProjectId, survey: number, lookedTo: number, users: number, keysMax: number) =>
  (await ctx.db.first(
    Looked,
    sql`with chunk as materialized (
          select ${looked} from users u where u.project_id = ${projectId} and ${isThere} and u.id > ${lookedTo} order by u.id limit ${users}
        ), known as materialized (
          select key from attribute_profiles where project_id = ${projectId} and survey = ${survey}
        ), found as (
          select f.key, f.types, f.people, f.last_seen, f.sample_users, k.key is not null as is_known,
                 row_number() over (partition by k.key is null order by f.people desc, f.key) as place
          from ${profileOfChunk} f
          left join known k on k.key = f.key
        ), added as (
          insert into attribute_profiles as a (project_id, survey, key, types, people, last_seen, sample_users)
          select ${projectId}, ${survey}, key, types, people, last_seen, sample_users
          from found
          where is_known or place <= ${keysMax} - (select count(*) from known)
          on conflict (project_id, survey, key) do update
          set types = array(select distinct t from unnest(a.types || excluded.types) as u(t) order by t),
              people = a.people + excluded.people,
              last_seen = greatest(a.last_seen, excluded.last_seen),
              sample_users = (excluded.sample_users || a.sample_users)[1:${SAMPLED}::int]
        )
        select count(*) as people, max(id) as looked_to from chunk`,
  )) ?? { people: 0, looked_to: null }

/** How far a survey has come. */
export const saveProgress = (ctx: InTx<Ctx>, projectId: ProjectId, startedAt: Date, lookedTo: number, users: number) =>
  ctx.db.run(
    sql`update attribute_profiling set started_at = ${startedAt}, looked_to = ${lookedTo}, people_so_far = ${users} where project_id = ${projectId}`,
  )

/** The survey is complete and takes the place of the one before. */
export const finishSurvey = (ctx: InTx<Ctx>, projectId: ProjectId, survey: number, startedAt: Date, users: number, dueAt: Date | null) =>
  ctx.db.run(
    sql`with former as (
          delete from attribute_profiles where project_id = ${projectId} and survey < ${survey}
        )
        update attribute_profiling
        set survey = ${survey}, people = ${users}, as_of = ${startedAt}, due_at = ${dueAt}, started_at = null, looked_to = 0, people_so_far = 0
        where project_id = ${projectId}`,
  )

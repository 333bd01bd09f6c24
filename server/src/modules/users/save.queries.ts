/** Statements that write users, with the text by which they are searched. */
import { Type } from 'typebox'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import { type JointCall, jointMany, jointRun } from '../../infra/postgres/joint.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'
import type { UserRow } from './schema.ts'

const IdRow = Type.Object({ id: IdOf<UserId>() })

/** A user to insert or update. */
export type SavedUser = Omit<UserRow, 'project_id' | 'created_at' | 'updated_at'> & {
  created_at: Date
  updated_at: Date
  merged_into: UserId | null
  /** The text that `q` searches. Null if it is stored already. */
  search_text: string | null
}

const columnsOfSaved = sql`external_id text, anonymous_id text, email text, phone text, timezone text, locale text, data jsonb, has_push_device boolean,
  created_at timestamptz, updated_at timestamptz, merged_into bigint, search_text text`

/** When most of the users of a call were saved. */
const usualTime = (users: SavedUser[]): Date | undefined => users[0]?.updated_at

/**
 * Users as a document for `inputOf`. What is null or usual is left out, because PostgreSQL takes longer to read a member than to insert its
 * value.
 */
const documentOf = (calls: JointCall<SavedUser[]>[], withIds: boolean): string =>
  JSON.stringify(
    calls.flatMap(({ input }, call) => {
      const usual = usualTime(input)?.getTime()
      return input.map((user) => ({
        call: call || undefined,
        id: withIds ? user.id : undefined,
        external_id: user.external_id ?? undefined,
        anonymous_id: user.anonymous_id ?? undefined,
        email: user.email ?? undefined,
        phone: user.phone ?? undefined,
        timezone: user.timezone ?? undefined,
        locale: user.locale ?? undefined,
        data: user.data,
        has_push_device: user.has_push_device || undefined,
        created_at: user.created_at.getTime() === user.updated_at.getTime() ? undefined : user.created_at,
        updated_at: user.updated_at.getTime() === usual ? undefined : user.updated_at,
        merged_into: user.merged_into ?? undefined,
        search_text: user.search_text ?? undefined,
      }))
    }),
  )

/** The users of a document, each with its call, project and times, and `more`. */
function inputOf(calls: JointCall<SavedUser[]>[], document: Sql, more: Sql): Sql {
  const times = calls.map(({ input }) => usualTime(input))
  return sql`select coalesce(p.call, 0) as call, (${calls.map(({ projectId }) => projectId)}::bigint[])[1 + coalesce(p.call, 0)] as project_id, ${more}
               p.external_id, p.anonymous_id, p.email, p.phone, p.timezone, p.locale, p.data, coalesce(p.has_push_device, false) as has_push_device,
               coalesce(p.created_at, t.updated_at) as created_at, t.updated_at, p.merged_into,
               case when p.merged_into is not null then t.updated_at end as merged_at, p.search_text
             from ${document}
             cross join lateral (select coalesce(p.updated_at, (${times}::timestamptz[])[1 + coalesce(p.call, 0)]) as updated_at) t`
}

/** The next id of a user. The name of the sequence is found once for each statement, which takes as long as many ids. */
const nextId = sql`nextval((select pg_get_serial_sequence('users', 'id')::regclass)) as id,`

/** Inserts users. Returns their ids, in order; none when another transaction inserted one of them. */
export const insertUsers = (ctx: InTx, users: SavedUser[]) => insertAll(ctx, ctx.projectId, users)

const insertAll = jointMany(
  IdRow,
  (_, calls: JointCall<SavedUser[]>[]) =>
    sql`with input as (
          ${inputOf(
            calls,
            sql`rows from (jsonb_to_recordset(${documentOf(calls, false)}::jsonb) as (call int, ${columnsOfSaved})) with ordinality as p`,
            sql`${nextId} p.ordinality,`,
          )}
        ), saved as (
          insert into users (id, project_id, external_id, anonymous_id, email, phone, timezone, locale, data, has_push_device, created_at, updated_at, merged_into, merged_at)
          select id, project_id, external_id, anonymous_id, email, phone, timezone, locale, data, has_push_device, created_at, updated_at, merged_into, merged_at
          from input
          order by project_id, external_id, id
          on conflict do nothing
          returning id
        ), searched as (
          insert into user_search (user_id, project_id, text)
          select id, project_id, search_text from input where search_text is not null
        )
        select call, id from input where (select count(*) from saved) = (select count(*) from input) order by ordinality`,
)

/** Saves locked users. */
export const updateUsers = (ctx: InTx, users: SavedUser[]) => updateAll(ctx, ctx.projectId, users)

const updateAll = jointRun<SavedUser[]>((ctx, calls) =>
  ctx.db.run(
    sql`with input as (
          ${inputOf(calls, sql`jsonb_to_recordset(${documentOf(calls, true)}::jsonb) as p(call int, id bigint, ${columnsOfSaved})`, sql`p.id,`)}
        ), searched as (
          insert into user_search (user_id, project_id, text)
          select p.id, p.project_id, p.search_text from input p where p.search_text is not null
          on conflict (project_id, user_id) do update set text = excluded.text
        )
        update users u
        set external_id = p.external_id, anonymous_id = p.anonymous_id, email = p.email, phone = p.phone, timezone = p.timezone, locale = p.locale,
            data = p.data, has_push_device = p.has_push_device, created_at = p.created_at, updated_at = p.updated_at,
            merged_into = p.merged_into, merged_at = p.merged_at
        from input p
        -- The arrays repeat the condition, so that a plan made while the table was small still uses the index.
        where u.id = p.id and u.project_id = p.project_id and u.project_id = any(${[...new Set(calls.map(({ projectId }) => projectId))]}::bigint[])
          and u.id = any(${calls.flatMap(({ input }) => input.map(({ id }) => id))}::bigint[])`,
  ),
)

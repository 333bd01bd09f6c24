import { Type } from 'typebox'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { IdOf, Nullable } from '../../lib/shapes.ts'
import { copyLine } from './copy-line.ts'
import { EntranceRow, type JourneyUserChange, JourneyUserRow, Json, type PastEntrance, type TimerRow } from './schema.ts'
import { type StoredTrail, storedTrail, withTrail } from './trail.ts'

const entranceColumns = sql`user_id, entrance_id, journey_id, step_id, version, visit, depth, attempts, is_held, entered_at, arrived_at, acted_at,
  due_at, until, slot, key, cause, waits, parked, event, answers, seen, trail`

/** The entrances of these users that have not ended. */
export const entrancesOf = async (ctx: ProjectCtx | InTx, userIds: UserId[]): Promise<EntranceRow[]> =>
  userIds.length === 0 ? [] : (await findEntrances(ctx, ctx.projectId, userIds)).map(withTrail)

const StoredRow = Type.Object({ ...EntranceRow.properties, trail: Json<StoredTrail>() })

const findEntrances = jointMany(
  StoredRow,
  (_, calls: JointCall<UserId[]>[]) =>
    sql`select q.call, e.*
        from ${callRows(calls, sql`ids bigint[]`, (ids) => ({ ids }))}
        cross join lateral (
          select ${entranceColumns} from journey_entrances where project_id = q.project_id and user_id = any(q.ids)
          order by user_id, entered_at, entrance_id
        ) e`,
)

/** The stored history of these users in these journeys. */
export const journeyUsersOf = (ctx: ProjectCtx | InTx, userIds: UserId[], journeyIds: JourneyId[]): Promise<JourneyUserRow[]> =>
  ctx.db.many(
    JourneyUserRow,
    sql`select user_id, journey_id, entered, completed, exited, active, first_entered_at, last_entered_at, last_ended_at, held_out_at,
               goal_until, last_outcome, arm, goals
        from journey_users
        where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) and journey_id = any(${journeyIds}::bigint[])`,
  )

/** The stored history of these users in all journeys, last entered first. */
export const journeysOfUsers = (ctx: ProjectCtx, userIds: UserId[], limit: number): Promise<JourneyUserRow[]> =>
  ctx.db.many(
    JourneyUserRow,
    sql`select user_id, journey_id, entered, completed, exited, active, first_entered_at, last_entered_at, last_ended_at, held_out_at,
               goal_until, last_outcome, arm, goals
        from journey_users
        where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])
        order by last_entered_at desc nulls last, journey_id
        limit ${limit}`,
  )

/** Stores new entrances. */
export const insertEntrances = (ctx: InTx, rows: EntranceRow[]) =>
  ctx.db.run(
    sql`insert into journey_entrances (project_id, ${entranceColumns})
        select ${ctx.projectId}, ${entranceColumns}
        from json_to_recordset(${jsonOf(rows)}::json)
          as i(user_id bigint, entrance_id bigint, journey_id bigint, step_id bigint, version int, visit int, depth smallint, attempts smallint,
               is_held boolean, entered_at timestamptz, arrived_at timestamptz, acted_at timestamptz, due_at timestamptz, until timestamptz,
               slot text, key text, cause text, waits text[], parked text, event jsonb, answers jsonb, seen jsonb, trail json)
        order by user_id, entrance_id`,
  )

/** What changes of an entrance. `event`, `answers` and `seen` are left out while they are as they were. */
export type EntranceChange = Omit<EntranceRow, 'journey_id' | 'slot' | 'key' | 'cause' | 'event' | 'answers' | 'seen'> &
  Partial<Pick<EntranceRow, 'event' | 'answers' | 'seen'>>

/** Stores entrances that moved. */
export const updateEntrances = (ctx: InTx, changes: EntranceChange[]) =>
  ctx.db.run(
    sql`update journey_entrances e
        set step_id = i.step_id, entered_at = i.entered_at, version = i.version, visit = i.visit, depth = i.depth, attempts = i.attempts,
            is_held = i.is_held, arrived_at = i.arrived_at, acted_at = i.acted_at, due_at = i.due_at, until = i.until, waits = i.waits,
            parked = i.parked, event = coalesce(i.event, e.event), answers = coalesce(i.answers, e.answers), seen = coalesce(i.seen, e.seen),
            trail = i.trail
        from json_to_recordset(${jsonOf(changes)}::json)
          as i(user_id bigint, entrance_id bigint, step_id bigint, version int, visit int, depth smallint, attempts smallint, is_held boolean,
               entered_at timestamptz, arrived_at timestamptz, acted_at timestamptz, due_at timestamptz, until timestamptz, waits text[],
               parked text, event jsonb, answers jsonb, seen jsonb, trail json)
        where e.project_id = ${ctx.projectId} and e.user_id = i.user_id and e.entrance_id = i.entrance_id`,
  )

const jsonOf = (rows: EntranceChange[]): string => JSON.stringify(rows.map((row) => ({ ...row, trail: storedTrail(row.trail) })))

export type EntranceKey = Pick<EntranceRow, 'user_id' | 'entrance_id'>

export const deleteEntrances = (ctx: InTx, keys: EntranceKey[]) =>
  ctx.db.run(
    sql`delete from journey_entrances e
        using unnest(${keys.map(({ user_id }) => user_id)}::bigint[], ${keys.map(({ entrance_id }) => entrance_id)}::bigint[]) as k(user_id, entrance_id)
        where e.project_id = ${ctx.projectId} and e.user_id = k.user_id and e.entrance_id = k.entrance_id`,
  )

const columnOf = <K extends keyof TimerRow>(rows: TimerRow[], name: K) => rows.map((row) => row[name])

export const insertTimers = (ctx: InTx, timers: TimerRow[]) =>
  ctx.db.run(
    sql`insert into journey_timers (project_id, journey_id, due_at, user_id, entrance_id, visit)
        select ${ctx.projectId}, t.*
        from unnest(${columnOf(timers, 'journey_id')}::bigint[], ${columnOf(timers, 'due_at')}::timestamptz[], ${columnOf(timers, 'user_id')}::bigint[],
                    ${columnOf(timers, 'entrance_id')}::bigint[], ${columnOf(timers, 'visit')}::int[]) as t(journey_id, due_at, user_id, entrance_id, visit)
        on conflict (project_id, journey_id, due_at, user_id, entrance_id) do update set visit = excluded.visit`,
  )

export const deleteTimers = (ctx: InTx, timers: Omit<TimerRow, 'visit'>[]) => {
  const rows = timers as TimerRow[]
  return ctx.db.run(
    sql`delete from journey_timers t
        using unnest(${columnOf(rows, 'journey_id')}::bigint[], ${columnOf(rows, 'due_at')}::timestamptz[], ${columnOf(rows, 'user_id')}::bigint[],
                     ${columnOf(rows, 'entrance_id')}::bigint[]) as d(journey_id, due_at, user_id, entrance_id)
        where t.project_id = ${ctx.projectId} and t.journey_id = d.journey_id and t.due_at = d.due_at and t.user_id = d.user_id
          and t.entrance_id = d.entrance_id`,
  )
}

/** Adds to the stored history of users in journeys. */
export const saveJourneyUsers = (ctx: InTx, changes: JourneyUserChange[]) =>
  ctx.db.run(
    sql`insert into journey_users as u (project_id, user_id, journey_id, entered, completed, exited, active, first_entered_at, last_entered_at,
                                        last_ended_at, held_out_at, goal_until, last_outcome, arm, goals)
        select ${ctx.projectId}, user_id, journey_id, entered, completed, exited, active, last_entered_at, last_entered_at, last_ended_at,
               held_out_at, goal_until, last_outcome, arm, goals
        from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
          as i(user_id bigint, journey_id bigint, entered int, completed int, exited int, active int, last_entered_at timestamptz,
               last_ended_at timestamptz, held_out_at timestamptz, goal_until timestamptz, last_outcome text, arm text, goals jsonb)
        order by user_id, journey_id
        on conflict (project_id, user_id, journey_id) do update
        set entered = u.entered + excluded.entered, completed = u.completed + excluded.completed, exited = u.exited + excluded.exited,
            active = u.active + excluded.active, first_entered_at = coalesce(u.first_entered_at, excluded.last_entered_at),
            last_entered_at = coalesce(excluded.last_entered_at, u.last_entered_at),
            last_ended_at = coalesce(excluded.last_ended_at, u.last_ended_at), held_out_at = coalesce(u.held_out_at, excluded.held_out_at),
            goal_until = greatest(u.goal_until, excluded.goal_until), last_outcome = coalesce(excluded.last_outcome, u.last_outcome),
            arm = coalesce(excluded.arm, u.arm), goals = u.goals || excluded.goals`,
  )

const SetBackRow = Type.Object({ users: Type.Integer(), last: Nullable(IdOf<UserId>()) })

/**
 * Reads the next users of a journey, and sets instants of their stored history that are later than `since`, because a clock was ahead, back
 * to now. Returns how many were read, and the last of them. Each is read once, and few at a time: no index knows whose instants are ahead.
 */
export const setBackJourneyUsers = (ctx: InTx, journeyId: JourneyId, since: Date, { after, limit }: { after: UserId; limit: number }) => {
  const now = ctx.clock.now()
  const notAfterNow = (column: Sql) => sql`case when u.${column} > ${now} then ${now} else u.${column} end`
  return ctx.db.one(
    SetBackRow,
    sql`with read as materialized (
          select u.user_id from journey_users u where u.project_id = ${ctx.projectId} and u.journey_id = ${journeyId} and u.user_id > ${after} order by u.user_id limit ${limit}
        ), ahead as materialized (
          select u.user_id from journey_users u
          where u.project_id = ${ctx.projectId} and u.journey_id = ${journeyId} and u.user_id > ${after} and u.user_id <= (select max(user_id) from read)
            and (greatest(u.last_entered_at, u.last_ended_at, u.held_out_at) > ${since}
                 or exists (select 1 from jsonb_each_text(u.goals) g where g.value::timestamptz > ${since}))
          order by u.user_id
          for update
        ), changed as (
          update journey_users u
          set first_entered_at = ${notAfterNow(sql`first_entered_at`)}, last_entered_at = ${notAfterNow(sql`last_entered_at`)},
              last_ended_at = ${notAfterNow(sql`last_ended_at`)}, held_out_at = ${notAfterNow(sql`held_out_at`)},
              goals = (select coalesce(jsonb_object_agg(g.key, case when g.value::timestamptz > ${now} then ${now.toISOString()} else g.value end), '{}')
                       from jsonb_each_text(u.goals) g)
          from ahead a
          where u.project_id = ${ctx.projectId} and u.journey_id = ${journeyId} and u.user_id = a.user_id
        )
        select count(*) as users, max(user_id) as last from read`,
  )
}

/** Stores entrances that ended, through COPY. */
export const copyPast = (ctx: InTx, rows: PastEntrance[]) =>
  ctx.db.copy(
    sql`copy journey_past (project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at, ended_at,
                           outcome, reason, key, cause, event, answers, trail) from stdin`,
    pastLines(ctx.projectId, rows),
  )

function* pastLines(projectId: number, rows: PastEntrance[]): Generator<string> {
  for (const row of rows) {
    yield copyLine([
      ...[projectId, row.user_id, row.entrance_id, row.journey_id, row.step_id, row.version, row.visit, row.depth],
      ...[row.entered_at, row.arrived_at, row.ended_at, row.outcome, row.reason, row.key, row.cause],
      ...[row.event, row.answers, storedTrail(row.trail)],
    ])
  }
}

const EntriesRow = Type.Object({ user_id: IdOf<UserId>(), journey_id: IdOf<JourneyId>(), entries: Type.Integer() })

/** How often users entered journeys since an instant, and until another: a clock that was ahead may have dated entries later. */
export const entriesBetween = (ctx: InTx, pairs: { user_id: UserId; journey_id: JourneyId }[], since: Date, until: Date) =>
  ctx.db.many(
    EntriesRow,
    sql`select p.user_id, p.journey_id,
               (select count(*) from journey_entrances e
                where e.project_id = ${ctx.projectId} and e.user_id = p.user_id and e.journey_id = p.journey_id
                  and e.entered_at > ${since} and e.entered_at <= ${until})
               + (select count(*) from journey_past e
                  where e.project_id = ${ctx.projectId} and e.user_id = p.user_id and e.journey_id = p.journey_id and e.ended_at > ${since}
                    and e.entered_at > ${since} and e.entered_at <= ${until}) as entries
        from unnest(${pairs.map(({ user_id }) => user_id)}::bigint[], ${pairs.map(({ journey_id }) => journey_id)}::bigint[]) as p(user_id, journey_id)`,
  )

const EndedRow = Type.Object({ user_id: IdOf<UserId>(), entrance_id: Type.Integer() })

/** Those of these entrances that ended, as far as the history goes back. */
export const endedAmong = (ctx: InTx, keys: EntranceKey[]) =>
  ctx.db.many(
    EndedRow,
    sql`select p.user_id, p.entrance_id
        from unnest(${keys.map(({ user_id }) => user_id)}::bigint[], ${keys.map(({ entrance_id }) => entrance_id)}::bigint[]) as k(user_id, entrance_id)
        join journey_past p on p.project_id = ${ctx.projectId} and p.user_id = k.user_id and p.entrance_id = k.entrance_id`,
  )

/** The entrances among these that have not ended. */
export const insideAmong = (ctx: InTx, keys: EntranceKey[]) =>
  ctx.db.many(
    EndedRow,
    sql`select e.user_id, e.entrance_id
        from unnest(${keys.map(({ user_id }) => user_id)}::bigint[], ${keys.map(({ entrance_id }) => entrance_id)}::bigint[]) as k(user_id, entrance_id)
        join journey_entrances e on e.project_id = ${ctx.projectId} and e.user_id = k.user_id and e.entrance_id = k.entrance_id`,
  )

/** What is true of journeys whatever happens, and what is stored of them with names instead of ids. */
import type pg from 'pg'
import { expect } from 'vitest'
import { type StoredTrail, trailOf } from '../src/modules/positions/index.ts'
import type { GraphIds } from './journey-graphs.ts'
import type { World } from './world.ts'

export type Watched = { w: World; db: pg.Client; journeys: { id: number }[]; ids: GraphIds }

/** Notes every place that an entrance was stored at, and kills a transaction at its `target`th change of a row. */
export async function watch(db: pg.Client, projectId: number): Promise<void> {
  const at = (table: string, when: string, row: 'new' | 'old', what: string) =>
    `create trigger storm_${what} ${when} on ${table} for each row when (${row}.project_id = ${projectId}) execute function storm_${what}();`
  await db.query(`
    create table storm_moves (id bigint generated always as identity, entrance_id bigint, visit int, step_id bigint, is_over boolean);
    create table storm_kill (target bigint);
    insert into storm_kill values (0);
    create sequence storm_hits;
    create function storm_move() returns trigger language plpgsql as $$
    begin
      insert into storm_moves (entrance_id, visit, step_id, is_over) values (new.entrance_id, new.visit, new.step_id, tg_table_name <> 'journey_entrances');
      return null;
    end $$;
    create function storm_hit() returns trigger language plpgsql as $$
    begin
      if nextval('storm_hits') = (select target from storm_kill) then
        raise exception 'killed' using errcode = '40001';
      end if;
      return null;
    end $$;
    ${at('journey_entrances', 'after insert or update', 'new', 'move')}
    ${at('journey_past', 'after insert', 'new', 'move')}
    ${['journey_entrances', 'journey_users', 'messages', 'journey_calls', 'journey_counts', 'events']
      .map((table) => at(table, 'after insert or update', 'new', 'hit'))
      .join('\n')}
    ${['journey_timers', 'queue_entries', 'journey_sweeps'].map((table) => at(table, 'after delete', 'old', 'hit')).join('\n')}`)
}

/** Undoes `watch`. */
export const unwatch = (db: pg.Client) =>
  db.query('drop table storm_moves, storm_kill; drop sequence storm_hits; drop function storm_move, storm_hit cascade')

/** What is true of the tables whatever happened. */
export async function expectInvariants({ w, db }: Watched): Promise<void> {
  const none = async (what: string, statement: string) => {
    const { rows } = await db.query(statement, statement.includes('$1') ? [w.projectId] : [])
    expect(rows, what).toEqual([])
  }
  await none(
    'each entrance has a timer, is parked or is held',
    `select e.entrance_id from journey_entrances e
     left join journey_timers t on t.project_id = e.project_id and t.journey_id = e.journey_id and t.user_id = e.user_id
       and t.entrance_id = e.entrance_id and t.due_at = e.due_at and t.visit = e.visit
     where e.project_id = $1 and t.due_at is null and e.parked is null and not e.is_held`,
  )
  await none(
    'a timer belongs to an entrance',
    `select t.entrance_id from journey_timers t
     left join journey_entrances e on e.project_id = t.project_id and e.user_id = t.user_id and e.entrance_id = t.entrance_id and e.due_at = t.due_at
     where t.project_id = $1 and e.entrance_id is null`,
  )
  await none('no decision failed', 'select entrance_id, parked from journey_entrances where project_id = $1 and parked is not null')
  await none(
    'no entrance is lost: each that began is there or has ended',
    `select c.journey_id, c.inside, e.users from
       (select journey_id, sum(case what when 'entered' then users else -users end)::int as inside from journey_counts
        where project_id = $1 and what in ('entered', 'completed', 'exited') group by journey_id) c
     full join (select journey_id, count(*)::int as users from journey_entrances where project_id = $1 group by journey_id) e using (journey_id)
     where coalesce(c.inside, 0) <> coalesce(e.users, 0)`,
  )
  await none(
    'arrivals at a step are departures and the entrances there',
    `select c.journey_id, c.step_id, c.there, e.users from
       (select journey_id, step_id, sum(case what when 'arrived' then users else -users end)::int as there from journey_counts
        where project_id = $1 and what in ('arrived', 'left') group by journey_id, step_id) c
     full join (select journey_id, step_id, count(*)::int as users from journey_entrances where project_id = $1 group by journey_id, step_id) e
       using (journey_id, step_id)
     where coalesce(c.there, 0) <> coalesce(e.users, 0)`,
  )
  await none(
    'what is known of a user adds up',
    `select u.user_id, u.journey_id from journey_users u
     where u.project_id = $1 and (u.entered <> u.active + u.completed + u.exited or u.active <>
       (select count(*) from journey_entrances e where e.project_id = $1 and e.journey_id = u.journey_id and e.user_id = u.user_id))`,
  )
  await none(
    'a visit is at one step',
    'select entrance_id, visit from storm_moves group by entrance_id, visit having count(distinct step_id) > 1',
  )
  await none(
    'an entrance never goes back, and ends once',
    `select a.entrance_id from storm_moves a join storm_moves b on b.entrance_id = a.entrance_id and b.id > a.id
     where b.visit < a.visit or a.is_over`,
  )
  await none(
    'a trail has each visit once, one after the other',
    `select e.entrance_id from (select entrance_id, visit, trail from journey_entrances where project_id = $1
                                union all select entrance_id, visit, trail from journey_past where project_id = $1) e
     where json_array_length(e.trail) <> (select count(distinct (v->>1)::int) from json_array_elements(e.trail) v)
       or e.visit <> (select max((v->>1)::int) from json_array_elements(e.trail) v)`,
  )
  await none(
    'a cause begins one entrance of a user',
    `select entrance_id from (select entrance_id from journey_entrances where project_id = $1
                              union all select entrance_id from journey_past where project_id = $1) e
     group by entrance_id having count(*) > 1`,
  )
  await none(
    'a visit sends one message',
    `select entrance_id, visit from messages where project_id = $1 and entrance_id is not null group by entrance_id, visit having count(*) > 1`,
  )
  await none(
    'nothing is sent after the exit',
    `select m.id from messages m join journey_past p on p.project_id = m.project_id and p.entrance_id = m.entrance_id
     where m.project_id = $1 and m.state in ('queued', 'deferred') and p.outcome = 'exited'
       and (p.visit = m.visit and p.reason <> 'exit' or p.reason in ('removed', 'published', 'restarted', 'merged'))`,
  )
}

/** The counts are those of the visits that are stored. */
export async function expectRecount({ w, db }: Watched): Promise<void> {
  const { rows } = await db.query(
    `with visits as (
       select e.journey_id, v->>0 as step, count(*)::int as users
       from (select journey_id, trail from journey_entrances where project_id = $1
             union all select journey_id, trail from journey_past where project_id = $1) e, json_array_elements(e.trail) v
       group by 1, 2),
     counted as (
       select c.journey_id, s.external_id as step, sum(c.users)::int as users from journey_counts c
       join journey_steps s on s.project_id = c.project_id and s.id = c.step_id and s.journey_id = c.journey_id
       where c.project_id = $1 and c.what = 'arrived' group by 1, 2)
     select * from visits v full join counted c using (journey_id, step) where v.users is distinct from c.users`,
    [w.projectId],
  )
  expect(rows, 'counts are a recount of the visits').toEqual([])
}

/** What is stored of journeys, with names instead of ids, in an order that does not depend on ids. */
export async function dump({ w, db, journeys, ids }: Watched): Promise<string[]> {
  const names = new Map(journeys.map(({ id }, at) => [id, `journey ${at}`]))
  const lists = new Map(ids.lists.map((id, at) => [String(id), `list ${at}`]))
  const named = (text: string) => text.replace(/("list(?:_id)?":|list:)(\d+)/g, (_, before, id) => before + (lists.get(id) ?? id))
  const read = async (table: string, columns: string) => {
    const { rows } = await db.query(
      `select coalesce(u.external_id, u.anonymous_id, 'merged') as who, t.journey_id, ${columns}
       from ${table} t left join users u on u.project_id = t.project_id and u.id = t.user_id where t.project_id = $1`,
      [w.projectId],
    )
    const shown = (row: object) => JSON.stringify('trail' in row ? { ...row, trail: trailOf(row.trail as StoredTrail) } : row)
    return rows.map(({ journey_id, ...row }) => named(`${table} ${names.get(Number(journey_id))} ${shown(row)}`)).sort()
  }
  const place = 't.version, t.visit, t.depth, t.entered_at, t.arrived_at, t.key, t.event, t.answers, t.trail'
  const { rows: counts } = await db.query(
    `select journey_id, what, version, path, reason, sum(users)::int as users from journey_counts where project_id = $1
     group by 1, 2, 3, 4, 5`,
    [w.projectId],
  )
  return [
    ...(await read('journey_entrances', `${place}, t.attempts, t.is_held, t.acted_at, t.due_at, t.waits, t.parked, t.seen`)),
    ...(await read('journey_past', `${place}, t.ended_at, t.outcome, t.reason`)),
    ...(await read('journey_timers', 't.due_at, t.visit')),
    ...(await read(
      'journey_users',
      `t.entered, t.completed, t.exited, t.active, t.first_entered_at, t.last_entered_at, t.last_ended_at, t.last_outcome, t.arm`,
    )),
    ...(await read('messages', 't.state, t.reason, t.visit, t.created_at')),
    ...counts.map(({ journey_id, ...row }) => `count ${names.get(Number(journey_id))} ${JSON.stringify(row)}`).sort(),
  ]
}

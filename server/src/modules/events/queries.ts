import { Type } from 'typebox'
import { raw, sql } from '../../infra/postgres/db.ts'
import { jointRun } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { instantTexts } from '../../lib/instant-texts.ts'
import { IdOf } from '../../lib/shapes.ts'
import type { EventSource } from './event.ts'
import type { Month } from './months.ts'

const Partition = Type.Object({ name: Type.String() })

/** The names of the existing monthly partitions. */
export const listMonths = async (ctx: Ctx): Promise<Set<string>> => {
  const rows = await ctx.db.many(
    Partition,
    sql`select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'events'::regclass`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Locks the creation of partitions, so that two processes do not create the same one. */
export const lockMonths = (ctx: InTx<Ctx>) => ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended('events partitions', 0))`)

/** Creates a monthly partition. Its name and bounds contain only digits from `monthOf`, so they need no quoting. */
export const createMonth = (ctx: InTx<Ctx>, { name, from, to }: Month) => createPartition(ctx, name, `from ('${from}') to ('${to}')`)

/** Creates the partition of all events before the first month. */
export const createOldestMonth = (ctx: InTx<Ctx>, { from }: Month) => createPartition(ctx, 'events_past', `from (minvalue) to ('${from}')`)

/** As a table that is then attached: `partition of` would wait for all that read events, such as a backup, and later statements for it. */
async function createPartition(ctx: InTx<Ctx>, name: string, bounds: string): Promise<void> {
  await ctx.db.run(sql`create table ${raw(name)} (like events including all)`)
  await ctx.db.run(sql`alter table events attach partition ${raw(name)} for values ${raw(bounds)}`)
}

export type EventRow = {
  project_id: number
  user_id: UserId
  name: string
  data: Record<string, unknown>
  created_at: Date
  received_at: Date
  source: EventSource
  journey_id: number | null
  entrance_id: number | null
}

/** More are loaded through COPY, which costs less for each of them, but a round trip of its own in which nothing else is sent. */
const INSERTED_MAX = 100

/** Stores events. */
export const saveEvents = (ctx: InTx, events: EventRow[]) => saveAll(ctx, ctx.projectId, events)

const saveAll = jointRun<EventRow[]>((ctx, calls) => {
  const rows = calls.flatMap(({ input }) => input)
  if (rows.length <= INSERTED_MAX) return ctx.db.run(inserting(rows))
  return ctx.db.copy(
    sql`copy events (project_id, user_id, name, data, created_at, received_at, source, journey_id, entrance_id) from stdin`,
    lines(rows),
  )
})

const inserting = (events: EventRow[]) =>
  sql`insert into events (project_id, user_id, name, data, created_at, received_at, source, journey_id, entrance_id)
      select e.project_id, e.user_id, e.name, e.data, e.created_at, e.received_at, nullif(e.source, 'api'), e.journey_id, e.entrance_id
      from jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
           as e(project_id bigint, user_id bigint, name text, data jsonb, created_at timestamptz, received_at timestamptz, source text,
                journey_id bigint, entrance_id bigint)`

function* lines(events: EventRow[]): Generator<string> {
  const textOf = instantTexts()
  for (const { project_id, user_id, name, data, created_at, received_at, source, journey_id, entrance_id } of events) {
    // Stored as null, which takes no space, because most events are from requests.
    const stored = source === 'api' ? '\\N' : source
    yield `${project_id}\t${user_id}\t${escaped(name)}\t${escaped(JSON.stringify(data))}\t${textOf(created_at)}\t${textOf(received_at)}\t${stored}\t${journey_id ?? '\\N'}\t${entrance_id ?? '\\N'}\n`
  }
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const ESCAPED = /[\\\t\n\r]/
const escaped = (text: string) => (ESCAPED.test(text) ? text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] as string) : text)

const EventIdRow = Type.Object({ event_id: Type.String() })

/** Stores event ids. Returns those that were unknown, or stored before `since`. */
export const saveEventIds = (ctx: InTx, ids: { event_id: string; received_at: Date }[], since: Date) =>
  ctx.db.many(
    EventIdRow,
    sql`insert into event_ids as known (project_id, event_id, received_at)
        select ${ctx.projectId}, i.event_id, i.received_at
        from jsonb_to_recordset(${JSON.stringify(ids)}::jsonb) as i(event_id text, received_at timestamptz)
        order by i.event_id
        on conflict (project_id, event_id) do update set received_at = excluded.received_at where known.received_at < ${since}
        returning event_id`,
  )

export const deleteEventIds = (ctx: InTx, ids: string[]) =>
  ctx.db.run(sql`delete from event_ids where project_id = ${ctx.projectId} and event_id = any(${ids}::text[])`)

const PURGED_AT_ONCE = 10_000

export const purgeEventIds = (ctx: Ctx, before: Date) =>
  ctx.db.run(
    sql`delete from event_ids where (project_id, event_id) in
          (select project_id, event_id from event_ids where received_at < ${before} limit ${PURGED_AT_ONCE})`,
  )

const ActorRow = Type.Object({ user_id: IdOf<UserId>() })

/** The users among these with events other than system events of these names. */
export const usersWithEvents = (ctx: InTx, ids: UserId[], except: readonly string[]) =>
  ctx.db.many(
    ActorRow,
    sql`select i.id as user_id
        from unnest(${ids}::bigint[]) as i(id)
        cross join lateral (
          select 1 from events e
          where e.project_id = ${ctx.projectId} and e.user_id = i.id
            and (e.source is distinct from 'system' or e.name <> all(${except}::text[]))
          limit 1
        ) found`,
  )

/** So many events are deleted by one statement, which has a minute. */
export const ERASED_AT_ONCE = 10_000

/** Deletes at most `ERASED_AT_ONCE` events of these users. Returns how many. */
export const eraseSomeEvents = (ctx: InTx, ids: UserId[]) =>
  ctx.db.run(
    sql`delete from events
        where project_id = ${ctx.projectId}
          and (user_id, created_at, seq) in
            (select user_id, created_at, seq from events
             where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])
             limit ${ERASED_AT_ONCE})`,
  )

export const eraseEvents = (ctx: InTx, ids: UserId[]) =>
  ctx.db.run(sql`delete from events where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])`)

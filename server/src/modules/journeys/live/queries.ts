import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId, ProjectId, UserId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import type { Count } from '../engine/counts.ts'
import type { Step } from '../schema.ts'
import type { JourneySettings } from '../settings.ts'

const VersionRow = Type.Object({
  journey_id: IdOf<JourneyId>(),
  version: Type.Integer(),
  is_live: Type.Boolean(),
  /** Of the version that users entered last, if the journey is not live: since when at least. */
  off_since: Nullable(Instant),
  is_held: Type.Boolean(),
})
export type VersionRow = { journey_id: JourneyId; version: number; is_live: boolean; off_since: Date | null; is_held: boolean }

/** The published versions of a project, also of archived journeys until their users have left. */
export const publishedVersions = (ctx: ProjectCtx | InTx): Promise<VersionRow[]> => findVersions(ctx, ctx.projectId, null)

const findVersions = jointMany(
  VersionRow,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, v.journey_id, v.version, v.status = 'live' and j.status = 'live' and j.archived_at is null as is_live,
               case when v.status = 'live' and j.status <> 'live' and j.archived_at is null then j.updated_at end as off_since, j.is_held
        from ${callRows(calls)}
        join journeys j on j.project_id = q.project_id
        join journey_versions v on v.project_id = j.project_id and v.journey_id = j.id and v.status <> 'draft'
        where j.archived_at is null or exists (select from journey_entrances e where e.project_id = j.project_id and e.journey_id = j.id)
        order by q.call, v.journey_id, v.version`,
)

const Existing = Type.Object({})

/** Whether the project has or had journeys: they are never deleted. */
export const hasJourneys = async (ctx: InTx): Promise<boolean> => (await findExisting(ctx, ctx.projectId, null)).length > 0

const findExisting = jointMany(
  Existing,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call from ${callRows(calls)} where exists (select from journeys j where j.project_id = q.project_id)`,
)

/** What happens to users in earlier versions. */
export type VersionPlan = { default?: unknown; steps?: Record<string, unknown> }

const GraphRow = Type.Object({
  journey_id: IdOf<JourneyId>(),
  version: Type.Integer(),
  steps: Type.Unsafe<Step[]>({}),
  settings: Type.Unsafe<JourneySettings>({}),
  plan: Nullable(Type.Unsafe<VersionPlan>({})),
})

type Pair = { journey_id: JourneyId; version: number }

export const graphsOf = (ctx: ProjectCtx | InTx, pairs: Pair[]) =>
  ctx.db.many(
    GraphRow,
    sql`select v.journey_id, v.version, v.steps, v.settings, v.plan
        from unnest(${pairs.map(({ journey_id }) => journey_id)}::bigint[], ${pairs.map(({ version }) => version)}::int[]) as p(journey_id, version)
        join journey_versions v on v.project_id = ${ctx.projectId} and v.journey_id = p.journey_id and v.version = p.version`,
  )

const HeldRow = Type.Object({ project_id: IdOf<ProjectId>(), id: IdOf<JourneyId>() })

/** The journeys of all projects that are held. */
export const heldJourneys = (ctx: Ctx) =>
  ctx.db.many(HeldRow, sql`select project_id, id from journeys where is_held order by project_id, id`)

const KeyRow = Type.Object({ user_id: IdOf<UserId>(), journey_id: IdOf<JourneyId>(), key_hash: Type.Integer() })
export type EntryKey = { user_id: UserId; journey_id: JourneyId; key_hash: number }

const keyColumns = (keys: EntryKey[]) =>
  sql`${keys.map(({ user_id }) => user_id)}::bigint[], ${keys.map(({ journey_id }) => journey_id)}::bigint[],
      ${keys.map(({ key_hash }) => key_hash)}::bigint[]`

/** Those of these entry keys that were used. Notes that they were used today, so that a key in use is never deleted. */
export const usedKeys = (ctx: InTx, keys: EntryKey[]) =>
  ctx.db.many(
    KeyRow,
    sql`with used as (
          select k.user_id, k.journey_id, k.key_hash, k.seen_on
          from unnest(${keyColumns(keys)}) as i(user_id, journey_id, key_hash)
          join journey_keys k on k.project_id = ${ctx.projectId} and k.user_id = i.user_id and k.journey_id = i.journey_id and k.key_hash = i.key_hash
        ), seen as (
          update journey_keys k set seen_on = ${ctx.clock.now()}::timestamptz::date
          from used u
          where k.project_id = ${ctx.projectId} and k.user_id = u.user_id and k.journey_id = u.journey_id and k.key_hash = u.key_hash
            and u.seen_on < ${ctx.clock.now()}::timestamptz::date
        )
        select user_id, journey_id, key_hash from used`,
  )

export const saveKeys = (ctx: InTx, keys: EntryKey[]) =>
  ctx.db.run(
    sql`insert into journey_keys (project_id, user_id, journey_id, key_hash, seen_on)
        select ${ctx.projectId}, i.*, ${ctx.clock.now()}::timestamptz::date
        from unnest(${keyColumns(keys)}) as i(user_id, journey_id, key_hash)
        on conflict do nothing`,
  )

/** Deletes at most `limit` entry keys that were last used before this day, the oldest first. Returns how many. */
export const forgetKeys = (ctx: InTx, before: Date, limit: number): Promise<number> =>
  ctx.db.run(
    sql`with old as materialized (
          select user_id, journey_id, key_hash from journey_keys
          where project_id = ${ctx.projectId} and seen_on < ${before}::timestamptz::date
          order by seen_on
          limit ${limit}
          for update skip locked
        )
        delete from journey_keys k
        using old o
        where k.project_id = ${ctx.projectId} and k.user_id = o.user_id and k.journey_id = o.journey_id and k.key_hash = o.key_hash`,
  )

/** Adds counts, and notes when the first user entered a journey. */
export const appendCounts = (ctx: InTx, counts: (Count & { users: number })[]) => {
  const entered = [...new Set(counts.filter(({ what }) => what === 'entered').map(({ journey_id }) => journey_id))]
  return ctx.db.run(
    sql`with stamped as (
          update journeys set stats_at = ${ctx.clock.now()} where project_id = ${ctx.projectId} and id = any(${entered}::bigint[]) and stats_at is null
        )
        insert into journey_counts (project_id, journey_id, what, version, step_id, path, reason, arm, users, at)
        select ${ctx.projectId}, c.*, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
          as c(journey_id bigint, what text, version int, step_id bigint, path text, reason text, arm text, users bigint)`,
  )
}

/** A call that a webhook step asked for. */
export type NewCall = { user_id: UserId; entrance_id: number; visit: number; journey_id: JourneyId; host: string; request: object }

export const insertCalls = (ctx: InTx, calls: NewCall[]) =>
  ctx.db.run(
    sql`insert into journey_calls (project_id, user_id, entrance_id, visit, journey_id, host, request, created_at, due_at)
        select ${ctx.projectId}, c.*, ${ctx.clock.now()}, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(calls)}::jsonb)
          as c(user_id bigint, entrance_id bigint, visit int, journey_id bigint, host text, request jsonb)
        on conflict do nothing`,
  )

type CallKey = Pick<NewCall, 'user_id' | 'entrance_id' | 'visit'>

export const deleteCalls = (ctx: InTx, calls: CallKey[]) =>
  ctx.db.run(
    sql`delete from journey_calls c
        using unnest(${calls.map(({ user_id }) => user_id)}::bigint[], ${calls.map(({ entrance_id }) => entrance_id)}::bigint[],
                     ${calls.map(({ visit }) => visit)}::int[]) as g(user_id, entrance_id, visit)
        where c.project_id = ${ctx.projectId} and c.user_id = g.user_id and c.entrance_id = g.entrance_id and c.visit = g.visit`,
  )

/** Places in the rate of a balancer, for so many users. With `maxWaitMs`, those who would wait longer get none. */
export type Reservation = {
  journey_id: JourneyId
  step_id: number
  limit: number
  intervalMs: number
  maxWaitMs: number | null
  users: number
}

const RateRow = Type.Object({ journey_id: IdOf<JourneyId>(), step_id: Type.Integer(), next_at: Instant })

const rateOf = ({ journey_id, step_id }: Pick<Reservation, 'journey_id' | 'step_id'>): string => `${journey_id} ${step_id}`

/**
 * Reserves the next free places in rates. All users of a step share its rate, and up to `limit` of them may have places at the same time.
 * Returns, for each rate, the time of the first place, which is in the past if users need not wait, and the number of places.
 */
export async function reserve(ctx: InTx, wanted: Reservation[]): Promise<{ firstAt: Date; places: number }[]> {
  const now = ctx.clock.now().getTime()
  const rates = wanted.map((one) => ({
    ...one,
    eachMs: one.intervalMs / one.limit,
    earliestMs: now - one.intervalMs + one.intervalMs / one.limit,
  }))
  const steps = sql`${rates.map(({ journey_id }) => journey_id)}::bigint[], ${rates.map(({ step_id }) => step_id)}::bigint[]`
  await ctx.db.run(
    sql`insert into journey_rates (project_id, journey_id, step_id, next_at)
        select ${ctx.projectId}, s.* from unnest(${steps}, ${rates.map(({ earliestMs }) => new Date(earliestMs))}::timestamptz[]) as s(journey_id, step_id, next_at)
        order by journey_id, step_id
        on conflict do nothing`,
  )
  const found = await ctx.db.many(
    RateRow,
    sql`select r.journey_id, r.step_id, r.next_at from journey_rates r
        join unnest(${steps}) as s(journey_id, step_id) on r.journey_id = s.journey_id and r.step_id = s.step_id
        where r.project_id = ${ctx.projectId}
        order by r.journey_id, r.step_id
        for update of r`,
  )
  const nextOf = new Map(found.map((row) => [rateOf(row), row.next_at.getTime()]))
  const reserved = rates.map((rate) => {
    const { eachMs, earliestMs, maxWaitMs, users } = rate
    const firstMs = Math.max(nextOf.get(rateOf(rate)) ?? earliestMs, earliestMs)
    const places = maxWaitMs === null ? users : Math.max(0, Math.min(users, Math.floor((now + maxWaitMs - firstMs) / eachMs) + 1))
    nextOf.set(rateOf(rate), Math.round(firstMs + eachMs * places))
    return { firstAt: new Date(firstMs), places }
  })
  const nexts = found.map((row) => new Date(nextOf.get(rateOf(row)) ?? row.next_at))
  await ctx.db.run(
    sql`update journey_rates r set next_at = n.next_at
        from unnest(${found.map(({ journey_id }) => journey_id)}::bigint[], ${found.map(({ step_id }) => step_id)}::bigint[],
                    ${nexts}::timestamptz[]) as n(journey_id, step_id, next_at)
        where r.project_id = ${ctx.projectId} and r.journey_id = n.journey_id and r.step_id = n.step_id`,
  )
  return reserved
}

type Merge = { from_id: UserId; into_id: UserId }

/** Moves the entry keys and the unanswered calls of merged users to the users who remain. */
export const moveKeysAndCalls = (ctx: InTx, merges: Merge[]) => {
  const pairs = sql`unnest(${merges.map(({ from_id }) => from_id)}::bigint[], ${merges.map(({ into_id }) => into_id)}::bigint[]) as p(from_id, into_id)`
  return ctx.db.run(
    sql`with calls as (
          update journey_calls c set user_id = p.into_id from ${pairs} where c.project_id = ${ctx.projectId} and c.user_id = p.from_id
        ), gone as (
          delete from journey_keys k using ${pairs} where k.project_id = ${ctx.projectId} and k.user_id = p.from_id
          returning p.into_id, k.journey_id, k.key_hash, k.seen_on
        )
        insert into journey_keys as k (project_id, user_id, journey_id, key_hash, seen_on)
        select ${ctx.projectId}, into_id, journey_id, key_hash, max(seen_on) from gone group by into_id, journey_id, key_hash
        on conflict (project_id, user_id, journey_id, key_hash) do update set seen_on = greatest(k.seen_on, excluded.seen_on)`,
  )
}

export const eraseKeysAndCalls = (ctx: InTx, ids: UserId[]) =>
  ctx.db.run(
    sql`with calls as (
          delete from journey_calls where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])
        )
        delete from journey_keys where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])`,
  )

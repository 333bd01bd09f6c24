import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { Count, Exact, Flag, IdOf } from '../../lib/shapes.ts'
import { type JourneyFields, JourneyRow, type Step } from './schema.ts'
import type { JourneySettings } from './settings.ts'

const IdRow = Exact({ id: IdOf<JourneyId>() })

const columns = sql`id, project_id, name, status, description, tags, live_version, is_held, drain_until, archived_at, created_at, updated_at`

export const journeyListing = listing({
  resource: 'journeys',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    name: { column: sql`name`, type: 'text' },
    status: { column: sql`status`, type: 'text' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`name`, sql`description`, sql`array_to_string(tags, E'\x1f')`],
  searchedFields: 'name, description, tags',
})

/** A page of journeys: those that are not archived, or those that are. */
export const listJourneys = (ctx: ProjectCtx, page: PageRequest, isArchived: boolean): Promise<PageOf<JourneyRow>> =>
  pageOf(ctx, JourneyRow, journeyListing, page, {
    select: columns,
    from: sql`journeys`,
    where: sql`project_id = ${ctx.projectId} and ${isArchived ? sql`archived_at is not null` : sql`archived_at is null`}`,
  })

export const findJourney = (ctx: ProjectCtx, id: JourneyId) =>
  ctx.db.first(JourneyRow, sql`select ${columns} from journeys where project_id = ${ctx.projectId} and id = ${id} and archived_at is null`)

/** Those of these ids that are journeys. */
export const findJourneyIds = async (ctx: ProjectCtx, ids: number[]): Promise<number[]> =>
  (
    await ctx.db.many(
      IdRow,
      sql`select id from journeys where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and archived_at is null`,
    )
  ).map(({ id }) => id)

const NameRow = Exact({ id: IdOf<JourneyId>(), name: Type.String() })

/** The names of these journeys, archived ones included. */
export const journeyNames = async (ctx: ProjectCtx, ids: JourneyId[]): Promise<Map<JourneyId, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await ctx.db.many(
    NameRow,
    sql`select id, name from journeys where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`,
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Locks a journey, so that changes of its status and steps are made one at a time. */
export const lockJourney = (ctx: InTx, id: JourneyId) =>
  ctx.db.first(
    JourneyRow,
    sql`select ${columns} from journeys where project_id = ${ctx.projectId} and id = ${id} and archived_at is null for update`,
  )

/** The journeys with a tag, archived ones too. */
export const journeysTagged = async (ctx: ProjectCtx, tag: string): Promise<JourneyId[]> =>
  (await ctx.db.many(IdRow, sql`select id from journeys where project_id = ${ctx.projectId} and ${tag} = any(tags)`)).map(({ id }) => id)

export const insertJourney = (ctx: ProjectCtx, { name, status, description, tags }: JourneyFields) =>
  ctx.db.one(
    JourneyRow,
    sql`insert into journeys (project_id, name, status, description, tags, created_at, updated_at)
        values (${ctx.projectId}, ${name}, ${status}, ${description}, ${tags}::text[], ${ctx.clock.now()}, ${ctx.clock.now()})
        returning ${columns}`,
  )

/** Notes that another graph of a locked journey is live. A draft becomes live with it. */
export const setLiveVersion = (ctx: InTx, id: JourneyId, version: number) =>
  ctx.db.run(
    sql`update journeys
        set live_version = ${version}, status = case when status = 'draft' then 'live' else status end, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

/** Switches a locked journey off. `drainUntil` is when users who are still inside exit. */
export const switchOff = (ctx: InTx, id: JourneyId, drainUntil: Date | null) =>
  ctx.db.run(
    sql`update journeys set status = 'off', drain_until = ${drainUntil}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

/** Holds a locked journey, or resumes it. */
export const setHeld = (ctx: InTx, id: JourneyId, isHeld: boolean) =>
  ctx.db.run(
    sql`update journeys set is_held = ${isHeld}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and is_held <> ${isHeld}`,
  )

/** Notes that the settings or the steps of a locked journey changed. */
export const touchJourney = (ctx: InTx, id: JourneyId) =>
  ctx.db.run(sql`update journeys set updated_at = ${ctx.clock.now()} where project_id = ${ctx.projectId} and id = ${id}`)

/** Saves a locked journey. One that is switched on is no longer drained. */
export const saveJourney = (ctx: InTx, id: JourneyId, { name, status, description, tags }: JourneyFields) =>
  ctx.db.one(
    JourneyRow,
    sql`update journeys
        set name = ${name}, status = ${status}, description = ${description}, tags = ${tags}::text[], updated_at = ${ctx.clock.now()},
            drain_until = case when ${status} = 'off' then drain_until end
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null
        returning ${columns}`,
  )

/** Archives a journey. A live one is switched off, so that no user enters it. Nothing is left to be drained. */
export const archiveJourney = (ctx: InTx, id: JourneyId) =>
  ctx.db.run(
    sql`update journeys
        set archived_at = ${ctx.clock.now()}, status = case when status = 'live' then 'off' else status end, drain_until = null,
            updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null`,
  )

/** Locks a journey that is archived. */
export const lockArchived = (ctx: InTx, id: JourneyId) =>
  ctx.db.first(
    JourneyRow,
    sql`select ${columns} from journeys where project_id = ${ctx.projectId} and id = ${id} and archived_at is not null for update`,
  )

/** Restores a locked journey that is archived. */
export const unarchiveJourney = (ctx: InTx, id: JourneyId) =>
  ctx.db.run(
    sql`update journeys set archived_at = null, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is not null`,
  )

/** Archives all journeys of a project that is deleted, and holds them: users inside stay where they are until they are erased. */
export const archiveJourneys = (ctx: InTx) =>
  ctx.db.run(
    sql`update journeys
        set archived_at = coalesce(archived_at, ${ctx.clock.now()}), status = case when status = 'live' then 'off' else status end, is_held = true
        where project_id = ${ctx.projectId}`,
  )

export const countJourneys = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from journeys where project_id = ${ctx.projectId} and archived_at is null`)

const LiveGraphRow = Type.Object({
  id: IdOf<JourneyId>(),
  name: Type.String(),
  steps: Type.Unsafe<Step[]>({ type: 'array' }),
  settings: Type.Unsafe<JourneySettings>({ type: 'object' }),
})

export type LiveGraphRow = Static<typeof LiveGraphRow>

/** The live graphs of live journeys. */
export const liveGraphs = (ctx: ProjectCtx) =>
  ctx.db.many(
    LiveGraphRow,
    sql`select j.id, j.name, v.steps, v.settings
        from journeys j
        join journey_versions v on v.project_id = j.project_id and v.journey_id = j.id and v.status = 'live'
        where j.project_id = ${ctx.projectId} and j.status = 'live' and j.archived_at is null
        order by j.id`,
  )

/** Did the user enter the journey with this key? */
export const hasKey = (ctx: ProjectCtx, id: JourneyId, userId: UserId, keyHash: number): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select from journey_keys
                       where project_id = ${ctx.projectId} and user_id = ${userId} and journey_id = ${id} and key_hash = ${keyHash}) as found`,
  )

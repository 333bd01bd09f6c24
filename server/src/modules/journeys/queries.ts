import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { Exact, IdOf } from '../../lib/shapes.ts'
import { type JourneyFields, JourneyRow, type Step, StepRow } from './schema.ts'

const IdRow = Exact({ id: IdOf<JourneyId>() })

const columns = sql`id, project_id, name, status, description, tags, created_at, updated_at`

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

export const listJourneys = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<JourneyRow>> =>
  pageOf(ctx, JourneyRow, journeyListing, page, {
    select: columns,
    from: sql`journeys`,
    where: sql`project_id = ${ctx.projectId} and archived_at is null`,
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

/** Locks a journey, so that changes of its status and steps are made one at a time. */
export const lockJourney = (ctx: InTx, id: JourneyId) =>
  ctx.db.first(
    JourneyRow,
    sql`select ${columns} from journeys where project_id = ${ctx.projectId} and id = ${id} and archived_at is null for update`,
  )

export const insertJourney = (ctx: ProjectCtx, { name, status, description, tags }: JourneyFields) =>
  ctx.db.one(
    JourneyRow,
    sql`insert into journeys (project_id, name, status, description, tags, created_at, updated_at)
        values (${ctx.projectId}, ${name}, ${status}, ${description}, ${tags}::text[], ${ctx.clock.now()}, ${ctx.clock.now()})
        returning ${columns}`,
  )

/** Saves a locked journey. */
export const saveJourney = (ctx: InTx, id: JourneyId, { name, status, description, tags }: JourneyFields) =>
  ctx.db.one(
    JourneyRow,
    sql`update journeys
        set name = ${name}, status = ${status}, description = ${description}, tags = ${tags}::text[], updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null
        returning ${columns}`,
  )

/** Archives a journey. A live one is switched off, so that no user enters it. */
export const archiveJourney = (ctx: InTx, id: JourneyId) =>
  ctx.db.run(
    sql`update journeys
        set archived_at = ${ctx.clock.now()}, status = case when status = 'live' then 'off' else status end, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null`,
  )

/** The steps of the draft of a journey, otherwise of its live version. */
export const listSteps = (ctx: ProjectCtx, journeyId: JourneyId) =>
  ctx.db.many(
    StepRow,
    sql`select r.id, s.external_id, s.type, s.name, s.x, s.y, s.data, s.children
        from (select steps from journey_versions
              where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status in ('draft', 'live')
              order by status
              limit 1) v
        cross join lateral jsonb_to_recordset(v.steps)
          as s(external_id text, type text, name text, x double precision, y double precision, data jsonb, children jsonb)
        join journey_steps r on r.project_id = ${ctx.projectId} and r.journey_id = ${journeyId} and r.external_id = s.external_id
        order by r.id`,
  )

/** Replaces the steps of the draft; a step with a key that the journey has had before has the same id. */
export const replaceSteps = (ctx: InTx, journeyId: JourneyId, steps: Step[]) =>
  ctx.db.run(
    sql`with registered as (
          insert into journey_steps (project_id, journey_id, external_id)
          select ${ctx.projectId}, ${journeyId}, s.external_id
          from unnest(${steps.map(({ external_id }) => external_id)}::text[]) with ordinality as s(external_id, no)
          order by s.no
          on conflict (project_id, journey_id, external_id) do nothing
        )
        insert into journey_versions as v (project_id, journey_id, version, status, steps, created_at)
        select ${ctx.projectId}, ${journeyId}, coalesce(max(version), 0) + 1, 'draft', ${JSON.stringify(steps)}::jsonb, ${ctx.clock.now()}
        from journey_versions where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status <> 'draft'
        on conflict (project_id, journey_id) where status = 'draft' do update set steps = excluded.steps`,
  )

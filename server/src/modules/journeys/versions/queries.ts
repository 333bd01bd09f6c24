import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { IdOf } from '../../../lib/shapes.ts'
import type { Step } from '../schema.ts'
import type { JourneySettings } from '../settings.ts'
import { type Plan, VersionRow } from './schema.ts'
import type { Removed } from './secrets.ts'

const columns = sql`version, status, steps, settings, plan, note, created_at, published_at, published_by`

export const versionListing = listing({
  resource: 'journey_versions',
  sorts: { version: { column: sql`version`, type: 'integer' } },
  defaultSort: 'version',
  defaultDirection: 'desc',
  id: sql`version`,
  idName: 'version',
  search: [sql`coalesce(note, '')`],
  searchedFields: 'note',
})

export const listVersions = (ctx: ProjectCtx, journeyId: JourneyId, page: PageRequest): Promise<PageOf<VersionRow>> =>
  pageOf(ctx, VersionRow, versionListing, page, {
    select: columns,
    from: sql`journey_versions`,
    where: sql`project_id = ${ctx.projectId} and journey_id = ${journeyId}`,
  })

export const findVersion = (ctx: ProjectCtx, journeyId: JourneyId, version: number) =>
  ctx.db.first(
    VersionRow,
    sql`select ${columns} from journey_versions
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and version = ${version}`,
  )

/** Several versions of a journey. */
export const findVersions = (ctx: ProjectCtx, journeyId: JourneyId, versions: number[]) =>
  ctx.db.many(
    VersionRow,
    sql`select ${columns} from journey_versions
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and version = any(${versions}::int[])`,
  )

export const findByStatus = (ctx: ProjectCtx, journeyId: JourneyId, status: 'draft' | 'live') =>
  ctx.db.first(
    VersionRow,
    sql`select ${columns} from journey_versions
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status = ${status}`,
  )

/** The draft, otherwise the live version. */
export const findNewest = (ctx: ProjectCtx, journeyId: JourneyId) =>
  ctx.db.first(
    VersionRow,
    sql`select ${columns} from journey_versions
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status in ('draft', 'live')
        order by status
        limit 1`,
  )

const SettingsRow = Type.Object({ journey_id: IdOf<JourneyId>(), settings: Type.Unsafe<JourneySettings>({ type: 'object' }) })

/** The settings of journeys: of the draft, otherwise of the live version. */
export const settingsOf = (ctx: ProjectCtx, ids: JourneyId[]) =>
  ctx.db.many(
    SettingsRow,
    sql`select distinct on (journey_id) journey_id, settings from journey_versions
        where project_id = ${ctx.projectId} and journey_id = any(${ids}::bigint[]) and status in ('draft', 'live')
        order by journey_id, status`,
  )

const VersionTypes = Type.Object({ version: Type.Integer(), external_id: Type.String(), type: Type.String() })

/** The steps of published versions of a journey, with their types. */
export const typesOfSteps = (ctx: ProjectCtx, journeyId: JourneyId, versions: number[]) =>
  ctx.db.many(
    VersionTypes,
    sql`select v.version, s.external_id, s.type
        from journey_versions v
        cross join lateral jsonb_to_recordset(v.steps) as s(external_id text, type text)
        where v.project_id = ${ctx.projectId} and v.journey_id = ${journeyId} and v.version = any(${versions}::int[])`,
  )

const StepsRow = Type.Object({ version: Type.Integer(), steps: Type.Unsafe<Step[]>({ type: 'array' }) })

/** The steps of versions of a journey. */
export const stepsOfVersions = (ctx: ProjectCtx, journeyId: JourneyId, versions: number[]) =>
  ctx.db.many(
    StepsRow,
    sql`select version, steps from journey_versions
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and version = any(${versions}::int[])`,
  )

const LinkedRow = Type.Object({ journey_id: IdOf<JourneyId>(), steps: Type.Unsafe<Step[]>({ type: 'array' }) })

/** The live graphs of the project that link to journeys. */
export const graphsWithLinks = (ctx: ProjectCtx) =>
  ctx.db.many(
    LinkedRow,
    sql`select v.journey_id, v.steps
        from journey_versions v
        join journeys j on j.project_id = v.project_id and j.id = v.journey_id and j.archived_at is null
        where v.project_id = ${ctx.projectId} and v.status = 'live' and v.steps @> '[{"type": "link"}]'`,
  )

const LiveGraphRow = Type.Object({
  journey_id: IdOf<JourneyId>(),
  version: Type.Integer(),
  steps: Type.Unsafe<Step[]>({ type: 'array' }),
  settings: Type.Unsafe<JourneySettings>({ type: 'object' }),
})

/** The graphs of these journeys that users can enter. */
export const liveGraphsOf = (ctx: ProjectCtx, ids: JourneyId[]) =>
  ctx.db.many(
    LiveGraphRow,
    sql`select v.journey_id, v.version, v.steps, v.settings
        from journey_versions v
        join journeys j on j.project_id = v.project_id and j.id = v.journey_id and j.archived_at is null and j.status = 'live'
        where v.project_id = ${ctx.projectId} and v.journey_id = any(${ids}::bigint[]) and v.status = 'live'`,
  )

type Graph = { steps: Step[]; settings: JourneySettings }

/** Saves the draft of a locked journey. The number of a new one follows that of the last published version. */
export const saveDraft = (ctx: InTx, journeyId: JourneyId, { steps, settings }: Graph) =>
  ctx.db.one(
    VersionRow,
    sql`insert into journey_versions as v (project_id, journey_id, version, status, steps, settings, created_at)
        select ${ctx.projectId}, ${journeyId}, coalesce(max(version), 0) + 1, 'draft', ${JSON.stringify(steps)}::jsonb,
               ${JSON.stringify(settings)}::jsonb, ${ctx.clock.now()}
        from journey_versions
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status <> 'draft'
        on conflict (project_id, journey_id) where status = 'draft'
        do update set steps = excluded.steps, settings = excluded.settings
        returning ${columns}`,
  )

/** The number that the next published version will have. */
export const nextVersion = (ctx: ProjectCtx, journeyId: JourneyId): Promise<number> =>
  ctx.db.value(
    Type.Integer(),
    sql`select coalesce(max(version), 0) + 1 as version from journey_versions
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status <> 'draft'`,
  )

export type Publishing = Graph & { version: number; plan: Plan; note: string | null; keyId: number | null }

/** Ends the live version of a locked journey, and puts another in its place: the draft if `takesDraft`, which then ceases to exist. */
export async function publishVersion(ctx: InTx, journeyId: JourneyId, given: Publishing, takesDraft: boolean) {
  const { version, steps, settings, plan, note, keyId } = given
  const now = ctx.clock.now()
  await ctx.db.run(
    sql`update journey_versions set status = 'past'
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status = 'live'`,
  )
  // The draft has the number that the new version gets, so it steps aside or becomes that version.
  await ctx.db.run(
    takesDraft
      ? sql`delete from journey_versions where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status = 'draft'`
      : sql`update journey_versions set version = ${version} + 1
            where project_id = ${ctx.projectId} and journey_id = ${journeyId} and status = 'draft'`,
  )
  return ctx.db.one(
    VersionRow,
    sql`insert into journey_versions (project_id, journey_id, version, status, steps, settings, plan, note, created_at, published_at, published_by)
        values (${ctx.projectId}, ${journeyId}, ${version}, 'live', ${JSON.stringify(steps)}::jsonb, ${JSON.stringify(settings)}::jsonb,
                ${JSON.stringify(plan)}::jsonb, ${note}, ${now}, ${now}, ${keyId === null ? null : String(keyId)})
        returning ${columns}`,
  )
}

const RemovedRow = Type.Object({ removed_secrets: Type.Unsafe<Removed[]>({ type: 'array' }) })

/** The sealed secrets that were removed from a locked journey. */
export const removedSecrets = async (ctx: InTx, id: JourneyId): Promise<Removed[]> =>
  (await ctx.db.one(RemovedRow, sql`select removed_secrets from journeys where project_id = ${ctx.projectId} and id = ${id}`))
    .removed_secrets

export const keepRemovedSecrets = (ctx: InTx, id: JourneyId, removed: Removed[]) =>
  ctx.db.run(
    sql`update journeys set removed_secrets = ${JSON.stringify(removed)}::jsonb where project_id = ${ctx.projectId} and id = ${id}`,
  )

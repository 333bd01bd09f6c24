import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ProjectId, ProviderId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { Flag, IdOf } from '../../lib/shapes.ts'
import { ProviderRow, type SegmentPrice } from './schema.ts'

const columns = sql`id, project_id, name, kind, channel, settings, sealed, secret_names, is_default, rate_limit, rate_interval_seconds,
  segment_price, created_at, updated_at`

const isThere = (ctx: Pick<ProjectCtx, 'projectId'>) => sql`project_id = ${ctx.projectId} and archived_at is null`

export const providerListing = listing({
  resource: 'providers',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    name: { column: sql`name`, type: 'text' },
    kind: { column: sql`kind`, type: 'text' },
    channel: { column: sql`channel`, type: 'text' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`name`, sql`kind`],
  searchedFields: 'name, kind',
})

export const listProviders = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<ProviderRow>> =>
  pageOf(ctx, ProviderRow, providerListing, page, { select: columns, from: sql`providers`, where: isThere(ctx) })

/** A provider of this project; undefined when there is none with this id. */
export const findProvider = async (ctx: ProjectCtx, id: ProviderId) => (await findProviders(ctx, ctx.projectId, id))[0]

const findProviders = jointMany(
  ProviderRow,
  (_, calls: JointCall<ProviderId>[]) =>
    sql`select q.call, p.*
        from ${callRows(calls, sql`provider_id bigint`, (provider_id) => ({ provider_id }))}
        cross join lateral (select ${columns} from providers where project_id = q.project_id and id = q.provider_id and archived_at is null) p`,
)

/** Locks a provider until the end of the transaction. */
export const lockProvider = (ctx: InTx, id: ProviderId) =>
  ctx.db.first(ProviderRow, sql`select ${columns} from providers where ${isThere(ctx)} and id = ${id} for update`)

/** The default provider of a channel. */
export const findDefault = async (ctx: ProjectCtx, channel: Channel) => (await findDefaults(ctx, ctx.projectId, channel))[0]

const findDefaults = jointMany(
  ProviderRow,
  (_, calls: JointCall<Channel>[]) =>
    sql`select q.call, p.*
        from ${callRows(calls, sql`wanted text`, (wanted) => ({ wanted }))}
        cross join lateral (select ${columns} from providers
                            where project_id = q.project_id and channel = q.wanted and is_default and archived_at is null) p`,
)

/** The other providers of a channel, oldest first. */
export const findOthers = (ctx: ProjectCtx, channel: Channel, id: ProviderId) =>
  ctx.db.many(ProviderRow, sql`select ${columns} from providers where ${isThere(ctx)} and channel = ${channel} and id <> ${id} order by id`)

/** The provider of a callback. The address of a callback has the id of the provider only. */
export const findCalled = (ctx: Ctx, id: ProviderId) =>
  ctx.db.first(ProviderRow, sql`select ${columns} from providers where id = ${id} and archived_at is null`)

const Count = Type.Object({ all: Type.Integer(), of_channel: Type.Integer() })

/** The number of providers, and of those of a channel. */
export const countProviders = (ctx: ProjectCtx, channel: Channel) =>
  ctx.db.first(
    Count,
    sql`select count(*) as all, count(*) filter (where channel = ${channel}) as of_channel from providers where ${isThere(ctx)}`,
  )

/** Which of these projects have a provider of another kind. */
export const projectsWithProviderBeside = async (ctx: Ctx, ids: ProjectId[], kind: string): Promise<ProjectId[]> =>
  (
    await ctx.db.many(
      Type.Object({ project_id: IdOf<ProjectId>() }),
      sql`select distinct project_id from providers where project_id = any(${ids}::bigint[]) and archived_at is null and kind <> ${kind}`,
    )
  ).map(({ project_id }) => project_id)

/** Does the project have a provider of another kind? */
export const hasProviderBeside = (ctx: Ctx, projectId: ProjectId, kind: string): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select 1 from providers where project_id = ${projectId} and archived_at is null and kind <> ${kind}) as exists`,
  )

/** Makes the default provider of a channel an ordinary one, unless it is the given one. */
export const dropDefault = (ctx: InTx, channel: Channel, except: ProviderId | null) =>
  ctx.db.run(
    sql`update providers set is_default = false, updated_at = ${ctx.clock.now()}
        where ${isThere(ctx)} and channel = ${channel} and is_default and id is distinct from ${except}::bigint`,
  )

type Rate = { limit: number; interval_seconds: number } | null

export type NewProvider = {
  name: string
  kind: string
  channel: Channel
  settings: object
  is_default: boolean
  rate: Rate
  segment_price: SegmentPrice | null
}

const priceOf = (price: SegmentPrice | null) => (price === null ? null : JSON.stringify(price))

/** Inserts a provider without its secrets, which are sealed for its id. */
export const insertProvider = (ctx: InTx, { name, kind, channel, settings, is_default, rate, segment_price }: NewProvider) =>
  ctx.db.one(
    ProviderRow,
    sql`insert into providers (project_id, name, kind, channel, settings, is_default, rate_limit, rate_interval_seconds, segment_price, created_at,
                               updated_at)
        values (${ctx.projectId}, ${name}, ${kind}, ${channel}, ${JSON.stringify(settings)}::jsonb, ${is_default},
                ${rate?.limit ?? null}, ${rate?.interval_seconds ?? null}, ${priceOf(segment_price)}::jsonb, ${ctx.clock.now()}, ${ctx.clock.now()})
        returning ${columns}`,
  )

/** The columns of a provider that can change. */
export type ProviderState = Pick<ProviderRow, 'name' | 'settings' | 'sealed' | 'secret_names' | 'is_default' | 'segment_price'> & {
  rate: Rate
}

/** Saves every column that can change. */
export const saveProvider = (
  ctx: InTx,
  id: ProviderId,
  { name, settings, sealed, secret_names, is_default, rate, segment_price }: ProviderState,
) =>
  ctx.db.one(
    ProviderRow,
    sql`update providers
        set name = ${name}, settings = ${JSON.stringify(settings)}::jsonb, sealed = ${sealed}, secret_names = ${secret_names}::text[],
            is_default = ${is_default}, rate_limit = ${rate?.limit ?? null}, rate_interval_seconds = ${rate?.interval_seconds ?? null},
            segment_price = ${priceOf(segment_price)}::jsonb,
            updated_at = ${ctx.clock.now()}
        where ${isThere(ctx)} and id = ${id}
        returning ${columns}`,
  )

/** Archives a provider and deletes its secrets. The row stays, because messages refer to it. */
export const archiveProvider = (ctx: ProjectCtx, id: ProviderId) =>
  ctx.db.run(
    sql`update providers set archived_at = ${ctx.clock.now()}, is_default = false, sealed = null, secret_names = '{}'
        where ${isThere(ctx)} and id = ${id}`,
  )

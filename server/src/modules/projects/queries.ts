import { type Static, Type } from 'typebox'
import { listing, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { Ctx, OrganisationCtx } from '../../infra/runtime/ctx.ts'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { Count, Flag, IdOf } from '../../lib/shapes.ts'
import { type ProjectChanges, type ProjectInput, ProjectRow } from './schema.ts'

const columns = sql`id, organization_id, name, locale, timezone, description, website_url, text_opt_out_message, text_help_message,
  link_wrap_email, link_wrap_push, track_opens_email, deeplink_mirror_url, test_recipients, created_at, updated_at`

export const projectListing = listing({
  resource: 'projects',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    name: { column: sql`name`, type: 'text' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`name`, sql`description`],
  searchedFields: 'name, description',
})

export const listProjects = (ctx: OrganisationCtx, page: PageRequest, ids: ProjectId[] | null) =>
  pageOf<typeof ProjectRow, ProjectRow>(ctx, ProjectRow, projectListing, page, {
    select: columns,
    from: sql`projects`,
    where: sql`organization_id = ${ctx.organisationId} and deleted_at is null and (${ids}::bigint[] is null or id = any(${ids}::bigint[]))`,
  })

const findAny = jointMany(
  ProjectRow,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, p.* from ${callRows(calls)} join (select ${columns} from projects) p on p.id = q.project_id`,
)

/** Any project, also one that is being erased, for work outside of requests. */
export const findAnyProject = async (ctx: Ctx, id: ProjectId): Promise<ProjectRow | undefined> => (await findAny(ctx, id, null))[0]

export const findProject = (ctx: Ctx, id: ProjectId, organisationId: OrganisationId | null) =>
  ctx.db.first(
    ProjectRow,
    sql`select ${columns} from projects
        where id = ${id} and deleted_at is null and (${organisationId}::bigint is null or organization_id = ${organisationId})`,
  )

export const insertProject = (ctx: Ctx, organisationId: OrganisationId, apiVersion: string, input: ProjectInput) =>
  ctx.db.one(
    ProjectRow,
    sql`insert into projects (organization_id, api_version, name, locale, timezone, description, website_url, text_opt_out_message, text_help_message,
                              link_wrap_email, link_wrap_push, track_opens_email, deeplink_mirror_url, test_recipients, created_at, updated_at)
        values (${organisationId}, ${apiVersion}, ${input.name}, ${input.locale}, ${input.timezone}, ${input.description ?? null}, ${input.website_url ?? null},
                ${input.text_opt_out_message ?? null}, ${input.text_help_message ?? null}, ${input.link_wrap_email ?? false}, ${input.link_wrap_push ?? false},
                ${input.track_opens_email ?? null}, ${input.deeplink_mirror_url ?? ''}, ${input.test_recipients ?? []}::text[], ${ctx.clock.now()}, ${ctx.clock.now()})
        returning ${columns}`,
  )

/** Saves the given members; `updated_at` changes only when one of them differs. */
export const updateProject = (ctx: OrganisationCtx, id: ProjectId, changes: ProjectChanges) =>
  ctx.db.first(
    ProjectRow,
    sql`update projects p
        set name = n.name, locale = n.locale, timezone = n.timezone, description = n.description, website_url = n.website_url,
            text_opt_out_message = n.text_opt_out_message, text_help_message = n.text_help_message, link_wrap_email = n.link_wrap_email,
            link_wrap_push = n.link_wrap_push, track_opens_email = n.track_opens_email, deeplink_mirror_url = n.deeplink_mirror_url,
            test_recipients = n.test_recipients,
            updated_at = case when to_jsonb(p) || ${JSON.stringify(changes)}::jsonb = to_jsonb(p) then p.updated_at else ${ctx.clock.now()} end
        from jsonb_populate_record((select old from projects old where old.id = ${id}), ${JSON.stringify(changes)}::jsonb) n
        where p.id = ${id} and p.organization_id = ${ctx.organisationId} and p.deleted_at is null
        returning p.id, p.organization_id, p.name, p.locale, p.timezone, p.description, p.website_url, p.text_opt_out_message, p.text_help_message,
                  p.link_wrap_email, p.link_wrap_push, p.track_opens_email, p.deeplink_mirror_url, p.test_recipients, p.created_at, p.updated_at`,
  )

export const countProjects = (ctx: OrganisationCtx): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from projects where organization_id = ${ctx.organisationId} and deleted_at is null`)

export const insertOrganisation = (ctx: Ctx, name: string, apiVersion: string): Promise<OrganisationId> =>
  ctx.db.value(
    IdOf<OrganisationId>(),
    sql`insert into organisations (name, api_version, created_at) values (${name}, ${apiVersion}, ${ctx.clock.now()}) returning id`,
  )

const Organisation = Type.Object({ id: IdOf<OrganisationId>(), name: Type.String() })

export const findOrganisation = (ctx: Ctx, id: OrganisationId) =>
  ctx.db.one(Organisation, sql`select id, name from organisations where id = ${id}`)

export const renameOrganisation = (ctx: Ctx, id: OrganisationId, name: string) =>
  ctx.db.one(Organisation, sql`update organisations set name = ${name} where id = ${id} returning id, name`)

/** The oldest organisation. Its owners operate the server. */
export const isFirstOrganisation = (ctx: Ctx, id: OrganisationId): Promise<boolean> =>
  ctx.db.value(Flag, sql`select not exists (select 1 from organisations where id < ${id}) as is_first`)

const OwnedProject = Type.Object({ id: IdOf<ProjectId>(), name: Type.String(), locale: Type.String(), timezone: Type.String() })
export type OwnedProject = Static<typeof OwnedProject>

/** All projects of an organisation, by name. */
export const projectsOf = (ctx: Ctx, organisationId: OrganisationId) =>
  ctx.db.many(
    OwnedProject,
    sql`select id, name, locale, timezone from projects
        where organization_id = ${organisationId} and deleted_at is null
        order by lower(name), id`,
  )

const OwnerRow = Type.Object({ id: IdOf<ProjectId>(), organization_id: IdOf<OrganisationId>(), is_deleted: Type.Boolean() })

/** A project, also one that was deleted. */
export const findNamedProject = (ctx: Ctx, id: ProjectId) =>
  ctx.db.first(OwnerRow, sql`select id, organization_id, deleted_at is not null as is_deleted from projects where id = ${id}`)

/** The oldest project, one that was deleted only if there is no other. The bootstrap keys belong to it. */
export const findFirstProject = (ctx: Ctx) =>
  ctx.db.first(
    OwnerRow,
    sql`select id, organization_id, deleted_at is not null as is_deleted from projects order by deleted_at is not null, id limit 1`,
  )

/** Locks the first start until the transaction ends, so that several processes do not create a project each. */
export const lockBootstrap = (ctx: Ctx) => ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended('carillon bootstrap', 0))`)

import type { PageRequest } from '../../infra/http/paging.ts'
import type { Ctx, OrganisationCtx } from '../../infra/runtime/ctx.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import { canonicalTimeZone } from '../../lib/time-zones.ts'
import { LATEST_VERSION } from '../../lib/versions.ts'
import * as queries from './queries.ts'
import type { Project, ProjectChanges, ProjectInput, ProjectRow } from './schema.ts'

const PROJECTS_MAX = 1000

/** What other modules do for a project that was just made, such as its default subscription types. */
export type Furnish = (ctx: Ctx, projectId: ProjectId) => Promise<void>

/** Does a project have a delivery provider of its own? Without one, the sandbox captures its messages. */
export type HasProvider = (ctx: Ctx, projectId: ProjectId) => Promise<boolean>

/** Makes a project with everything a new one has. */
export async function createProject(ctx: OrganisationCtx, input: ProjectInput, furnish: Furnish): Promise<Project> {
  if ((await queries.countProjects(ctx)) >= PROJECTS_MAX) {
    throw new ApiError('quota_exceeded', `An organisation may have at most ${PROJECTS_MAX} projects.`)
  }
  return present(await createProjectIn(ctx, ctx.organisationId, input, furnish), false)
}

export function createProjectIn(ctx: Ctx, organisationId: OrganisationId, input: ProjectInput, furnish: Furnish): Promise<ProjectRow> {
  return inTx(ctx, async (ctx) => {
    const project = await queries.insertProject(ctx, organisationId, LATEST_VERSION, { ...input, ...normalised(input) })
    await furnish(ctx, project.id)
    return project
  })
}

const missingProject = () => new ApiError('resource_missing', 'No project with that identifier exists in this organisation.')

/** The project, when it belongs to the organisation (if one is named). Throws 404. */
export async function findProject(ctx: Ctx, id: ProjectId, organisationId?: OrganisationId): Promise<ProjectRow> {
  const project = await queries.findProject(ctx, id, organisationId ?? null)
  if (!project) throw missingProject()
  return project
}

export async function getProject(ctx: OrganisationCtx, id: ProjectId, hasProvider: HasProvider): Promise<Project> {
  const project = await findProject(ctx, id, ctx.organisationId)
  return present(project, await hasProvider(ctx, project.id))
}

export const listProjects = (ctx: OrganisationCtx, page: PageRequest) => queries.listProjects(ctx, page)

export async function updateProject(
  ctx: OrganisationCtx,
  id: ProjectId,
  changes: ProjectChanges,
  hasProvider: HasProvider,
): Promise<Project> {
  const project = await queries.updateProject(ctx, id, { ...changes, ...normalised(changes) })
  if (!project) throw missingProject()
  return present(project, await hasProvider(ctx, project.id))
}

const normalised = ({ locale, timezone }: { locale?: string; timezone?: string }) => ({
  ...(locale !== undefined && { locale: normaliseLocale(locale) }),
  ...(timezone !== undefined && { timezone: canonicalTimeZone(timezone) }),
})

const present = (project: ProjectRow, has_provider: boolean): Project => ({ ...project, role: 'admin', has_provider })

import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { Ctx, OrganisationCtx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { projectListing } from './queries.ts'
import { ListedProject, Project, ProjectChanges, ProjectInput } from './schema.ts'
import { getProject, listProjects, presentProject, updateProject } from './service.ts'

const params = { projectId: pathId<ProjectId>() }

const audit = audits('project', { id: 'projectId', read: async (ctx: OrganisationCtx, id: ProjectId) => getProject(ctx, id) })

/** Verbs that need other modules: subscription types of a new project, providers of an existing one. */
type Verbs = {
  createProject(ctx: OrganisationCtx, input: ProjectInput): Promise<Project>
  /** Whether the project has a provider. Without one, its messages go to the sandbox. */
  hasProvider(ctx: Ctx, id: ProjectId): Promise<boolean>
}

export const projectRoutes = ({ createProject, hasProvider }: Verbs) => [
  route({
    method: 'POST',
    path: '/api/client/projects',
    summary: 'Create a project.',
    description:
      'The project starts with one public subscription type for each channel. Until it has providers, its messages go to the sandbox.',
    access: { organisation: 'admin' },
    audit: audit('created'),
    body: ProjectInput,
    reply: Project,
    status: 201,
    location: (project) => `/api/client/projects/${project.id}`,
    run: (ctx, { body }) => createProject(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/projects',
    summary: 'List the projects of the organisation.',
    description: 'The items have no `role` and no `has_provider`.',
    access: { organisation: 'member' },
    list: projectListing,
    reply: Page(ListedProject),
    run: (ctx, { page }) => listProjects(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/projects/{projectId}',
    summary: 'Read a project.',
    description: '`role` is the role of the caller in the project.',
    access: { organisation: 'member' },
    params,
    reply: Project,
    run: async (ctx, { params }) => presentProject(await getProject(ctx, params.projectId), await hasProvider(ctx, params.projectId)),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/projects/{projectId}',
    summary: 'Change a project.',
    description: 'Members that are left out do not change.',
    access: { organisation: 'admin' },
    audit: audit('updated'),
    params,
    body: ProjectChanges,
    reply: Project,
    run: async (ctx, { params, body }) =>
      presentProject(await updateProject(ctx, params.projectId, body), await hasProvider(ctx, params.projectId)),
  }),
]

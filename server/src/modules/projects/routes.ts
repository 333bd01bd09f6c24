import { route } from '../../infra/http/route.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { projectListing } from './queries.ts'
import { ListedProject, Project, ProjectChanges, ProjectInput } from './schema.ts'
import { createProject, type Furnish, getProject, type HasProvider, listProjects, updateProject } from './service.ts'

const params = { projectId: pathId<ProjectId>() }

/** `furnish` gives a new project what other modules have ready for it; `hasProvider` asks them whether it has a provider. */
export const projectRoutes = (furnish: Furnish, hasProvider: HasProvider) => [
  route({
    method: 'POST',
    path: '/api/client/projects',
    summary: 'Create a project.',
    description: 'It starts in sandbox mode, with one public subscription type for each channel.',
    access: { organisation: 'admin' },
    body: ProjectInput,
    reply: Project,
    status: 201,
    location: (project) => `/api/client/projects/${project.id}`,
    run: (ctx, { body }) => createProject(ctx, body, furnish),
  }),
  route({
    method: 'GET',
    path: '/api/client/projects',
    summary: 'List the projects of the organisation.',
    access: { organisation: 'member' },
    list: projectListing,
    reply: Page(ListedProject),
    run: (ctx, { page }) => listProjects(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/projects/{projectId}',
    summary: 'Read a project.',
    access: { organisation: 'member' },
    params,
    reply: Project,
    run: (ctx, { params }) => getProject(ctx, params.projectId, hasProvider),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/projects/{projectId}',
    summary: 'Change a project; only the members given change.',
    access: { organisation: 'admin' },
    params,
    body: ProjectChanges,
    reply: Project,
    run: (ctx, { params, body }) => updateProject(ctx, params.projectId, body, hasProvider),
  }),
]

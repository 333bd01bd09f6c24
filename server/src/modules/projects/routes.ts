import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import { asSystem, type Ctx, type OrganisationCtx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import type { Role } from '../../lib/roles.ts'
import { Page } from '../../lib/shapes.ts'
import { projectListing } from './queries.ts'
import { ListedProject, OwnProject, Project, ProjectChanges, ProjectDeletion, ProjectInput, ProjectSize } from './schema.ts'
import { findProject, getProject, listProjects, type OnTimeZone, presentOwn, presentProject, roleIn, updateProject } from './service.ts'

const params = { projectId: pathId<ProjectId>() }

const audit = audits('project', { id: 'projectId', read: async (ctx: OrganisationCtx, id: ProjectId) => getProject(ctx, id) })

/** Verbs that need other modules: subscription types of a new project, providers of an existing one. */
type Verbs = {
  createProject(ctx: OrganisationCtx, input: ProjectInput): Promise<Project>
  /** Whether the project has a provider. Without one, its messages go to the sandbox. */
  hasProvider(ctx: Ctx, id: ProjectId): Promise<boolean>
  /** The projects that the caller may read, with the role in each; null for all. */
  readableProjects(ctx: OrganisationCtx): Promise<Map<ProjectId, Role> | null>
  onTimeZone: OnTimeZone
  deleteProject(ctx: OrganisationCtx, id: ProjectId, name: string): Promise<ProjectSize>
  /** What is in a project. */
  sizeOf(ctx: ProjectCtx): Promise<ProjectSize>
}

export const projectRoutes = ({ createProject, hasProvider, readableProjects, onTimeZone, deleteProject, sizeOf }: Verbs) => [
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
    description:
      'The items have no `role` and no `has_provider`. A member sees the projects in which they have a role; admins and keys see all projects.',
    access: { organisation: 'member' },
    list: projectListing,
    reply: Page(ListedProject),
    run: async (ctx, { page }) => listProjects(ctx, page, await readableProjects(ctx)),
  }),
  route({
    method: 'GET',
    path: '/api/client/projects/me',
    summary: 'Read the project of the key.',
    description:
      'Phone numbers of users without a country code are read as numbers of the user’s country, or else of this `locale` and `timezone`.',
    access: { secret: 'support' },
    reply: OwnProject,
    run: async (ctx) => presentOwn(await findProject(ctx, ctx.projectId)),
  }),
  route({
    method: 'GET',
    path: '/api/client/projects/{projectId}',
    summary: 'Read a project.',
    description:
      '`role` is the role of the caller in the project; an organisation key of the role `member`, which may only read projects, is shown as `support`. A project in which a member has no role returns 404.',
    access: { organisation: 'member' },
    params,
    reply: Project,
    run: async (ctx, { params }) => {
      const project = await getProject(ctx, params.projectId)
      return presentProject(project, await hasProvider(ctx, params.projectId), roleIn(ctx, await readableProjects(ctx), params.projectId))
    },
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
      presentProject(await updateProject(ctx, params.projectId, body, onTimeZone), await hasProvider(ctx, params.projectId)),
  }),
  route({
    method: 'GET',
    path: '/api/client/projects/{projectId}/size',
    summary: 'Count what a project contains.',
    description: 'Deleting the project erases everything counted here.',
    access: { organisation: 'admin' },
    params,
    reply: ProjectSize,
    run: async (ctx, { params }) => sizeOf(asSystem(ctx, params.projectId, await getProject(ctx, params.projectId))),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/projects/{projectId}',
    summary: 'Delete a project and everything in it.',
    description:
      'Its keys stop working at once (within five seconds on other server processes), and no more messages are sent. Its data is erased in the ' +
      'background, which cannot be undone: export what you need first. The audit log keeps the project’s entries. `name` must be the name ' +
      'of the project, so that a wrong id deletes nothing.',
    access: { organisation: 'admin' },
    audit: audit('deleted', { details: (_, reply) => ({ size: reply as ProjectSize }) }),
    params,
    body: ProjectDeletion,
    status: 204,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => deleteProject(ctx, params.projectId, body.name),
  }),
]

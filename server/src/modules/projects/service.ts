import type { PageRequest } from '../../infra/http/paging.ts'
import { asSystem, type Ctx, type InTx, inTx, type OrganisationCtx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { lockRoom } from '../../infra/runtime/room.ts'
import { ApiError } from '../../lib/errors.ts'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import { organisationAtLeast, type Role } from '../../lib/roles.ts'
import { canonicalTimeZone } from '../../lib/time-zones.ts'
import { LATEST_VERSION } from '../../lib/versions.ts'
import { lockProject } from './deletion.queries.ts'
import * as queries from './queries.ts'
import type { OwnProject, Project, ProjectChanges, ProjectInput, ProjectRow } from './schema.ts'

/** Throws 429 if the organisation has the maximum number of projects. Keeps others from adding one until the transaction ends. */
export async function requireProjectRoom(ctx: InTx<OrganisationCtx>): Promise<void> {
  const { PROJECTS_MAX: max } = ctx.config
  if (max === 0) return
  await lockRoom(ctx, 'projects', ctx.organisationId)
  if ((await queries.countProjects(ctx)) < max) return
  throw new ApiError('quota_exceeded', `An organisation may have at most ${max} project${max === 1 ? '' : 's'}.`)
}

/** Stores a project of an organisation. `createProject` of `verbs.ts` adds its subscription types. */
export const insertProject = (ctx: InTx<Ctx>, organisationId: OrganisationId, input: ProjectInput): Promise<ProjectRow> =>
  queries.insertProject(ctx, organisationId, LATEST_VERSION, { ...input, ...normalised(input) })

export const missingProject = () => new ApiError('resource_missing', 'The organisation has no project with this id.')

/** Finds a project; with `organisationId`, only in that organisation. Throws 404. */
export async function findProject(ctx: Ctx, id: ProjectId, organisationId?: OrganisationId): Promise<ProjectRow> {
  const project = organisationId === undefined ? await queries.findAnyProject(ctx, id) : await queries.findProject(ctx, id, organisationId)
  if (!project) throw missingProject()
  return project
}

/** The context of background work for a project, with the project's locale and time zone. Throws 404 when it does not exist. */
export const contextOf = async (ctx: Ctx, id: ProjectId): Promise<ProjectCtx> => asSystem(ctx, id, await findProject(ctx, id))

/** Runs background work for a project. Throws 404 when it does not exist. */
export const inProject = async <T>(ctx: Ctx, id: ProjectId, work: (ctx: ProjectCtx) => Promise<T>): Promise<T> =>
  work(await contextOf(ctx, id))

/**
 * Does background work that is due, each piece in a transaction of its project. Returns how much was done. If a piece fails, `countFailed`
 * returns the number to count for it.
 */
export async function inEachProject<D extends { project_id: ProjectId }>(
  ctx: Ctx,
  due: D[],
  work: (ctx: InTx, due: D) => Promise<number>,
  countFailed: (ctx: Ctx, due: D, error: unknown) => Promise<number>,
): Promise<number> {
  let done = 0
  for (const piece of due) {
    const worked = inProject(ctx, piece.project_id, (ctx) => inTx(ctx, (ctx) => work(ctx, piece)))
    done += await worked.catch((error: unknown) => countFailed(ctx, piece, error))
  }
  return done
}

/** A project of the caller's organisation. Throws 404. */
export const getProject = (ctx: OrganisationCtx, id: ProjectId): Promise<ProjectRow> => findProject(ctx, id, ctx.organisationId)

/** The role of the caller in a project, among those that it may read. A key below `admin` may only read. Throws 404 when it is none of them. */
export function roleIn({ caller }: OrganisationCtx, readable: ReadonlyMap<ProjectId, Role> | null, id: ProjectId): Role {
  if (!readable) return organisationAtLeast(caller.role, 'admin') ? 'admin' : 'support'
  const role = readable.get(id)
  if (!role) throw missingProject()
  return role
}

/** The projects of the caller's organisation; with `readable`, only these. */
export const listProjects = (ctx: OrganisationCtx, page: PageRequest, readable: ReadonlyMap<ProjectId, Role> | null) =>
  queries.listProjects(ctx, page, readable && [...readable.keys()])

/** Does what follows from a new time zone of a project; `former` is the one before. */
export type OnTimeZone = (ctx: InTx, former: string) => Promise<void>

/** Changes the given members. Throws 404. */
export const updateProject = (ctx: OrganisationCtx, id: ProjectId, changes: ProjectChanges, onTimeZone: OnTimeZone): Promise<ProjectRow> =>
  inTx(ctx, async (ctx) => {
    const before = await lockProject(ctx, id)
    const project = before && (await queries.updateProject(ctx, id, { ...changes, ...normalised(changes) }))
    if (!before || !project) throw missingProject()
    if (project.timezone !== before.timezone)
      await onTimeZone({ ...ctx, projectId: id, project, caller: { kind: 'system' } }, before.timezone)
    return project
  })

/** The members that are stored in another form than they are given in. A blank reply would be no message: the default text replaces it. */
const normalised = ({ locale, timezone, text_opt_out_message, text_help_message }: ProjectChanges) => ({
  ...(locale !== undefined && { locale: normaliseLocale(locale) }),
  ...(timezone !== undefined && { timezone: canonicalTimeZone(timezone) }),
  ...(text_opt_out_message?.trim() === '' && { text_opt_out_message: null }),
  ...(text_help_message?.trim() === '' && { text_help_message: null }),
})

/** A project in replies. */
export const presentProject = (project: ProjectRow, has_provider: boolean, role: Role = 'admin'): Project => ({
  ...project,
  role,
  has_provider,
})

/** A project for its own keys. */
export const presentOwn = ({ id, name, locale, timezone }: ProjectRow): OwnProject => ({ id, name, locale, timezone })

/** The user in the path of a read, by what the key can name users with. */
import type { CallerCtx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { projectsOf } from '../projects/index.ts'
import { findUserAmong } from './queries.ts'
import type { UserRow } from './schema.ts'
import { requireUser } from './service.ts'

/** No more digits than a number can hold exactly. */
const NUMERIC_ID = /^\d{1,15}$/

/** A user, and the context of its project. The caller stays the same. */
type NamedUser = { ctx: ProjectCtx; user: UserRow }

/**
 * The user that a path names. A key of a project names one by external id (D-USER-2). A key of an organisation, where an external id may be
 * that of several users, names one by numeric id. Throws 404.
 */
export async function namedUser(ctx: CallerCtx, name: string): Promise<NamedUser> {
  if (ctx.caller.kind !== 'organisation') {
    const own = ctx as ProjectCtx
    return { ctx: own, user: await requireUser(own, name) }
  }
  const projects = await projectsOf(ctx, ctx.caller.organisationId)
  const ids = projects.map(({ id }) => id)
  const user = NUMERIC_ID.test(name) ? await findUserAmong(ctx, ids, Number(name) as UserId) : undefined
  const project = projects.find(({ id }) => id === user?.project_id)
  if (!user || !project) throw new ApiError('resource_missing', 'No user with that numeric id exists in the projects of this organisation.')
  const { id: projectId, locale, timezone } = project
  return { ctx: { ...ctx, projectId, project: { locale, timezone } }, user }
}

/** The deletion of a project: what says that it is deleted, and when what is left of it is looked at. */
import type { Ctx, InTx, OrganisationCtx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault } from '../../lib/errors.ts'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/times.ts'
import * as queries from './deletion.queries.ts'
import { claimAlone } from './each-alone.ts'
import { ERASE_PROJECTS } from './job-names.ts'
import { missingProject } from './service.ts'

/** What began before the deletion, such as a request with a key that another process still knows, has ended after this time. */
const IN_FLIGHT_MS = 10 * MINUTE_MS
/** For so long, once a day, what arrived late is erased too: a request may wait in a log outside of the database. */
const WATCHED_MS = 30 * DAY_MS

/** Marks a project as deleted, if `name` is its name. Returns its context. Throws 404, and 422 for another name. */
export async function beginDeletion(ctx: InTx<OrganisationCtx>, id: ProjectId, name: string): Promise<InTx> {
  const project = await queries.lockProject(ctx, id)
  if (!project) throw missingProject()
  if (project.name !== name) throw fault('validation_failed', 'name', 'This is not the name of the project. Nothing was deleted.')
  const inProject: InTx = { ...ctx, projectId: id, project, caller: { kind: 'system' } }
  await queries.markDeleted(inProject)
  ctx.wake(ERASE_PROJECTS)
  return inProject
}

/** A project that is being erased. */
export type Erasing = { deleted_at: Date; erased_at: Date | null }

/**
 * Erases one batch of a project that is due. `erase` returns how many rows it deleted. Returns that number, 1 if no rows were left, or 0
 * when no project is due. A project that cannot be erased holds up no other.
 */
export const eraseNextProject = (
  ctx: Ctx,
  erase: (ctx: InTx) => Promise<number>,
  recordErased: (ctx: InTx) => Promise<void>,
): Promise<number> =>
  claimAlone(ctx, ERASE_PROJECTS, queries.claimErasable, async (outer, due) => {
    const ctx = systemIn(outer, due)
    const rows = await erase(ctx)
    if (rows > 0) return rows
    const now = ctx.clock.now()
    if (due.erased_at === null && now.getTime() >= due.deleted_at.getTime() + IN_FLIGHT_MS) {
      await queries.markErased(ctx)
      await recordErased(ctx)
    }
    await queries.setEraseDue(ctx, nextLook(due, now))
    return 1
  })

/** When a deleted project without rows is checked again; null for never. */
export function nextLook({ deleted_at }: Pick<Erasing, 'deleted_at'>, now: Date): Date | null {
  const deletedMs = deleted_at.getTime()
  if (now.getTime() < deletedMs + IN_FLIGHT_MS) return new Date(deletedMs + IN_FLIGHT_MS)
  return now.getTime() + DAY_MS <= deletedMs + WATCHED_MS ? new Date(now.getTime() + DAY_MS) : null
}

type Due = { project_id: ProjectId; organization_id: OrganisationId; locale: string; timezone: string }

const systemIn = (ctx: InTx<Ctx>, { project_id, organization_id: organisationId, ...project }: Due): InTx<ProjectCtx> => ({
  ...ctx,
  projectId: project_id,
  project,
  caller: { kind: 'system' },
  origin: { via: 'system', requestId: null, organisationId },
})

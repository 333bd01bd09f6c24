import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { findFirstProject, findProject } from '../../modules/projects/index.ts'
import { CommandError } from '../command.ts'

/**
 * The project of the option `--project`, by default the first one, which was deleted if there is no other: its organisation remains. Throws
 * `CommandError` if it does not exist.
 */
export async function projectOf(ctx: Ctx, id: string | undefined) {
  const project = id === undefined ? await findFirstProject(ctx) : await existing(ctx, Number(id) as ProjectId)
  if (!project && id !== undefined) throw new CommandError(`There is no project ${id}.`)
  if (!project) throw new CommandError('There is no project yet. Start the server once to create the first one.')
  return project
}

async function existing(ctx: Ctx, id: ProjectId) {
  const project = await findProject(ctx, id).catch(() => undefined)
  return project && { ...project, is_deleted: false }
}

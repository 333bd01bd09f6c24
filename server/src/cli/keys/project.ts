import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { findFirstProject, findNamedProject } from '../../modules/projects/index.ts'
import { CommandError } from '../command.ts'

/**
 * The project of the option `--project`, by default the first one, which was deleted if there is no other. Of one that was deleted the
 * organisation remains. Throws `CommandError` if it does not exist.
 */
export async function projectOf(ctx: Ctx, id: string | undefined) {
  const project = id === undefined ? await findFirstProject(ctx) : await named(ctx, id)
  if (!project && id !== undefined) throw new CommandError(`There is no project ${id}.`)
  if (!project) throw new CommandError('There is no project yet. Start the server once to create the first one.')
  return project
}

const named = async (ctx: Ctx, id: string) =>
  /^[1-9]\d{0,14}$/.test(id) ? await findNamedProject(ctx, Number(id) as ProjectId) : undefined

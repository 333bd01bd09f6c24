import { listAllKeys } from '../../modules/keys/index.ts'
import { type Command, readArguments } from '../command.ts'
import { OPTIONS } from '../options.ts'
import { withCtx } from '../with-ctx.ts'
import { projectOf } from './project.ts'

/** Lists the keys of a project and those of its organisation. */
export const run: Command['run'] = async (args, env) => {
  const { project, json } = readArguments(args, OPTIONS.keysList).values
  await withCtx(env, async (ctx) => {
    const { id: projectId, organization_id: organisationId } = await projectOf(ctx, project)
    const keys = await listAllKeys(ctx, { projectId, organisationId })
    if (json) process.stdout.write(`${JSON.stringify(keys, null, 2)}\n`)
    else for (const key of keys) process.stdout.write(`${[key.id, key.value, key.scope, key.role, key.created_at, key.name].join('  ')}\n`)
  })
}

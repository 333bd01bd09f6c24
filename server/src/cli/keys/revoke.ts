import { inTx } from '../../infra/runtime/ctx.ts'
import type { KeyId } from '../../lib/ids.ts'
import { recordAction } from '../../modules/audit/index.ts'
import { archiveKeyReaching } from '../../modules/keys/index.ts'
import { type Command, CommandError, readArguments, UsageError } from '../command.ts'
import { OPTIONS } from '../options.ts'
import { withCtx } from '../with-ctx.ts'
import { projectOf } from './project.ts'

/** Archives a key of a project or of its organisation. Needs access to the database instead of a key, for when no admin key is left. */
export const run: Command['run'] = async (args, env) => {
  const { values, operands } = readArguments(args, OPTIONS.keysRevoke, 1)
  const [id = ''] = operands
  if (!/^[1-9]\d{0,14}$/.test(id)) throw new UsageError('Specify the id of a key, as `carillon keys list` prints it.')
  await withCtx(env, async (ctx) => {
    const { id: projectId, organization_id: organisationId } = await projectOf(ctx, values.project)
    await inTx({ ...ctx, origin: { via: 'cli', requestId: null, organisationId } }, async (ctx) => {
      const archived = await archiveKeyReaching(ctx, { projectId, organisationId }, Number(id) as KeyId)
      if (!archived)
        throw new CommandError('The project has no key with this id that can be archived. `carillon keys list` prints its keys.')
      const { name, scope, role } = archived
      await recordAction(ctx, archived.project_id, 'key.deleted', archived.id, { before: { name, scope, role } })
    })
    process.stdout.write('The key is archived. All server processes refuse the key within five seconds.\n')
  })
}

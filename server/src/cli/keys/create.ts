import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import type { OrganisationId } from '../../lib/ids.ts'
import { ORGANISATION_ROLES, ROLES } from '../../lib/roles.ts'
import { recordAction } from '../../modules/audit/index.ts'
import { generateKey, saveKey } from '../../modules/keys/index.ts'
import { type Command, CommandError, readArguments, UsageError } from '../command.ts'
import { OPTIONS } from '../options.ts'
import { withCtx } from '../with-ctx.ts'
import { projectOf } from './project.ts'

const NO_PROJECT = 'There is no project. Create one in the console, or with a key of the organisation: `--scope organisation`.'
const DELETED = 'This project was deleted, and a key of it would not work. Choose another one.'

/** Creates an API key. Needs access to the database instead of a key. */
export const run: Command['run'] = async (args, env) => {
  const { scope, role, project, name } = readArguments(args, OPTIONS.keysCreate).values
  const wanted = checked(scope, role)
  await withCtx(env, async (ctx) => {
    const owner = await projectOf(ctx, project)
    if (owner.is_deleted && wanted.scope !== 'organisation') throw new CommandError(project === undefined ? NO_PROJECT : DELETED)
    const value = generateKey(wanted.prefix, ctx.secrets.random)
    const organisationId = owner.organization_id as OrganisationId
    const projectId = wanted.scope === 'organisation' ? null : owner.id
    const { prefix: _, ...given } = { ...wanted, name }
    await inTx({ ...ctx, origin: { via: 'cli', requestId: null, organisationId } }, async (ctx) => {
      const key = { ...given, organisationId, projectId, description: null, isSystemKey: false }
      const saved = await saveKey(ctx as unknown as Ctx, value, key)
      if (saved) await recordAction(ctx, projectId, 'key.created', saved.id, { after: given })
    })
    process.stdout.write(`${value}\n`)
  })
}

const KINDS = { secret: 'sk_', public: 'pk_', organisation: 'ok_' } as const

function checked(scope: string, role = 'admin') {
  if (!Object.hasOwn(KINDS, scope)) throw new UsageError('--scope must be secret, public or organisation.')
  const roles: readonly string[] = scope === 'organisation' ? ORGANISATION_ROLES : ROLES
  if (!roles.includes(role)) throw new UsageError(`--role must be one of ${roles.join(', ')}.`)
  return { scope: scope as keyof typeof KINDS, role, prefix: KINDS[scope as keyof typeof KINDS] }
}

import { ownerUrl, storedOwnerUrl } from '../bootstrap.ts'
import { operatorLink } from '../modules/members/index.ts'
import { type Command, CommandError, readArguments } from './command.ts'
import { OPTIONS } from './options.ts'
import { withCtx } from './with-ctx.ts'

/**
 * Prints a link that creates the owner of the console, or the address of the console once there is one. With `--reset`, a link with which a member
 * sets a new password, without the second factor, for members who lost both.
 */
export const run: Command['run'] = async (args, env) => {
  const { reset } = readArguments(args, OPTIONS.console).values
  await withCtx(env, async (ctx) => {
    if (reset !== undefined) {
      const link = await operatorLink(ctx, reset)
      if (link === null) throw new CommandError('No member has this email address.')
      process.stdout.write(`${ctx.baseUrl()}${link}\n`)
      return
    }
    const url = await ownerUrl(ctx)
    if (url === null) await storedOwnerUrl(ctx.config.DATA_DIR).remove()
    process.stdout.write(`${url ?? `${ctx.baseUrl()}/sign-in`}\n`)
  })
}

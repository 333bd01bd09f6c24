import { ownerUrl, storedOwnerUrl } from '../bootstrap.ts'
import type { Command } from './command.ts'
import { withCtx } from './with-ctx.ts'

/** Prints a link that creates the owner of the console, or the address of the console once there is one. */
export const run: Command['run'] = async (_args, env) =>
  withCtx(env, async (ctx) => {
    const url = await ownerUrl(ctx)
    if (url === null) await storedOwnerUrl(ctx.config.DATA_DIR).remove()
    process.stdout.write(`${url ?? `${ctx.baseUrl()}/sign-in`}\n`)
  })

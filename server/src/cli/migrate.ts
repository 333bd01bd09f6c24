import { type Command, readArguments } from './command.ts'
import { OPTIONS } from './options.ts'
import { withCtx } from './with-ctx.ts'

/** Migrates the database. */
export const run: Command['run'] = async (args, env) => {
  readArguments(args, OPTIONS.none)
  await withCtx(env, async () => {
    process.stdout.write('The database schema is up to date.\n')
  })
}

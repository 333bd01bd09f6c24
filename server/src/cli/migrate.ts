import type { Command } from './command.ts'
import { withCtx } from './with-ctx.ts'

/** Migrates the database. */
export const run: Command['run'] = (_, env) =>
  withCtx(env, async () => {
    process.stdout.write('The database schema is up to date.\n')
  })

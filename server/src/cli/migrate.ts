import type { Command } from './command.ts'
import { withCtx } from './with-ctx.ts'

export const migrateCommand: Command = {
  usage: 'migrate',
  summary: 'Migrate the database schema and exit. `start` migrates too.',
  run: (_, env) =>
    withCtx(env, async () => {
      process.stdout.write('The database schema is up to date.\n')
    }),
}

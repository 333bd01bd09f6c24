import type { Command } from './command.ts'
import { withCtx } from './with-ctx.ts'

export const migrateCommand: Command = {
  usage: 'migrate',
  summary: 'Bring the database schema up to date, and stop. `start` does it by itself.',
  run: (_, env) =>
    withCtx(env, async () => {
      process.stdout.write('The schema is up to date.\n')
    }),
}

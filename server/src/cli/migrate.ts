import { readConfig } from '../infra/runtime/config.ts'
import { type Command, readArguments } from './command.ts'
import { OPTIONS } from './options.ts'
import { waitForSignal } from './signals.ts'
import { withCtx } from './with-ctx.ts'

/**
 * Migrates the database. The system keeps signals from process 1 of a container unless it listens for them. PostgreSQL undoes a migration whose
 * connection is lost. The embedded one must not be left behind, so that a signal waits for the end of the migration.
 */
export const run: Command['run'] = async (args, env) => {
  readArguments(args, OPTIONS.none)
  const { DATABASE_URL } = readConfig({ LOG_LEVEL: 'warn', ...env })
  const stopping = waitForSignal()
  if (DATABASE_URL) void stopping.then(stop)
  await withCtx(env, async () => {
    process.stdout.write('The database schema is up to date.\n')
  })
}

function stop(): never {
  process.stderr.write('The migration was stopped. What was not finished is undone; run it again.\n')
  process.exit(1)
}

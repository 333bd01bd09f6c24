/** The command line: `node server/src/main.ts <command>`, also installed as `carillon`. */
import { UsageError } from './cli/command.ts'
import { findCommand } from './cli/index.ts'
import { ConfigError } from './infra/runtime/config.ts'

/** What shells use for arguments that are not understood. */
const EXIT_USAGE = 2

// When the reader of the log disconnects, the server must keep running.
process.stdout.on('error', () => undefined)

// Liquid prints times by the clock of the process: an hour is wrong when its zone changes to or from summer time.
process.env.TZ = 'UTC'

try {
  const { command, args } = findCommand(process.argv.slice(2))
  await command.run(args, process.env)
} catch (error) {
  const expected = error instanceof ConfigError || (error instanceof Error && 'expected' in error)
  process.stderr.write(`${expected ? error.message : error instanceof Error ? error.stack : error}\n`)
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : 1
}

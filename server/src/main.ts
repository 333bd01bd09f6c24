/** The command line: `node server/src/main.ts <command>`, also installed as `carillon`. */
import { commands } from './cli/index.ts'
import { ConfigError } from './infra/runtime/config.ts'

// When the reader of the log disconnects, the server must keep running.
process.stdout.on('error', () => undefined)

const [name = 'help', ...args] = process.argv.slice(2)
const known = Object.hasOwn(commands, name)
const command = known ? commands[name as keyof typeof commands] : commands.help
if (!known) process.exitCode = 1

try {
  await command.run(args, process.env)
} catch (error) {
  const expected = error instanceof ConfigError || (error instanceof Error && ('expected' in error || isBadArgument(error)))
  process.stderr.write(`${expected ? error.message : error instanceof Error ? error.stack : error}\n`)
  process.exitCode = 1
}

function isBadArgument(error: Error & { code?: string }): boolean {
  return error.code?.startsWith('ERR_PARSE_ARGS') ?? false
}

/** The commands by name. */
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { keys } from './keys.ts'
import { listenCommand } from './listen-command.ts'
import { migrateCommand } from './migrate.ts'
import { start } from './start.ts'

const role = (name: 'all' | 'api' | 'worker'): Command => ({ ...start, usage: name, run: (_, env) => start.run([name], env) })

const help: Command = {
  usage: 'help',
  summary: 'Print this help.',
  async run() {
    const lines = Object.values(commands).filter((command) => command.summary !== start.summary || command === start)
    process.stdout.write(`carillon <command>\n\n${lines.map(({ usage, summary }) => `  ${usage.padEnd(58)}${summary}`).join('\n')}\n`)
  },
}

export const commands = {
  start,
  all: role('all'),
  api: role('api'),
  worker: role('worker'),
  migrate: migrateCommand,
  keys,
  listen: listenCommand,
  doctor,
  help,
}

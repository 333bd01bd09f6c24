/** The commands by name. */
import type { Command } from './command.ts'
import { start } from './start.ts'

const role = (name: 'all' | 'api' | 'worker'): Command => ({ ...start, usage: name, run: (_, env) => start.run([name], env) })

/** A command whose module is loaded when it runs. Most modules load the server, which takes a second. */
const later = (usage: string, summary: string, load: () => Promise<Pick<Command, 'run'>>): Command => ({
  usage,
  summary,
  run: async (args, env) => (await load()).run(args, env),
})

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
  migrate: later('migrate', 'Migrate the database schema and exit. `start` migrates too.', () => import('./migrate.ts')),
  keys: later(
    'keys create [--scope S] [--role R] [--project ID]',
    'Create an API key (secret, public or organisation) and print it. --name sets its name.',
    () => import('./keys.ts'),
  ),
  console: later(
    'console [--reset EMAIL]',
    'Print the link that creates the owner of the console, or a link for a new password.',
    () => import('./console.ts'),
  ),
  listen: later(
    'listen [--events a,b] [--port N] [--url U] [--key K] [--forward-to U] [--secret S]',
    'Receive webhook events on this machine, verify their signatures and print them.',
    () => import('./listen-command.ts'),
  ),
  inbound: later(
    'inbound [recipient...]',
    'Read an email with a bounce or a complaint from standard input, for mail servers.',
    () => import('./inbound.ts'),
  ),
  'import-from': later(
    'import-from <product> <users|suppressions|template> <file>',
    'Import an export file of customerio, braze, mailchimp or listmonk.',
    () => import('./import-from/command.ts'),
  ),
  doctor: later('doctor', 'Check Node, configuration, data directory, database and backlog.', () => import('./doctor.ts')),
  help,
}

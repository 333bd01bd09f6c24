/** The commands by name, and their help. */
import { VERSION } from '../lib/versions.ts'
import { type Command, type Options, readArguments, UsageError } from './command.ts'
import { OPTIONS } from './options.ts'
import { start } from './start.ts'

/** A command whose module is loaded when it runs. Most modules load the server, which takes a second. */
const later = (operands: string, summary: string, options: Options, load: () => Promise<Pick<Command, 'run'>>): Command => ({
  operands,
  summary,
  options,
  run: async (args, env) => (await load()).run(args, env),
})

const help: Command = {
  operands: '[command]',
  summary: 'Print the commands, or the options of one. `--help` after a command does the same.',
  options: {},
  async run(words) {
    const name = words.join(' ')
    if (name === '') process.stdout.write(overview(Object.keys(commands)))
    else process.stdout.write(helpOf(name))
  },
}

const version: Command = {
  operands: '',
  summary: 'Print the version. `--version` does the same.',
  options: {},
  async run(args) {
    readArguments(args, OPTIONS.none)
    process.stdout.write(`${VERSION}\n`)
  },
}

const commands: Record<string, Command> = {
  start,
  migrate: later('', 'Migrate the database schema and exit. `start` also migrates.', OPTIONS.none, () => import('./migrate.ts')),
  'keys create': later(
    '',
    'Create an API key (secret, public or organisation) and print it.',
    OPTIONS.keysCreate,
    () => import('./keys/create.ts'),
  ),
  'keys list': later('', 'List the API keys of a project, without their values.', OPTIONS.keysList, () => import('./keys/list.ts')),
  'keys revoke': later('<id>', 'Archive an API key, which then stops working.', OPTIONS.keysRevoke, () => import('./keys/revoke.ts')),
  console: later(
    '',
    'Print the link that creates the owner of the console, or a link for a new password.',
    OPTIONS.console,
    () => import('./console.ts'),
  ),
  listen: later(
    '',
    'Receive webhook events on this machine, verify their signatures and print them.',
    OPTIONS.listen,
    () => import('./listen-command.ts'),
  ),
  request: later('<method> <path>', 'Send a request to the API and print the reply.', OPTIONS.request, () => import('./request.ts')),
  replay: later('<webhook id>', 'Deliver past events to a webhook endpoint again.', OPTIONS.replay, () => import('./replay.ts')),
  inbound: later(
    '[recipient...]',
    'Read an email with a bounce or a complaint from standard input. For use by mail servers.',
    OPTIONS.none,
    () => import('./inbound.ts'),
  ),
  'import-from': later(
    '<product> <users|suppressions|template> <file>',
    'Import a file that was exported from customerio, braze, mailchimp or listmonk.',
    OPTIONS.importFrom,
    () => import('./import-from/command.ts'),
  ),
  seed: later(
    '',
    'Fill a project with sample users, events, lists, campaigns and a journey.',
    OPTIONS.seed,
    () => import('./seed/command.ts'),
  ),
  backup: later('<folder>', 'Back up the database and DATA_DIR, even while servers run.', OPTIONS.json, () => import('./backup.ts')),
  restore: later('<folder>', 'Restore a backup into an empty database and DATA_DIR.', OPTIONS.none, () => import('./restore.ts')),
  'config check': later(
    '',
    'Check the configuration and print every setting, and where its value comes from. Secrets are masked.',
    OPTIONS.json,
    () => import('./config-check.ts'),
  ),
  doctor: later(
    '',
    'Check Node, the configuration, the data directory, the database and the backlog.',
    OPTIONS.json,
    () => import('./doctor.ts'),
  ),
  version,
  help,
}

/** Starts a process with a role. No command may have the name of one. */
const role = (name: 'all' | 'api' | 'worker'): Command => ({ ...start, operands: '', run: (args, env) => start.run([name, ...args], env) })
/** Other names, which the help leaves out. */
const aliases: Record<string, Command> = {
  all: role('all'),
  api: role('api'),
  worker: role('worker'),
  '--version': version,
  '--help': help,
  '-h': help,
}

/** The command that the words of a command line name, with the arguments that follow. Throws `UsageError` if there is none. */
export function findCommand(words: string[]): { command: Command; args: string[] } {
  const [first = 'help', second = ''] = words
  const two = `${first} ${second}`
  const [name, rest] = Object.hasOwn(commands, two) ? [two, words.slice(2)] : [first, words.slice(1)]
  const command = Object.hasOwn(aliases, name) ? aliases[name] : Object.hasOwn(commands, name) ? commands[name] : undefined
  const options = rest.slice(0, rest.includes('--') ? rest.indexOf('--') : rest.length)
  const isAsked = options.includes('--help') || options.includes('-h')
  const names = within(name)
  if (isAsked && (command || names.length > 0)) return { command: help, args: Object.hasOwn(aliases, name) ? ['start'] : [name] }
  if (command) return { command, args: rest }
  throw new UsageError(
    names.length > 0
      ? `After ${name}, give one of ${names.map((full) => full.slice(name.length + 1)).join(', ')}.`
      : `Unknown command: ${name}. \`carillon help\` prints the commands.`,
  )
}

/** The commands that begin with this word. */
const within = (word: string): string[] => Object.keys(commands).filter((name) => name.startsWith(`${word} `))

const COLUMN = 16

function overview(names: string[]): string {
  const lines = names.map((name) => `  ${name.padEnd(COLUMN)}${commands[name]?.summary}`)
  return `carillon <command>\n\n${lines.join('\n')}\n\n\`carillon <command> --help\` prints the options of a command.\n`
}

function helpOf(name: string): string {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command && within(name).length > 0) return overview(within(name))
  if (!command) throw new UsageError(`Unknown command: ${name}. \`carillon help\` prints the commands.`)
  const options = Object.entries(command.options).map(([option, { description, ...more }]): [string, string] => [
    'value' in more ? `--${option} ${more.value}` : `--${option}`,
    description,
  ])
  const width = Math.max(0, ...options.map(([option]) => option.length)) + 2
  const lines = options.map(([option, description]) => `  ${option.padEnd(width)}${description}`)
  const usage = ['carillon', name, command.operands, ...(lines.length > 0 ? ['[options]'] : [])].filter((part) => part !== '').join(' ')
  return [usage, '', command.summary, ...(lines.length > 0 ? ['', ...lines] : []), ''].join('\n')
}

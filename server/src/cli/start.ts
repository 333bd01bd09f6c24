import type { App, Role } from '../app.ts'
import { type Config, readConfig } from '../infra/runtime/config.ts'
import { overriddenFiles } from '../infra/runtime/given-settings.ts'
import { misnamedSettings } from '../infra/runtime/misnamed-settings.ts'
import { settings } from '../infra/runtime/settings.ts'
import { type Command, readArguments, UsageError } from './command.ts'
import { OPTIONS } from './options.ts'
import { waitForSignal } from './signals.ts'

const ROLES = ['all', 'api', 'worker']

/** Starts the server and stops it cleanly on SIGTERM or SIGINT. */
export const start: Command = {
  operands: '[all|api|worker]',
  summary: 'Start the server. By default, one process is both API and worker.',
  options: OPTIONS.none,
  async run(args, env) {
    const [role = 'all'] = readArguments(args, OPTIONS.none, 1).operands
    if (!ROLES.includes(role)) throw new UsageError(`The role must be all, api or worker, not "${role}".`)
    const config = readConfig(env)
    // A signal during the start stops the server once it has started: PostgreSQL must not be left behind.
    const stopping = waitForSignal()
    // Loaded only with a sound configuration, because it takes a second.
    const { startApp } = await import('../app.ts')
    await warnOfNames(config, env)
    const app = await startApp(config, role as Role)
    await printStart(app, config.production)
    await stopping
    await app[Symbol.asyncDispose]()
  },
}

/** A misspelt setting is not an error, because the environment also has names for other programs. Nor is a secret that overrides its file. */
async function warnOfNames({ LOG_LEVEL }: Config, env: Record<string, string | undefined>) {
  const { createLog } = await import('../infra/runtime/log.ts')
  const log = createLog(LOG_LEVEL)
  for (const { name, nearest } of misnamedSettings(env, settings))
    log.warn({ name, nearest }, 'the environment has a name that is not a setting')
  for (const name of overriddenFiles(env, settings))
    log.warn({ name }, 'the environment has another value than the file, which is not used')
}

async function printStart({ url, operationsUrl, credentials, owner }: App, isProduction: boolean) {
  if (!url) process.stdout.write('The worker is ready\n')
  if (url) process.stdout.write(`Carillon is ready at ${url}; the API reference is at ${url}/docs\n`)
  if (operationsUrl) process.stdout.write(`Operations: ${operationsUrl}/readyz\n`)
  if (owner) process.stdout.write(isProduction ? `The link to the console is in ${owner.path}\n` : `Console: ${owner.url}\n`)
  if (!credentials) return
  const { path, organisation_key, secret_key, publishable_key } = credentials
  // In production, standard output is a log that others can read.
  process.stdout.write(
    isProduction
      ? `Your first keys are in ${path}\n`
      : `\nYour first keys, shown once and stored in ${path}:\n  organisation  ${organisation_key}\n  secret        ${secret_key}\n  publishable   ${publishable_key}\n\n`,
  )
  await credentials.shown()
}

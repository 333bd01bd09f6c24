import { ConfigError, readConfig, settings } from '../infra/runtime/config.ts'
import { type Command, readArguments } from './command.ts'
import { OPTIONS } from './options.ts'

/** Checks the configuration and prints every setting with its value. Connects to nothing; `doctor` does. */
export const run: Command['run'] = async (args, env) => {
  const { json } = readArguments(args, OPTIONS.json).values
  const problem = problemOf(env)
  const listed = Object.entries(settings).map(([name, { secret }]) => ({
    name,
    value: shown(env[name]?.trim(), secret),
    is_set: Boolean(env[name]?.trim()),
  }))
  if (json) process.stdout.write(`${JSON.stringify({ ok: problem === null, problem, settings: listed }, null, 2)}\n`)
  else {
    for (const { name, value, is_set } of listed) if (is_set) process.stdout.write(`${name}=${value}\n`)
    process.stdout.write(`${problem ?? 'The configuration is valid. Settings that are not printed have their defaults.'}\n`)
  }
  if (problem !== null) process.exitCode = 1
}

function problemOf(env: Record<string, string | undefined>): string | null {
  try {
    readConfig(env)
    return null
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

const shown = (value: string | undefined, isSecret = false): string | null => (value === undefined ? null : isSecret ? '(secret)' : value)

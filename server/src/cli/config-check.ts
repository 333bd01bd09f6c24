import { inspectConfig } from '../infra/runtime/config.ts'
import { overriddenFiles, overriddenText } from '../infra/runtime/given-settings.ts'
import { misnamedSettings, misnamedText } from '../infra/runtime/misnamed-settings.ts'
import { type Setting, writtenValue } from '../infra/runtime/setting-types.ts'
import { settings } from '../infra/runtime/settings.ts'
import { type Command, readArguments } from './command.ts'
import { OPTIONS } from './options.ts'

/** Checks the configuration and prints every setting with its value and where that comes from. Connects to nothing; `doctor` does. */
export const run: Command['run'] = async (args, env) => {
  const { json } = readArguments(args, OPTIONS.json).values
  const { problem, warnings, settings } = check(env)
  if (json) process.stdout.write(`${JSON.stringify({ ok: problem === null, problem, warnings, settings }, null, 2)}\n`)
  else {
    for (const { name, value, effective, origin, file } of settings)
      process.stdout.write(`${name}=${effective ?? value ?? ''} # ${effective === null ? 'not valid, ' : ''}${file ?? origin}\n`)
    for (const warning of warnings) process.stdout.write(`Warning: ${warning}\n`)
    process.stdout.write(`${problem ?? 'The configuration is valid.'}\n`)
  }
  if (problem !== null) process.exitCode = 1
}

function check(env: Record<string, string | undefined>) {
  const { problem, settings: inspected } = inspectConfig(env)
  const warnings = [...misnamedSettings(env, settings).map(misnamedText), ...overriddenFiles(env, settings).map(overriddenText)]
  return { problem, warnings, settings: inspected.map(shown) }
}

type Inspected = ReturnType<typeof inspectConfig>['settings'][number]

/** `value` is what was given, and `effective` what holds: null if what was given is not valid. Neither has a secret. */
function shown({ name, given, isValid, value }: Inspected) {
  const { secret = false } = settings[name as keyof typeof settings] as Setting<unknown>
  const masked = (text: string) => (secret && text !== '' ? '(secret)' : text)
  return {
    name,
    value: given && masked(given.text),
    is_set: given !== null,
    effective: isValid ? masked(writtenValue(value)) : null,
    origin: given === null ? 'default' : given.file === null ? 'environment' : 'file',
    file: given?.file ?? null,
  }
}

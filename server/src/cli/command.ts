/** What a command of the command line is, and how it reads its arguments. */
import { parseArgs } from 'node:util'

/** The options of a command by name. `value` stands for the value in the help; an option without one is a flag. */
export type Options = Record<string, StringOption | Flag>
type StringOption = { type: 'string'; value: string; description: string; default?: string }
type Flag = { type: 'boolean'; description: string; default: false }

/** A command of the command line. Throws `CommandError` for mistakes of the caller. */
export type Command = {
  /** What follows the name besides options, as the help shows it. */
  operands: string
  summary: string
  options: Options
  run(args: string[], env: Record<string, string | undefined>): Promise<void>
}

export class CommandError extends Error {
  readonly expected = true
}

/** The arguments are not those of the command. The process exits with 2 (D-OPS-4). */
export class UsageError extends CommandError {}

/** Reads the arguments of a command. Throws `UsageError` if one is unknown, or if there are more than `operandsMax` operands. */
export function readArguments<const O extends Options>(args: string[], options: O, operandsMax = 0) {
  const { values, positionals } = parsedArguments(args, options)
  if (positionals.length > operandsMax) throw new UsageError(`Unexpected argument: ${positionals[operandsMax]}.`)
  return { values, operands: positionals }
}

function parsedArguments<const O extends Options>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

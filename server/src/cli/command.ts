/** A command of the command line. Throws `CommandError` for mistakes of the caller. */
export type Command = {
  usage: string
  summary: string
  run(args: string[], env: Record<string, string | undefined>): Promise<void>
}

export class CommandError extends Error {
  readonly expected = true
}

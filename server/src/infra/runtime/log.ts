import { pino } from 'pino'

export type Log = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Log
}

/** Fields that are never logged, up to two levels deep. */
const REDACTED = ['email', 'phone', 'authorization', 'token', 'value', 'signing_secret', 'secret', 'password', 'body', 'data']

/** Those fields of errors that name neither rows nor values. PostgreSQL tells whole rows in others, such as `detail`. */
const ERROR_FIELDS = ['code', 'errno', 'syscall', 'severity', 'table', 'column', 'constraint']

/** The class of errors in whose messages PostgreSQL tells values, in the quotation marks of the language of the database. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/
const QUOTATION_MARK = /["'„“”«»‹›「]/

/** A message up to its first value. */
function untilValue(message: string): string {
  const at = message.search(QUOTATION_MARK)
  return at < 0 ? message : `${message.slice(0, at)}[redacted]`
}

/** A text without the values in the messages of an error and its causes. */
function withoutValues(text: string, error: unknown, seen = new Set<unknown>()): string {
  if (!(error instanceof Error) || seen.has(error)) return text
  const { code, message } = error as Error & { code?: unknown }
  const hasValue = typeof code === 'string' && DATA_EXCEPTION.test(code) && message !== ''
  const rest = hasValue ? text.replaceAll(message, () => untilValue(message)) : text
  return withoutValues(rest, error.cause, seen.add(error))
}

/** What is logged of an error. Its message and stack include those of its causes. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { type, message, stack } = pino.stdSerializers.err(error)
  const some = Object.entries(error).filter(([name]) => ERROR_FIELDS.includes(name))
  const several = error instanceof AggregateError && { aggregateErrors: error.errors.map(errorFields) }
  return { type, message: withoutValues(message, error), stack: withoutValues(stack, error), ...Object.fromEntries(some), ...several }
}

const paths = REDACTED.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

/** Logs JSON lines to standard output (or `destination`), without personal data and secrets. */
export const createLog = (level: string, destination?: { write(line: string): void }): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields },
      redact: { paths, censor: '[redacted]' },
    },
    ...(destination ? [destination] : []),
  )

/** A child that is made when it first logs: most requests log nothing, and a child of pino costs as much as parsing a small body. */
export function childWhenUsed(parent: Log, fields: object): Log {
  let child: Log | undefined
  const log = () => (child ??= parent.child(fields))
  return {
    debug: (...line) => log().debug(...line),
    info: (...line) => log().info(...line),
    warn: (...line) => log().warn(...line),
    error: (...line) => log().error(...line),
    child: (more) => log().child(more),
  }
}

/** What errors of NATS mean: for the operator who starts the server, and for requests. */
import { JetStreamApiError } from '@nats-io/jetstream'
import { AuthorizationError, ConnectionError, NoRespondersError, RequestError, TimeoutError } from '@nats-io/transport-node'
import { StartError } from '../../lib/start-error.ts'

/** The name of an error whose class is not exported. */
const NOT_ENABLED = 'JetStreamNotEnabled'
/** The account or the servers have no room, or the stream is full. */
const FULL = new Set([10_002, 10_023, 10_047, 10_077])
/** The cluster has no leader at the moment, or is too busy. */
const PASSING = new Set([10_008, 10_009, 10_013])

/** Whether the log has no room for another entry. */
export const isFull = (error: unknown): boolean => error instanceof JetStreamApiError && FULL.has(error.code)

/** Whether the same call may succeed in a moment. */
export const isPassing = (error: unknown): boolean =>
  error instanceof TimeoutError ||
  error instanceof NoRespondersError ||
  (error instanceof RequestError && error.isNoResponders()) ||
  (error instanceof JetStreamApiError && PASSING.has(error.code))

/** Why the log cannot be used, for the operator; or the error itself if the operator cannot fix it. */
export function natsProblem(error: unknown, where: string, stream: string): unknown {
  if (!(error instanceof Error) || error instanceof StartError) return error
  if (error.name === NOT_ENABLED)
    return new StartError(
      `NATS at ${where} does not have JetStream enabled. Start it with \`-js\`, and with \`-sd\` and a folder for its files.`,
    )
  if (error instanceof AuthorizationError) return new StartError(`NATS at ${where} refused the user or the password. Correct LOG_URL.`)
  if (error instanceof JetStreamApiError)
    return new StartError(
      `NATS at ${where} refused the stream “${stream}” (${error.message}). Correct LOG_STREAM, LOG_REPLICAS or LOG_BYTES_MAX.`,
    )
  if (isPassing(error) || error instanceof ConnectionError || 'code' in error)
    return new StartError(`NATS at ${where} cannot be reached (${error.message}). Start it, or correct LOG_URL.`)
  return error
}

/** The error for a limit on the size of messages, `max`, that is too low. */
export const payloadProblem = (where: string, max: number, min: number): StartError =>
  new StartError(
    `NATS at ${where} accepts messages of at most ${max} bytes. Set its \`max_payload\` to ${min} or more, or lower JSON_BODY_LIMIT.`,
  )

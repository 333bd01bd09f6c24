/** The log of accepted requests as a stream of NATS JetStream, in files, with as many copies as LOG_REPLICAS. */
import { randomUUID } from 'node:crypto'
import type { Consumer, JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { AckPolicy, DeliverPolicy, DiscardPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { connect, type NatsConnection, nanos } from '@nats-io/transport-node'
import type { Clock } from '../../lib/clock.ts'
import { ApiError } from '../../lib/errors.ts'
import { type NatsServers, natsServers } from '../../lib/nats-url.ts'
import { MINUTE_MS, SECOND_MS } from '../../lib/times.ts'
import type { AcceptedLog, StoredEntry } from '../runtime/accepted-log.ts'
import type { Config } from '../runtime/config.ts'
import { isFull, isPassing, natsProblem, payloadProblem } from './nats-problem.ts'

const CONNECT_MAX_MS = 5000
/** A server that does not answer this often is left for another one. */
const PING_EVERY_MS = 5000
const PINGS_UNANSWERED_MAX = 2
/** Within this time, an append with the key of an earlier one is not stored. */
const REPEATS_KNOWN_MS = 2 * MINUTE_MS
const APPEND_TRY_MS = 2000
/** An append that is still not acknowledged after this time is refused. */
const APPEND_MAX_MS = 6000
const TRY_AGAIN_MS = 100
const READ_MAX_MS = 2000
const READER_KEPT_MS = 30 * SECOND_MS
/** What is stored beside a body. */
const HEAD_BYTES_MAX = 4096

type Settings = Pick<Config, 'LOG_STREAM' | 'LOG_REPLICAS' | 'LOG_BYTES_MAX' | 'JSON_BODY_LIMIT'>

/** Connects, and creates the stream if there is none. Throws an error that says what the operator has to do. */
export async function openNatsLog(settings: Settings, url: string, clock: Clock): Promise<AcceptedLog> {
  const { LOG_STREAM: name, JSON_BODY_LIMIT } = settings
  const servers = natsServers(url) as NatsServers
  const { where } = servers
  const connection = await connectTo(servers).catch((error) => {
    throw natsProblem(error, where, name)
  })
  try {
    const payloadMin = JSON_BODY_LIMIT + HEAD_BYTES_MAX
    const payloadMax = connection.info?.max_payload ?? payloadMin
    if (payloadMax < payloadMin) throw payloadProblem(where, payloadMax, payloadMin)
    const manager = await whilePassing(clock, () => jetstreamManager(connection, { timeout: CONNECT_MAX_MS }))
    const found = await whilePassing(clock, () => createStream(manager, settings))
    return logOf({ connection, manager, clock, name, where, id: idOf(found) })
  } catch (error) {
    await connection.close()
    throw natsProblem(error, where, name)
  }
}

const connectTo = ({ servers, isEncrypted, user, pass, token }: NatsServers): Promise<NatsConnection> =>
  connect({
    servers,
    name: 'carillon',
    timeout: CONNECT_MAX_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: TRY_AGAIN_MS,
    pingInterval: PING_EVERY_MS,
    maxPingOut: PINGS_UNANSWERED_MAX,
    ...(isEncrypted && { tls: {} }),
    ...(user !== undefined && { user }),
    ...(pass !== undefined && { pass }),
    ...(token !== undefined && { token }),
  })

/** Repeats what failed because a cluster is choosing a leader. */
async function whilePassing<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || performance.now() - startedAt > CONNECT_MAX_MS) throw error
      await clock.sleep(TRY_AGAIN_MS)
    }
  }
}

/** Creates the stream, or gives one that exists the present settings. */
async function createStream(manager: JetStreamManager, { LOG_STREAM: name, LOG_REPLICAS, LOG_BYTES_MAX }: Settings): Promise<StreamInfo> {
  const changing = { num_replicas: LOG_REPLICAS, max_bytes: LOG_BYTES_MAX, duplicate_window: nanos(REPEATS_KNOWN_MS) }
  const found = await manager.streams.info(name).catch((error: { code?: number }) => {
    if (error.code !== STREAM_MISSING) throw error
  })
  if (found) {
    const { config } = found
    const isSame = Object.entries(changing).every(([setting, value]) => config[setting as keyof typeof changing] === value)
    return isSame ? found : manager.streams.update(name, changing)
  }
  const fixed = { retention: RetentionPolicy.Limits, storage: StorageType.File, discard: DiscardPolicy.New }
  return manager.streams.add({ name, subjects: [subjectOf(name)], ...fixed, ...changing })
}

const STREAM_MISSING = 10_059
const subjectOf = (name: string) => `${name}.accepted`
const wakeSubjectOf = (name: string) => `${name}.wake`

/** `id` is that of the stream when it was last looked at. */
type Open = { connection: NatsConnection; manager: JetStreamManager; clock: Clock; name: string; where: string; id: string }

const idOf = ({ config, created }: StreamInfo): string => `${config.name} ${created}`

/** The stream as it is. It may have been deleted, and created again by another process. */
async function look(open: Open): Promise<StreamInfo> {
  const found = await open.manager.streams.info(open.name)
  open.id = idOf(found)
  return found
}

function logOf(open: Open): AcceptedLog {
  const { connection, manager, name, where } = open
  const readAfter = createReader(open)
  const purge = createPurge(open)
  const wakeOthers = createWaker(open)
  return {
    get id() {
      return open.id
    },
    mover: randomUUID(),
    where,
    async append(key, bytes) {
      const stored = await publish(open, key, bytes)
      wakeOthers()
      return stored
    },
    readAfter,
    async read(position) {
      const message = await manager.streams.getMessage(name, { seq: position })
      return message && { position, storedAt: message.time, bytes: Buffer.from(message.data) }
    },
    async extent() {
      const { state } = await look(open)
      // It is 0 if the stream came back from files of before its first entry.
      return { first: Math.max(1, state.first_seq), last: state.last_seq, count: state.messages, bytes: state.bytes }
    },
    forget: purge,
    onAppended(listener) {
      connection.subscribe(wakeSubjectOf(name), { callback: () => listener() })
    },
    [Symbol.asyncDispose]: () => connection.close(),
  }
}

/** Appends, again and again while the cluster chooses a leader or the connection is lost: the key keeps a repeat from being stored. */
async function publish({ connection, clock, name }: Open, key: string, bytes: Buffer) {
  const stream = jetstream(connection)
  const startedAt = performance.now()
  for (;;) {
    try {
      const { seq, duplicate } = await stream.publish(subjectOf(name), bytes, { msgID: key, timeout: APPEND_TRY_MS })
      return { position: seq, isRepeat: duplicate }
    } catch (cause) {
      if (isFull(cause)) throw refusal('The server cannot store any more requests at the moment.', FULL_RETRY_S, cause)
      if (performance.now() - startedAt > APPEND_MAX_MS) throw refusal('The server is temporarily unavailable.', AWAY_RETRY_S, cause)
      await clock.sleep(TRY_AGAIN_MS)
    }
  }
}

const FULL_RETRY_S = 30
const AWAY_RETRY_S = 5

const refusal = (problem: string, seconds: number, cause: unknown) =>
  Object.assign(
    new ApiError('internal_error', `${problem} Retry after ${seconds} seconds.`, {
      status: 503,
      headers: { 'retry-after': String(seconds) },
    }),
    { cause },
  )

/** What is read next of which stream, and from where. Without acknowledgements, NATS gives each message to a reader once. */
type Reader = { consumer: Consumer; id: string; next: number }

/** Reads on from where the last reading ended; after a failure, or when something was lost on the way, with a new reader. */
function createReader(open: Open): AcceptedLog['readAfter'] {
  let reader: Reader | null = null
  return async (position, max) => {
    const { state } = await look(open)
    const waiting = state.last_seq - position
    if (waiting <= 0) return []
    const known = reader?.id === open.id && reader.next === position + 1 ? reader : null
    const current = known ?? (await openReader(open, position + 1))
    // Set again when all of the batch has come.
    reader = null
    const found: StoredEntry[] = []
    let bytes = 0
    const messages = await current.consumer.fetch({ max_messages: Math.min(max.entries, waiting), expires: READ_MAX_MS })
    for await (const { seq, data, time } of messages) {
      // At the start of a new reader, what is missing was deleted; later it was lost on the way, and is read again.
      if (seq !== current.next && (known || found.length > 0)) return found
      found.push({ position: seq, storedAt: time, bytes: Buffer.from(data) })
      current.next = seq + 1
      bytes += data.length
      if (bytes >= max.bytes) return found
    }
    if (found.length > 0) reader = current
    return found
  }
}

async function openReader({ connection, manager, name, id }: Open, from: number): Promise<Reader> {
  const { name: reader } = await manager.consumers.add(name, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
    inactive_threshold: nanos(READER_KEPT_MS),
    mem_storage: true,
    num_replicas: 1,
  })
  return { consumer: await jetstream(connection).consumers.get(name, reader), id, next: from }
}

/** Deletes one range at a time; what is asked for meanwhile is deleted at once afterwards. */
function createPurge(open: Open): AcceptedLog['forget'] {
  let wanted = { id: open.id, upTo: 0 }
  let purging: Promise<void> | null = null
  const purge = async () => {
    try {
      for (let done: typeof wanted | null = null; done !== wanted; ) {
        const next: typeof wanted = wanted
        await look(open)
        if (next.id === open.id) await open.manager.streams.purge(open.name, { seq: next.upTo + 1 })
        done = next
      }
    } finally {
      purging = null
    }
  }
  return (id, upTo) => {
    // A stream that has lost its end gives lower positions than it had before.
    if (!purging || id !== wanted.id || upTo > wanted.upTo) wanted = { id, upTo }
    purging ??= purge()
    return purging
  }
}

/** Appends that are acknowledged together wake the others once. */
function createWaker({ connection, name }: Open): () => void {
  let isWaking = false
  return () => {
    if (isWaking) return
    isWaking = true
    setImmediate(() => {
      isWaking = false
      if (!connection.isClosed()) connection.publish(wakeSubjectOf(name))
    })
  }
}

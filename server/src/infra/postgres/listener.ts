/**
 * Receives notifications of PostgreSQL on a connection of its own: the connections of a pool are shared, and a pooler in front of the
 * database drops them. After a failure it connects again; what was sent meanwhile is lost.
 */
import type pg from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { openHosts } from './hosts.ts'

export type ListenerOptions = {
  /** A direct connection to the database. */
  url: string
  /** The name of the connection, by which others find it. */
  name: string
  channel: string
  clock: Clock
  /** Called with the text of each notification. */
  onMessage(text: string): void
  /** Called when the connection listens. Throws if notifications do not arrive; the listener connects again then. */
  onConnected(): Promise<void>
  /** Called when a connection that worked is lost. */
  onLost(): void
  /** Called each time that the connection fails. */
  onFailure(error: unknown): void
}

export type Listener = AsyncDisposable & {
  /** Whether notifications arrive. */
  isConnected(): boolean
}

const CONNECT_TIMEOUT_MS = 10_000
const RECONNECT_FIRST_MS = 250
const RECONNECT_MAX_MS = 15_000

/** Connects in the background, and keeps the connection until it is disposed of. */
export function openListener(options: ListenerOptions): Listener {
  const { clock, onLost, onFailure } = options
  const stop = new AbortController()
  const hosts = openHosts(options.url)
  let connected = false
  const loop = async () => {
    for (let failures = 0; !stop.signal.aborted; failures++) {
      try {
        const client = new hosts.Client({ application_name: options.name, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
        await listen(client, options, stop.signal, () => {
          connected = true
          failures = 0
        })
      } catch (error) {
        onFailure(error)
      }
      if (connected && !stop.signal.aborted) onLost()
      connected = false
      await clock.sleep(Math.min(RECONNECT_MAX_MS, RECONNECT_FIRST_MS * 2 ** failures), stop.signal)
    }
  }
  const running = loop()
  return {
    isConnected: () => connected,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

/** Listens until the connection is lost, which throws, or until the signal. */
async function listen(
  client: pg.Client,
  { channel, onMessage, onConnected }: ListenerOptions,
  stop: AbortSignal,
  connected: () => void,
): Promise<void> {
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => undefined)
  client.on('error', ended.reject)
  client.on('end', () => ended.reject(new Error('The connection was closed.')))
  client.on('notification', ({ payload = '' }) => onMessage(payload))
  const end = () => ended.resolve()
  stop.addEventListener('abort', end, { once: true })
  try {
    await Promise.race([client.connect(), ended.promise])
    if (stop.aborted) return
    await client.query(`listen ${client.escapeIdentifier(channel)}`)
    await Promise.race([onConnected(), ended.promise])
    if (stop.aborted) return
    connected()
    await ended.promise
  } finally {
    stop.removeEventListener('abort', end)
    await client.end().catch(() => undefined)
  }
}

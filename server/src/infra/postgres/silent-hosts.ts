/**
 * Finds hosts that vanished without closing their connections, as a machine without power does. TCP repeats what it has sent for a quarter of an
 * hour before it gives up, and no statement ends before that by itself. Nothing is done for a statement: now and then it is looked which
 * connections wait and have received nothing since.
 */
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import type { Clock } from '../../lib/clock.ts'
import type { Hosts } from './hosts.ts'

/** After so many looks without a byte from a host, other connections are opened to see whether it answers within `connectMs`. */
export type SilenceLimits = { lookEveryMs: number; looks: number; connectMs: number }

const SILENCE: SilenceLimits = { lookEveryMs: 1000, looks: 5, connectMs: 10_000 }
/** There is a primary to read from instead. */
const SILENCE_OF_REPLICA: SilenceLimits = { lookEveryMs: 500, looks: 3, connectMs: 1000 }

/** An attempt that ends so much later than its limit was delayed by this process. */
const LATE_MS = 50
/** A host has this long to close its side of a connection. */
const LEAVE_MS = 2000

/** The members of the driver that its types leave out. */
type Client = pg.PoolClient & { connection: { stream: Duplex & { bytesRead: number; remoteAddress?: string } }; _getActiveQuery(): unknown }

/** A host of the URL. Its name may lead to several servers, of which one vanishes. */
type Server = { host: number; address: string | undefined }

/** What a connection had received at the last look, for how many looks it has received no more, and for how many of them it has waited. */
type Received = { bytes: number; silentLooks: number; waitingLooks: number }
const received = (client: Client): Received => ({ bytes: bytesOf(client), silentLooks: 0, waitingLooks: 0 })

/**
 * Watches the connections of a pool. Those of a server that does not answer any more are closed, so that their statements fail and the next host
 * is tried. Call the returned function when the pool has ended, to close those that their servers do not.
 */
export function watchSilence(
  pool: pg.Pool,
  hosts: Pick<Hosts, 'hostOf' | 'answers' | 'leave'>,
  clock: Clock,
  { isReplica, silence: limits = isReplica ? SILENCE_OF_REPLICA : SILENCE }: { isReplica?: boolean; silence?: SilenceLimits },
): () => void {
  const open = new Map<Client, Received & { server: Server }>()
  let over = new AbortController()

  async function watch(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(limits.lookEveryMs, signal)
      if (signal.aborted) return
      await Promise.all(silentServers().map((server) => check(server, signal)))
    }
  }

  /** Those with a connection that waits, of which no connection has received a byte. */
  function silentServers(): Server[] {
    for (const [client, seen] of open) {
      const { bytes, silentLooks, waitingLooks } = seen
      if (bytesOf(client) !== bytes) open.set(client, { ...seen, ...received(client) })
      else open.set(client, { ...seen, silentLooks: silentLooks + 1, waitingLooks: client._getActiveQuery() ? waitingLooks + 1 : 0 })
    }
    const waiting = [...open.values()].filter(({ waitingLooks }) => waitingLooks >= limits.looks)
    const servers = new Map(waiting.map(({ server }) => [`${server.host} ${server.address}`, server]))
    return [...servers.values()].filter((server) => clientsOf(server).every(isSilent))
  }

  async function check(server: Server, signal: AbortSignal): Promise<void> {
    const before = new Map(clientsOf(server).map((client) => [client, bytesOf(client)]))
    const answers = await answersInTime(hosts, server, { clock, limits, signal })
    // If this process was busy, the answers have arrived and were not read. Sockets are read before this.
    await setImmediate()
    if (answers || clientsOf(server).some((client) => bytesOf(client) !== before.get(client))) {
      for (const client of clientsOf(server)) open.set(client, { server, ...received(client) })
      return
    }
    // Without connections, nothing is known of the host.
    if (signal.aborted) return
    hosts.leave(server.host)
    for (const { connection } of clientsOf(server)) connection.stream.destroy(lost())
  }

  const clientsOf = ({ host, address }: Server) =>
    [...open].flatMap(([client, { server }]) => (server.host === host && server.address === address ? [client] : []))
  const isSilent = (client: Client) => (open.get(client)?.silentLooks ?? 0) >= limits.looks

  pool.on('connect', (given) => {
    const client = given as Client
    const server = { host: hosts.hostOf(client) ?? 0, address: client.connection.stream.remoteAddress }
    open.set(client, { server, ...received(client) })
    if (open.size > 1) return
    over = new AbortController()
    void watch(over.signal)
  })
  pool.on('remove', (client) => {
    open.delete(client as Client)
    // With a reason, because without one an error is made with its stack.
    if (open.size === 0) over.abort('over')
  })

  return () => {
    over.abort('over')
    if (open.size === 0) return
    over = new AbortController()
    void clock.sleep(LEAVE_MS, over.signal).then(() => {
      for (const { connection } of open.keys()) connection.stream.destroy()
    })
  }
}

type Asking = { clock: Clock; limits: SilenceLimits; signal: AbortSignal }

/**
 * Whether a server answers. One that refuses may be busy, so it is asked again until the time is over. If this process was busy, it may have given
 * up before it read the answer, so it asks once more.
 */
async function answersInTime(
  hosts: Pick<Hosts, 'answers'>,
  { host, address }: Server,
  { clock, limits: { connectMs, lookEveryMs }, signal }: Asking,
): Promise<boolean> {
  let isOver = false
  void clock.sleep(connectMs, signal).then(() => {
    isOver = true
  })
  for (let isLast = false; ; isLast = isOver) {
    const lateAtMs = clock.now().getTime() + connectMs + LATE_MS
    if (await hosts.answers(host, connectMs, address)) return true
    const wasBusy = clock.now().getTime() > lateAtMs
    if (signal.aborted || (isOver && (isLast || !wasBusy))) return false
    if (!isOver) await clock.sleep(lookEveryMs, signal)
  }
}

const bytesOf = ({ connection }: Client): number => connection.stream.bytesRead

const lost = () => Object.assign(new Error('The database does not answer.'), { code: 'ETIMEDOUT' })

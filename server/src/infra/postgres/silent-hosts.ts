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

/** The members of the driver that its types leave out. */
type Client = pg.PoolClient & { connection: { stream: Duplex & { bytesRead: number } }; _getActiveQuery(): unknown }

/** What a connection had received at the last look, for how many looks it has received no more, and for how many of them it has waited. */
type Received = { bytes: number; silentLooks: number; waitingLooks: number }
const received = (client: Client): Received => ({ bytes: bytesOf(client), silentLooks: 0, waitingLooks: 0 })

/** Watches the connections of a pool. Those of a host that does not answer any more are closed, so that their statements fail and the next host is tried. */
export function watchSilence(
  pool: pg.Pool,
  hosts: Pick<Hosts, 'hostOf' | 'answers' | 'leave'>,
  clock: Clock,
  { isReplica, silence: limits = isReplica ? SILENCE_OF_REPLICA : SILENCE }: { isReplica?: boolean; silence?: SilenceLimits },
): void {
  const open = new Map<Client, Received>()
  let over = new AbortController()

  async function watch(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(limits.lookEveryMs, signal)
      if (signal.aborted) return
      await Promise.all(silentHosts().map((host) => check(host, signal)))
    }
  }

  /** Those with a connection that waits, of which no connection has received a byte. */
  function silentHosts(): number[] {
    for (const [client, { bytes, silentLooks, waitingLooks }] of open) {
      if (bytesOf(client) !== bytes) open.set(client, received(client))
      else open.set(client, { bytes, silentLooks: silentLooks + 1, waitingLooks: client._getActiveQuery() ? waitingLooks + 1 : 0 })
    }
    const waiting = [...open].filter(([, { waitingLooks }]) => waitingLooks >= limits.looks)
    return [...new Set(waiting.map(([client]) => hosts.hostOf(client)))].flatMap((host) =>
      host !== undefined && clientsOf(host).every(isSilent) ? [host] : [],
    )
  }

  async function check(host: number, signal: AbortSignal): Promise<void> {
    const before = new Map(clientsOf(host).map((client) => [client, bytesOf(client)]))
    const answers = await answersInTime(host, signal)
    // If this process was busy, the answers have arrived and were not read. Sockets are read before this.
    await setImmediate()
    if (answers || clientsOf(host).some((client) => bytesOf(client) !== before.get(client))) {
      for (const client of clientsOf(host)) open.set(client, received(client))
      return
    }
    // Without connections, nothing is known of the host.
    if (signal.aborted) return
    hosts.leave(host)
    for (const { connection } of clientsOf(host)) connection.stream.destroy(lost())
  }

  /** One that refuses may be busy, so it is asked again until the time is over. */
  async function answersInTime(host: number, signal: AbortSignal): Promise<boolean> {
    let isOver = false
    void clock.sleep(limits.connectMs, signal).then(() => {
      isOver = true
    })
    for (;;) {
      if (await hosts.answers(host, limits.connectMs)) return true
      await clock.sleep(limits.lookEveryMs, signal)
      if (isOver) return false
    }
  }

  const clientsOf = (host: number) => [...open.keys()].filter((client) => hosts.hostOf(client) === host)
  const isSilent = (client: Client) => (open.get(client)?.silentLooks ?? 0) >= limits.looks

  pool.on('connect', (client) => {
    open.set(client as Client, received(client as Client))
    if (open.size > 1) return
    over = new AbortController()
    void watch(over.signal)
  })
  pool.on('remove', (client) => {
    open.delete(client as Client)
    // With a reason, because without one an error is made with its stack.
    if (open.size === 0) over.abort('over')
  })
}

const bytesOf = ({ connection }: Client): number => connection.stream.bytesRead

const lost = () => Object.assign(new Error('The database does not answer.'), { code: 'ETIMEDOUT' })

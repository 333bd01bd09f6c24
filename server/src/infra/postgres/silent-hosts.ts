/**
 * Finds hosts that vanished without closing their connections, as a machine without power does. TCP repeats what it has sent for a quarter of an
 * hour before it gives up, and no statement ends before that by itself. Nothing is done for a statement: now and then it is looked which
 * connections wait and have received nothing since.
 */
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import type { Clock } from '../../lib/clock.ts'
import type { Hosts } from './hosts.ts'

/** After so many looks without a byte, another connection is opened to see whether the host answers within `connectMs`. */
export type SilenceLimits = { lookEveryMs: number; looks: number; connectMs: number }

export const SILENCE: SilenceLimits = { lookEveryMs: 1000, looks: 5, connectMs: 10_000 }
/** There is a primary to read from instead. */
export const SILENCE_OF_REPLICA: SilenceLimits = { lookEveryMs: 500, looks: 3, connectMs: 1000 }

/** The members of the driver that its types leave out. */
type Client = pg.PoolClient & { connection: { stream: Duplex & { bytesRead: number } }; _getActiveQuery(): unknown }

/** What a connection had received at the last look, and for how many looks it has waited for more. */
type Received = { bytes: number; silentLooks: number }

/** Watches the connections of a pool. Those of a host that does not answer any more are closed, so that their statements fail and the next host is tried. */
export function watchSilence(pool: pg.Pool, hosts: Pick<Hosts, 'hostOf' | 'answers' | 'leave'>, clock: Clock, limits: SilenceLimits): void {
  const open = new Map<Client, Received>()
  let over = new AbortController()

  async function watch(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(limits.lookEveryMs, signal)
      if (signal.aborted) return
      await Promise.all(silentHosts().map(check))
    }
  }

  function silentHosts(): (number | undefined)[] {
    for (const [client, { bytes, silentLooks }] of open) {
      const now = bytesOf(client)
      const isWaiting = client._getActiveQuery() && now === bytes
      open.set(client, { bytes: now, silentLooks: isWaiting ? silentLooks + 1 : 0 })
    }
    return [...new Set([...open].flatMap(([client, { silentLooks }]) => (silentLooks >= limits.looks ? [hosts.hostOf(client)] : [])))]
  }

  async function check(host: number | undefined): Promise<void> {
    if (host === undefined) return
    const clients = [...open.keys()].filter((client) => hosts.hostOf(client) === host)
    const before = clients.map(bytesOf)
    const answers = await hosts.answers(host, limits.connectMs)
    // If this process was busy, the answers have arrived and were not read.
    if (!answers) await clock.sleep(1)
    if (answers || clients.some((client, index) => bytesOf(client) !== before[index])) {
      for (const client of clients) if (open.has(client)) open.set(client, { bytes: bytesOf(client), silentLooks: 0 })
      return
    }
    hosts.leave(host)
    for (const { connection } of clients) connection.stream.destroy(lost())
  }

  pool.on('connect', (client) => {
    open.set(client as Client, { bytes: 0, silentLooks: 0 })
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

/** Limits on connections: how many there are, and how long a client may take (D-HTTP-10). */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../../lib/networks.ts'
import type { Config } from '../runtime/config.ts'
import type { Ctx } from '../runtime/ctx.ts'

const CHECK_MAX_MS = 5000

/** The options of the server that limit how long a client may take. `readBody` limits the time of bodies, because imports have none. */
export function timeLimits({ HEAD_TIMEOUT_S, CONNECTION_SILENCE_S }: Config) {
  const headersTimeout = HEAD_TIMEOUT_S * 1000
  return {
    connectionTimeout: CONNECTION_SILENCE_S * 1000,
    requestTimeout: 0,
    http: { headersTimeout, connectionsCheckingInterval: Math.max(1, Math.min(CHECK_MAX_MS, headersTimeout / 2)) },
  }
}

const REFUSAL = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n'

/** Refuses connections over CONNECTIONS_MAX, and over CONNECTIONS_PER_ADDRESS_MAX of one address. */
export function limitConnections(server: Server, { config, metrics }: Pick<Ctx, 'config' | 'metrics'>): void {
  const max = config.CONNECTIONS_MAX || Number.POSITIVE_INFINITY
  const isProxied = config.TRUST_PROXY.length > 0
  const maxPerAddress = (!isProxied && config.CONNECTIONS_PER_ADDRESS_MAX) || Number.POSITIVE_INFINITY
  const byNetwork = new Map<string, number>()
  let total = 0
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '')
    const same = byNetwork.get(network) ?? 0
    if (total >= max || same >= maxPerAddress) {
      metrics.connectionRefused(total >= max ? 'process' : 'address')
      // Closed at once, so that nothing of a request is read.
      socket.write(REFUSAL)
      socket.destroy()
      return
    }
    metrics.connections(++total)
    byNetwork.set(network, same + 1)
    socket.once('close', () => {
      metrics.connections(--total)
      const left = (byNetwork.get(network) ?? 1) - 1
      if (left === 0) byNetwork.delete(network)
      else byNetwork.set(network, left)
    })
  })
}

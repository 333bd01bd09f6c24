/** Limits on connections: how many there are, and how long a client may take (D-HTTP-10). */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
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

/** What an orchestrator asks for. It must not take a process with many connections for a dead one. */
const PROBES = ['/livez', '/readyz', '/healthz', '/metrics']
/** So many connections over CONNECTIONS_MAX are served, for one probe each. */
const RESERVED = 16
/** The time for the head of the request on such a connection. A client that sends it a byte at a time would keep the place from others. */
const RESERVED_HEAD_MS = 5000

/**
 * Refuses connections over CONNECTIONS_MAX, except for probes, and over CONNECTIONS_PER_ADDRESS_MAX of one address. Behind a proxy all
 * connections are those of the proxy, so the number of requests being served for each address is limited instead.
 */
export function limitConnections(app: FastifyInstance, { clock, config, metrics }: Pick<Ctx, 'clock' | 'config' | 'metrics'>): void {
  const max = config.CONNECTIONS_MAX || Number.POSITIVE_INFINITY
  const maxPerAddress = config.CONNECTIONS_PER_ADDRESS_MAX || Number.POSITIVE_INFINITY
  const isProxied = config.TRUST_PROXY.length > 0
  const byNetwork = countByNetwork()
  /** By their sockets. Aborting ends the wait for the head. */
  const reserved = new Map<Socket, AbortController>()
  let total = 0
  app.server.on('connection', (socket: Socket) => {
    const isFull = total >= max
    const isProbe = isFull && reserved.size < RESERVED
    const leave = isProxied ? () => undefined : byNetwork.enter(socket.remoteAddress ?? '', maxPerAddress)
    if (!leave || (isFull && !isProbe)) {
      leave?.()
      metrics.connectionRefused(isFull ? 'process' : 'address')
      // Closed at once, so that nothing of a request is read.
      socket.write(REFUSAL)
      socket.destroy()
      return
    }
    if (isProbe) reserve(socket)
    metrics.connections(++total)
    socket.once('close', () => {
      metrics.connections(--total)
      reserved.get(socket)?.abort()
      reserved.delete(socket)
      leave()
    })
  })
  // With a callback: a promise would cost every request a turn.
  app.addHook('onRequest', (request, reply, done) => {
    const waiting = reserved.size > 0 && reserved.get(request.raw.socket)
    if (waiting) {
      waiting.abort()
      reply.header('connection', 'close')
      if (!PROBES.includes(request.raw.url?.split('?')[0] ?? '')) return void refuse(reply, 'process')
    }
    if (isProxied && maxPerAddress !== Number.POSITIVE_INFINITY) {
      const leave = byNetwork.enter(request.ip, maxPerAddress)
      if (!leave) return void refuse(reply, 'address')
      reply.raw.once('close', leave)
    }
    done()
  })

  function reserve(socket: Socket) {
    const waiting = new AbortController()
    reserved.set(socket, waiting)
    void clock.sleep(RESERVED_HEAD_MS, waiting.signal).then(() => {
      if (!waiting.signal.aborted) socket.destroy()
    })
  }

  function refuse(reply: FastifyReply, limit: 'process' | 'address') {
    metrics.connectionRefused(limit)
    return reply.code(503).headers({ connection: 'close', 'retry-after': '1' }).send()
  }
}

/** Counts what each network has open. */
function countByNetwork() {
  const counts = new Map<string, number>()
  return {
    /** Returns the function that ends it, or undefined when the network has too many. */
    enter(address: string, max: number): (() => void) | undefined {
      const network = networkOf(address)
      const same = counts.get(network) ?? 0
      if (same >= max) return undefined
      counts.set(network, same + 1)
      return () => {
        const left = (counts.get(network) ?? 1) - 1
        if (left === 0) counts.delete(network)
        else counts.set(network, left)
      }
    },
  }
}

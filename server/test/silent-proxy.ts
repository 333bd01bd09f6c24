/** Stands between a client and a server over TCP, and can vanish as a machine without power does: it closes nothing and answers nothing. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type SilentProxy = AsyncDisposable & {
  /** Leads to the server of `url` through the proxy. */
  url: string
  host: string
  /** With `closesNew`, new connections are closed at once, as by a load balancer. */
  vanish(options?: { closesNew: boolean }): void
  /** Refuses new connections, while those that exist go on. */
  refuseNew(): void
}

/** Listens at `at`, a free port of 127.0.0.1 unless it says otherwise. */
export async function openSilentProxy(url: string, at: { address?: string; port?: number } = {}): Promise<SilentProxy> {
  const { address = '127.0.0.1', port: listenPort = 0 } = at
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let hasVanished = false
  let closesNew = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  }
  const server = createServer((client) => {
    keep(client)
    if (closesNew) client.destroy()
    if (hasVanished) return
    const target = connect(Number(port), hostname)
    keep(target)
    client.pipe(target)
    target.pipe(client)
    client.on('close', () => target.destroy())
  }).listen(listenPort, address)
  await once(server, 'listening')
  const host = `${address}:${(server.address() as AddressInfo).port}`
  return {
    url: Object.assign(new URL(url), { search: '', host }).href,
    host,
    vanish(options) {
      hasVanished = true
      closesNew = options?.closesNew ?? false
      for (const socket of sockets) socket.unpipe().pause()
    },
    refuseNew: () => void server.close(),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      // It has an error if it was closed before.
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

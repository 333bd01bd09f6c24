/** A TCP listener on loopback that counts connections and closes each at once, for addresses that must not be connected to. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

export type Listener = AsyncDisposable & {
  port: number
  /** The number of connections so far. */
  connections(): Promise<number>
}

/** Listens on an address, on a free port unless one is given. */
export async function openListener(address: string, port = 0): Promise<Listener> {
  const callers: (number | undefined)[] = []
  let probes = 0
  const server = createServer((socket) => {
    callers.push(socket.remotePort)
    socket
      .on('error', () => undefined)
      .resume()
      .end()
  })
  server.listen(port, address)
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  return {
    port: bound,
    // Connections are accepted in order: when the probe was accepted, all earlier ones were counted.
    async connections() {
      const probe = connect(bound, address)
      probes += 1
      await once(probe, 'connect')
      const own = probe.localPort
      while (!callers.includes(own)) await once(server, 'connection')
      probe.destroy()
      return callers.length - probes
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

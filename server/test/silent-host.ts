/** A TCP listener on loopback that accepts connections and says nothing, until it is told to cut them. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export type SilentHost = AsyncDisposable & {
  host: string
  port: number
  /** Resolves when this many connections were made. */
  reached(count: number): Promise<void>
  /** Cuts all connections, and every further one at once. */
  release(): void
}

export async function openSilentHost(): Promise<SilentHost> {
  const sockets: Socket[] = []
  let isReleased = false
  const server = createServer((socket) => {
    socket.on('error', () => undefined).resume()
    sockets.push(socket)
    if (isReleased) socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const release = () => {
    isReleased = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    async reached(count) {
      while (sockets.length < count) await once(server, 'connection')
    },
    release,
    [Symbol.asyncDispose]: async () => {
      release()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

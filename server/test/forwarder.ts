/** Stands between a client and a server on loopback, and can be cut: then connections end, and new ones are refused. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export type Forwarder = AsyncDisposable & {
  port: number
  cut(): Promise<void>
  mend(): Promise<void>
}

/** Opens one in front of a port. */
export async function openForwarder(target: { host: string; port: number }): Promise<Forwarder> {
  const sockets = new Set<Socket>()
  let server: Server
  let port = 0
  const mend = async () => {
    server = createServer((client) => {
      const there = connect(target.port, target.host)
      for (const socket of [client, there]) {
        sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => {
          sockets.delete(socket)
          client.destroy()
          there.destroy()
        })
      }
      client.pipe(there).pipe(client)
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const cut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  await mend()
  return { port, cut, mend, [Symbol.asyncDispose]: cut }
}

/** A mail host on loopback that accepts everything, and keeps what came together, with the address that it came from. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export type ChunkHost = AsyncDisposable & { port: number; chunks: string[]; clients: (string | undefined)[] }

/** The reply to each line; the content of a mail must be one line. */
const replyTo = (line: string): string =>
  line.startsWith('EHLO')
    ? '250-chunks.test\r\n250 PIPELINING\r\n'
    : line === 'DATA'
      ? '354 go\r\n'
      : line === '' || line === 'content'
        ? ''
        : '250 ok\r\n'

export async function openChunkHost(): Promise<ChunkHost> {
  const chunks: string[] = []
  const clients: (string | undefined)[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    clients.push(socket.remoteAddress)
    socket.on('error', () => undefined).write('220 chunks.test\r\n')
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      chunks.push(chunk)
      socket.write(chunk.split('\r\n').map(replyTo).join(''))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    chunks,
    clients,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

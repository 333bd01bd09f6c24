/** A mail host on loopback that keeps a client waiting with one byte at a time, or reads nothing. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** Where it begins to drip. `READING`: it takes no byte of the content. */
export type DrippingStage = 'GREETING' | 'EHLO' | 'STARTTLS' | 'MAIL' | 'BODY' | 'READING' | 'IDLE'

export type DrippingHost = AsyncDisposable & { port: number }

const EVERY_MS = 20
const REPLIES: [start: string, reply: string][] = [
  ['EHLO', '250-drip.test\r\n250 STARTTLS'],
  ['STARTTLS', '220 go'],
  ['MAIL', '250 ok'],
  ['RCPT', '250 ok'],
  ['DATA', '354 go'],
  ['.', '250 ok'],
]

/** Starts a host that does well until this stage. What it drips is part of a reply that never ends, or of a handshake. */
export async function openDrippingHost(at: DrippingStage): Promise<DrippingHost> {
  const sockets = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  const drip = (socket: Socket) => {
    const timer = setInterval(() => socket.write('2'), EVERY_MS)
    timers.add(timer)
    socket.on('close', () => clearInterval(timer))
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (at === 'GREETING') return drip(socket)
    socket.write('220 drip.test\r\n')
    socket.setEncoding('latin1').on('data', (text: string) => {
      for (const line of text.split('\r\n')) {
        const [start, reply = ''] = REPLIES.find(([start]) => line.startsWith(start)) ?? []
        const isHere = start === at || (at === 'BODY' && start === '.')
        const offersTls = at === 'STARTTLS'
        if (isHere && at !== 'STARTTLS') return drip(socket)
        if (start) socket.write(`${start === 'EHLO' && !offersTls ? '250 drip.test' : reply}\r\n`)
        if (start === 'DATA' && at === 'READING') socket.pause()
        if (isHere || (start === '.' && at === 'IDLE')) return drip(socket)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer)
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * The receiving side of `bench mail`, in a process of its own: mail hosts on addresses of 127/8 that reply late, hosts that say nothing, the
 * name server that leads to them, and a receiver of webhooks. Its parent asks for what it has received.
 */
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { openFakeDns } from '../server/test/internet/fake-dns.ts'
import type { Zone } from '../server/test/internet/zone.ts'

/** What the parent asks: to begin counting anew with another latency, or for the counts. `certificate` is that of the receiver of webhooks. */
export type SinkRequest = { is: 'reset'; latencyMs: number } | { is: 'counts' } | { is: 'certificate'; cert: string; key: string }

/** `seconds` from the first email to the last one. `sample` is the newest email. */
export type SinkCounts = { emails: number; duplicates: number; seconds: number; connections: number; events: number; sample: string }

export type SinkReady = { smtpPort: number; dnsServer: string; webhookUrl: string }

const [SITES = 0, HANGING_SITES = 0] = process.argv.slice(2).map(Number)
const HANGING_NETWORK = '127.9.'
const GREETING = '220 sink ESMTP\r\n'
const EHLO = '250-sink\r\n250-PIPELINING\r\n250-SIZE 52428800\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES\r\n'
const CONTENT_END = Buffer.from('\r\n.\r\n')
const LINE_END = Buffer.from('\r\n')

let latencyMs = 0
let counts = newCounts()
let recipients = new Set<string>()
let [firstAt, lastAt] = [0, 0]

function newCounts(): SinkCounts {
  return { emails: 0, duplicates: 0, seconds: 0, connections: 0, events: 0, sample: '' }
}

/** Speaks SMTP with one client. The replies to what came together leave together, `latencyMs` later, as over a long line. */
function speak(socket: Socket): void {
  counts.connections++
  let rest: Buffer = Buffer.alloc(0)
  let isInContent = false
  let recipient = ''
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  const reply = (text: string) => {
    if (text === '') return
    if (latencyMs === 0) socket.write(text)
    else setTimeout(() => socket.write(text), latencyMs)
  }
  reply(GREETING)
  socket.on('data', (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    let replies = ''
    for (;;) {
      const end = rest.indexOf(isInContent ? CONTENT_END : LINE_END)
      if (end < 0) break
      if (isInContent) {
        accept(recipient, rest.subarray(0, end))
        rest = rest.subarray(end + CONTENT_END.length)
        isInContent = false
        replies += '250 2.0.0 Ok: queued\r\n'
        continue
      }
      const line = rest.toString('latin1', 0, end)
      rest = rest.subarray(end + LINE_END.length)
      if (line.startsWith('RCPT')) recipient = line
      isInContent = line === 'DATA'
      if (line === 'QUIT') socket.end('221 Bye\r\n')
      else replies += line.startsWith('EHLO') ? EHLO : isInContent ? '354 go\r\n' : '250 Ok\r\n'
    }
    reply(replies)
  })
}

function accept(recipient: string, content: Buffer): void {
  lastAt = performance.now()
  if (counts.emails++ === 0) firstAt = lastAt
  if (recipients.has(recipient)) counts.duplicates++
  recipients.add(recipient)
  counts.sample = counts.sample === '' ? content.toString('latin1') : counts.sample
}

/** `site-3.test` has the host 127.1.0.4, and `hanging-0.test` the host 127.9.0.1. */
function zone(): Zone {
  const zone: Zone = new Map()
  const add = (name: string, address: string) => {
    zone.set(name, { mx: [[10, `mx.${name}`]], ttlS: 3600 })
    zone.set(`mx.${name}`, { a: [address], ttlS: 3600 })
  }
  for (let at = 0; at < SITES; at++) add(`site-${at}.test`, `127.1.0.${at + 1}`)
  for (let at = 0; at < HANGING_SITES; at++) add(`hanging-${at}.test`, `${HANGING_NETWORK}0.${at + 1}`)
  return zone
}

const smtp = createServer((socket) => {
  if (socket.localAddress?.startsWith(HANGING_NETWORK)) socket.on('error', () => undefined)
  else speak(socket)
})
smtp.listen({ port: 0, host: '0.0.0.0', backlog: 4096 })
const webhooks = createHttpsServer((request, response) => {
  counts.events++
  request.resume().on('end', () => response.writeHead(204).end())
})
webhooks.listen(0, '127.0.0.1')
const dns = await openFakeDns(zone())
await Promise.all([smtp, webhooks].map((server) => server.listening || once(server, 'listening')))
process.on('message', (request: SinkRequest) => {
  if (request.is === 'certificate') webhooks.setSecureContext({ cert: request.cert, key: request.key })
  if (request.is === 'reset') {
    latencyMs = request.latencyMs
    counts = newCounts()
    recipients = new Set()
  }
  process.send?.({ ...counts, seconds: (lastAt - firstAt) / 1000 } satisfies SinkCounts)
})
process.on('disconnect', () => process.exit())
process.send?.({
  smtpPort: (smtp.address() as AddressInfo).port,
  dnsServer: dns.server,
  webhookUrl: `https://127.0.0.1:${(webhooks.address() as AddressInfo).port}/`,
} satisfies SinkReady)

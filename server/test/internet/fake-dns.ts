/** A name server on loopback that answers from a zone, over UDP and TCP, with the faults that the test sets. */
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import {
  type Answer,
  AUTHENTIC_DATA,
  decode,
  encode,
  type Packet,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from 'dns-packet'
import { type DnsFault, type Zone, type ZoneRecords, zoneName } from './zone.ts'

export type DnsQuery = { name: string; type: string; transport: 'udp' | 'tcp'; port: number; id: number }

export type FakeDns = AsyncDisposable & {
  port: number
  /** The server as the setting `DNS_SERVERS` names it. */
  server: string
  /** All queries so far. */
  queries: DnsQuery[]
  /** The most queries that waited for an answer at the same time, without those that get none. */
  mostWaiting(): number
  /** Adds records to a name, or replaces those of the same kinds. */
  set(name: string, records: ZoneRecords): void
  /** Removes a name. */
  remove(name: string): void
  /** Sets what goes wrong for a name, for one type of record or all. Without a fault, nothing does again. */
  fault(name: string, fault?: DnsFault, type?: string): void
}

const TTL_S = 300
const NEGATIVE_TTL_S = 60
const CHAIN_MAX = 20
/** What name servers send over UDP at most, so that no network divides it. */
const UDP_BYTES_MAX = 1232
const RCODES = { noerror: 0, servfail: 2, nxdomain: 3, refused: 5 } as const

type Reply = { rcode: keyof typeof RCODES; answers: Answer[]; isSecure: boolean; isReferral?: true; isTruncated?: true }

/** Starts a name server. Names that the zone does not have, and that no longer name ends with, do not exist. */
export async function openFakeDns(zone: Zone = new Map()): Promise<FakeDns> {
  const faults = new Map<string, DnsFault>()
  const queries: DnsQuery[] = []
  const sockets = new Set<Socket>()
  let waiting = 0
  let mostWaiting = 0

  const respond = (message: Buffer, transport: DnsQuery['transport'], port: number, send: (reply: Buffer) => void) => {
    const query = decode(message)
    const question = query.questions?.[0]
    if (!question) return
    const name = zoneName(question.name)
    queries.push({ name, type: question.type, transport, port, id: query.id ?? 0 })
    const fault = faults.get(`${name} ${question.type}`) ?? faults.get(name)
    if (fault === 'timeout') return
    mostWaiting = Math.max(mostWaiting, ++waiting)
    const finish = () => {
      waiting--
      if (typeof fault === 'object' && 'raw' in fault) for (const bytes of fault.raw(message)) send(bytes)
      else {
        const reply = replyTo(zone, name, question.type, fault, transport)
        const whole = encodeReply(query, reply)
        send(transport === 'udp' && whole.length > UDP_BYTES_MAX ? encodeReply(query, { ...reply, answers: [], isTruncated: true }) : whole)
      }
    }
    if (typeof fault === 'object' && 'delayMs' in fault) setTimeout(finish, fault.delayMs)
    else finish()
  }

  const { tcp, udp, port } = await listenOnBoth()
  udp.on('message', (message: Buffer, { port, address }: RemoteInfo) =>
    respond(message, 'udp', port, (reply) => udp.send(reply, port, address, () => undefined)),
  )
  tcp.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    readFramed(socket, (message) => respond(message, 'tcp', socket.remotePort ?? 0, (reply) => socket.write(framed(reply))))
  })
  return {
    port,
    server: `127.0.0.1:${port}`,
    queries,
    mostWaiting: () => mostWaiting,
    set: (name, records) => void zone.set(zoneName(name), { ...zone.get(zoneName(name)), ...records }),
    remove: (name) => void zone.delete(zoneName(name)),
    fault(name, fault, type) {
      const key = type ? `${zoneName(name)} ${type}` : zoneName(name)
      if (fault) faults.set(key, fault)
      else faults.delete(key)
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await Promise.all([new Promise<void>((resolve) => udp.close(resolve)), new Promise((resolve) => tcp.close(resolve))])
    },
  }
}

/** A port that is free for UDP is usually free for TCP too; otherwise another one is tried. */
async function listenOnBoth() {
  for (;;) {
    const udp = createSocket('udp4').bind(0, '127.0.0.1')
    await once(udp, 'listening')
    const tcp = createServer()
    // `once` rejects when there is an error instead.
    const outcome = once(tcp, 'listening').then(
      () => true,
      () => false,
    )
    tcp.listen(udp.address().port, '127.0.0.1')
    if (await outcome) return { udp, tcp, port: (tcp.address() as AddressInfo).port }
    udp.close()
  }
}

/** Calls `receive` for each message of a connection, which have two bytes of length in front (RFC 1035 §4.2.2). */
function readFramed(socket: Socket, receive: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0)
      receive(rest.subarray(2, end))
      rest = rest.subarray(end)
    }
  })
}

/** A message as it is sent over TCP. */
const framed = (message: Buffer): Buffer => Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message])

/** What a resolver with this zone answers: it follows aliases, and repeats them. */
function replyTo(zone: Zone, name: string, type: string, fault: DnsFault | undefined, transport: DnsQuery['transport']): Reply {
  const isSecure = zone.get(name)?.isSecure === true
  const none = { answers: [], isSecure }
  if (fault === 'servfail' || fault === 'refused' || fault === 'nxdomain') return { rcode: fault, ...none }
  if (fault === 'nodata') return { rcode: 'noerror', ...none }
  if (fault === 'lame') return { rcode: 'noerror', ...none, isReferral: true }
  if (fault === 'truncated' && transport === 'udp') return { rcode: 'noerror', ...none, isTruncated: true }
  const answers: Answer[] = []
  let [at, secure] = [name, true]
  for (let links = 0; links < CHAIN_MAX; links++) {
    const records = zone.get(at)
    if (!records) return { rcode: existsBelow(zone, at) ? 'noerror' : 'nxdomain', answers, isSecure: secure && isSecure }
    secure &&= records.isSecure === true
    if (records.cname === undefined || type === 'CNAME') {
      return { rcode: 'noerror', answers: [...answers, ...recordsOf(at, records, type)], isSecure: secure }
    }
    answers.push({ name: at, type: 'CNAME', ttl: records.ttlS ?? TTL_S, data: records.cname })
    at = zoneName(records.cname)
  }
  return { rcode: 'servfail', ...none }
}

const existsBelow = (zone: Zone, name: string) => [...zone.keys()].some((other) => other.endsWith(`.${name}`))

function recordsOf(name: string, records: ZoneRecords, type: string): Answer[] {
  const ttl = records.ttlS ?? TTL_S
  switch (type) {
    case 'MX':
      return (records.mx ?? []).map(([preference, exchange]) => ({ name, type, ttl, data: { preference, exchange } }))
    case 'A':
      return (records.a ?? []).map((data) => ({ name, type, ttl, data }))
    case 'AAAA':
      return (records.aaaa ?? []).map((data) => ({ name, type, ttl, data }))
    case 'TXT':
      return (records.txt ?? []).map((data) => ({ name, type, ttl, data: [data].flat() }))
    case 'TLSA':
      return (records.tlsa ?? []).map((data) => ({ name, type, ttl, data }))
    case 'PTR':
      return (records.ptr ?? []).map((data) => ({ name, type, ttl, data }))
    case 'CNAME':
      return records.cname === undefined ? [] : [{ name, type, ttl, data: records.cname }]
    default:
      return []
  }
}

/** Negative answers say by a SOA record how long they hold (RFC 2308). */
function encodeReply(query: Packet, { rcode, answers, isSecure, isReferral, isTruncated }: Reply): Buffer {
  const asksForAd = ((query.flags ?? 0) & AUTHENTIC_DATA) !== 0
  const flags =
    RCODES[rcode] |
    RECURSION_DESIRED |
    (isReferral ? 0 : RECURSION_AVAILABLE) |
    (isSecure && asksForAd ? AUTHENTIC_DATA : 0) |
    (isTruncated ? TRUNCATED_RESPONSE : 0)
  const soa: Answer = {
    name: query.questions?.[0]?.name.split('.').at(-1) ?? '.',
    type: 'SOA',
    ttl: NEGATIVE_TTL_S,
    data: { mname: 'ns.test', rname: 'root.test', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: NEGATIVE_TTL_S },
  }
  const referral: Answer = { name: 'test', type: 'NS', ttl: TTL_S, data: 'ns.elsewhere.test' }
  const isNegative = (rcode === 'noerror' || rcode === 'nxdomain') && !answers.some(({ type }) => type !== 'CNAME')
  return encode({
    type: 'response',
    id: query.id ?? 0,
    flags,
    questions: query.questions ?? [],
    answers,
    authorities: isReferral ? [referral] : isNegative ? [soa] : [],
  })
}

/**
 * A farm of MX hosts in this process. One listener on 0.0.0.0 receives the connections to every address of 127/8; the address that was
 * connected to says which host is meant.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Certificates } from './certificates.ts'
import { type MxBehaviour, type MxHost, type MxMail, newMxHost } from './mx-host.ts'
import { speakSmtp } from './mx-session.ts'

export type FakeMx = AsyncDisposable & {
  /** The port of all hosts, instead of 25. */
  port: number
  hosts: ReadonlyMap<string, MxHost>
  /** Adds a host on an address of its own. What the behaviour leaves out is that of a healthy host. */
  add(name: string, behaviour?: MxBehaviour): MxHost
  /** The mails of all hosts, in the order in which they were accepted. */
  mails(): MxMail[]
  /** Resolves when so many mails were accepted by all hosts together. */
  accepted(count: number): Promise<void>
  /** Breaks all open connections. */
  breakConnections(): void
}

const ADDRESSES_PER_OCTET = 250
const POLL_MS = 2
const BACKLOG = 4096

/** Starts the farm, without hosts. A connection to an address that no host has is closed at once. */
export async function openFakeMx(certificates: Certificates): Promise<FakeMx> {
  const hosts = new Map<string, MxHost>()
  const byAddress = new Map<string, MxHost>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    const host = byAddress.get(socket.localAddress ?? '')
    if (host) speakSmtp(socket, host, contextFor(certificates, host))
    else socket.destroy()
  })
  server.listen({ port: 0, host: '0.0.0.0', backlog: BACKLOG })
  await once(server, 'listening')
  const order: MxMail[] = []
  const acceptedByAll = () => hosts.values().reduce((sum, { counts }) => sum + counts.accepted, 0)
  return {
    port: (server.address() as AddressInfo).port,
    hosts,
    add(name, behaviour = {}) {
      const host = { ...newMxHost(name, addressAt(hosts.size), behaviour), mails: sharing(order) }
      hosts.set(name, host)
      byAddress.set(host.ip, host)
      return host
    },
    mails: () => [...order],
    async accepted(count) {
      while (acceptedByAll() < count) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    },
    breakConnections: () => {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The address of the host with this number: 127.1.0.1, 127.1.0.2 and so on. */
function addressAt(number: number): string {
  const [low, rest] = [number % ADDRESSES_PER_OCTET, Math.floor(number / ADDRESSES_PER_OCTET)]
  return `127.${1 + Math.floor(rest / ADDRESSES_PER_OCTET)}.${rest % ADDRESSES_PER_OCTET}.${1 + low}`
}

/** A list of mails whose entries are appended to another list too. */
function sharing(all: MxMail[]): MxMail[] {
  const own: MxMail[] = []
  own.push = (...mails) => {
    all.push(...mails)
    return Array.prototype.push.apply(own, mails)
  }
  return own
}

const contextFor = (certificates: Certificates, host: MxHost) => () => {
  const { tls = 'valid' } = host.behaviour
  return certificates.contextOf(host.name, tls === 'none' ? 'valid' : tls)
}

/** Pools of connections to SMTP relays: one pool for each combination of settings. Idle connections are closed. */
import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import type { SecureContext } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { type EgressPolicy, type HostLookup, isAllowedAddress } from '../../lib/egress.ts'
import { isEmail } from '../../lib/email.ts'
import type { Envelope } from '../../lib/smtp/session.ts'
import { isDomainName } from '../../lib/urls.ts'
import { resolveHost } from './dns/system.ts'
import { blockedError, guardedLookup } from './safe-fetch.ts'
import { type ConnectionOptions, openConnection } from './smtp/connection.ts'
import { type FailedStage, type Failure, NO_TLS, type Peer } from './smtp/failures.ts'
import { createPool, type Pool, type PoolResult } from './smtp/pool.ts'
import { connectSocket } from './smtp/socket.ts'
import { replyOf, type SmtpReply, sentenceOf } from './smtp/words.ts'
import { trustContext } from './trust.ts'

/** The address of a relay and how to connect to it. */
export type SmtpRelay = {
  host: string
  port: number
  /** `implicit`: TLS from the first byte. `starttls`: fails unless offered. `opportunistic`: used if offered. */
  tls: 'implicit' | 'starttls' | 'opportunistic' | 'none'
  username?: string
  password?: string
  connections: number
}

/** A composed email with its envelope (RFC 5321): the sender, the main recipient, and those of copies. Addresses have no display names. */
export type Mail = { envelope: Envelope; content: Buffer }

export type { SmtpReply } from './smtp/words.ts'

/** `peer` is the relay that replied, or did not, and how the connection to it was encrypted. */
export type SmtpAnswer =
  | ({ is: 'accepted'; peer: Peer } & SmtpReply)
  /** `stage` is the command that was refused. */
  | ({ is: 'refused'; stage: FailedStage; peer: Peer } & SmtpReply)
  /** There was no connection, or it broke at `stage`, so the email was not sent. `noTls`: encryption is required and not offered. */
  | { is: 'unreachable'; message: string; stage: FailedStage; noTls?: true; peer?: Peer }
  /** The email has an invalid address, so it was not offered to the relay. */
  | { is: 'unsendable'; message: string }
  /** The connection broke after the last byte of the email and before the reply, or that asked for more, so the email may have been sent. */
  | { is: 'uncertain'; message: string; peer: Peer }

export type SmtpRelays = AsyncDisposable & {
  send(relay: SmtpRelay, mail: Mail): Promise<SmtpAnswer>
  /** Connects and logs in, without sending an email. */
  verify(relay: SmtpRelay): Promise<{ works: true } | { works: false; message: string }>
}

/** `totalMs` covers an email from the call to the reply, including the wait for a connection. */
type Limits = { connectMs: number; greetingMs: number; silenceMs: number; totalMs: number; idleMs: number }

type Options = {
  policy: EgressPolicy
  /** Additional trusted root certificates in PEM. */
  ca?: string[]
  lookup?: HostLookup
  limits?: Partial<Limits>
}

const LIMITS: Limits = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 60_000, totalMs: 120_000, idleMs: 30_000 }
/** The most pools that are kept while nothing is sent over them. */
const POOLS_MAX = 200

/** Opens connections when the first email is sent. Disposing of it closes all of them. */
export function createSmtpRelays({ policy, ca = [], lookup = resolveHost, limits }: Options): SmtpRelays {
  const within = { ...LIMITS, ...limits }
  const secureContext = trustContext(ca)
  const pools = new Map<string, Pool>()
  const connectTo = (relay: SmtpRelay) => () => connectToRelay(relay, policy, lookup, within.connectMs)
  const poolOf = (relay: SmtpRelay): Pool => {
    const { host, port, tls, username, password, connections } = relay
    const key = JSON.stringify([host, port, tls, username, password, connections])
    const known = pools.get(key)
    if (!known) closeUnused(pools)
    const session = sessionOf(relay, within, secureContext)
    const pool = known ?? createPool({ connections, connect: connectTo(relay), session, totalMs: within.totalMs })
    // The pool that was used last is the last one.
    pools.delete(key)
    pools.set(key, pool)
    return pool
  }
  return {
    async send(relay, { envelope, content }) {
      const invalid = [envelope.from, ...envelope.to].find((address) => !isEmail(address))
      if (invalid !== undefined) return { is: 'unsendable', message: `${JSON.stringify(invalid)} is not an email address.` }
      return answerOf(await poolOf(relay).send(envelope, content))
    },
    async verify(relay) {
      try {
        const failure = await verifySession(await connectTo(relay)(), sessionOf(relay, within, secureContext))
        return failure ? { works: false, message: sentenceOf(failure, 'relay') } : { works: true }
      } catch (error) {
        return { works: false, message: sentenceOf({ is: 'broken', stage: 'CONNECT', error: error as Error }, 'relay') }
      }
    },
    async [Symbol.asyncDispose]() {
      for (const pool of pools.values()) pool.close()
      pools.clear()
    },
  }
}

/** Makes room for another pool. Those with an email stay, however many they are: nobody would know what became of it. */
function closeUnused(pools: Map<string, Pool>): void {
  for (const [key, pool] of pools) {
    if (pools.size < POOLS_MAX) return
    if (!pool.isUnused()) continue
    pools.delete(key)
    pool.close()
  }
}

/** Servers that check names want one with a domain, or an address (RFC 5321 §4.1.4). */
const OWN_NAME = isDomainName(hostname()) ? hostname() : '[127.0.0.1]'

/** With opportunistic TLS, any certificate is accepted, because refusing it would mean no encryption at all. */
function sessionOf({ host, tls, username, password = '' }: SmtpRelay, within: Limits, secureContext: SecureContext): ConnectionOptions {
  const startTls = { implicit: 'never', starttls: 'required', opportunistic: 'if offered', none: 'never' } as const
  return {
    name: OWN_NAME,
    startTls: startTls[tls],
    credentials: username === undefined ? null : { username, password },
    host: host.replace(/^\[|\]$/g, ''),
    isImplicitTls: tls === 'implicit',
    secureContext,
    rejectUnauthorized: tls !== 'opportunistic',
    overlaps: 'always',
    limits: {
      greetingMs: within.greetingMs,
      tlsMs: within.greetingMs,
      commandMs: within.silenceMs,
      blockMs: within.silenceMs,
      finalMs: within.silenceMs,
      idleMs: within.idleMs,
    },
  }
}

/** Opens a session and says goodbye. Returns why it could not be opened, or null. */
const verifySession = (socket: Socket, session: ConnectionOptions): Promise<Failure | null> =>
  new Promise((resolve) => {
    const connection = openConnection<never>(socket, session, {
      ready() {
        resolve(null)
        connection.quit()
      },
      finished: () => undefined,
      closed: (failure) => resolve(failure),
    })
  })

/** Opens a connection, only to an address that the egress policy allows. */
async function connectToRelay(relay: SmtpRelay, policy: EgressPolicy, lookup: HostLookup, connectMs: number): Promise<Socket> {
  const { port } = relay
  const host = relay.host.replace(/^\[|\]$/g, '')
  // Sockets do not call `lookup` for a literal address.
  if (ipaddr.isValid(host) && !isAllowedAddress(policy, host)) throw blockedError(host)
  return connectSocket({ host, port, autoSelectFamily: true, lookup: guardedLookup(policy, lookup) }, connectMs)
}

function answerOf(result: PoolResult): SmtpAnswer {
  switch (result.is) {
    case 'accepted':
      return { is: 'accepted', ...replyOf(result.reply), peer: result.peer }
    case 'refused':
      return { is: 'refused', stage: result.stage, ...replyOf(result.reply), peer: result.peer }
    case 'uncertain':
      return {
        is: 'uncertain',
        message: result.reply
          ? `The relay neither accepted nor refused the email: ${replyOf(result.reply).response}`
          : 'The relay closed the connection after the email was sent, without confirming it.',
        peer: result.peer,
      }
    case 'broken': {
      const { stage, peer } = result
      const noTls = result.error.code === NO_TLS
      return { is: 'unreachable', message: sentenceOf(result, 'relay'), stage, ...(noTls && { noTls }), ...(peer && { peer }) }
    }
    default:
      return result satisfies never
  }
}

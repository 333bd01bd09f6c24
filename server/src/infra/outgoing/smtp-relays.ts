/** Pools of connections to SMTP relays: one pool for each combination of settings. Idle connections are closed. */
import { connect } from 'node:net'
import type { SecureContext } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import nodemailer from 'nodemailer'
import type { NodemailerError } from 'nodemailer/lib/errors'
import type { PluginFunction, SendMailOptions } from 'nodemailer/lib/mailer'
import SMTPPool from 'nodemailer/lib/smtp-pool'
import { type EgressPolicy, type HostLookup, isAllowedAddress } from '../../lib/egress.ts'
import { resolveHost } from './dns.ts'
import { blockedError, guardedLookup } from './safe-fetch.ts'
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
export type Mail = { envelope: { from: string; to: readonly [main: string, ...copies: string[]] }; content: Buffer }

export type SmtpAnswer =
  | { is: 'accepted'; response: string }
  /** The reply of the relay: `code` such as 550; `stage` is the SMTP command that was refused. */
  | { is: 'refused'; code: number; enhancedCode?: string; response: string; stage: string }
  /** There was no connection, so the email was not sent. */
  | { is: 'unreachable'; message: string }
  /** The email has an invalid address, so it was not offered to the relay. */
  | { is: 'unsendable'; message: string }
  /** The connection broke after the last byte of the email and before the reply, so it may have been sent. */
  | { is: 'uncertain'; message: string }

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
const POOLS_MAX = 200
const MAILS_PER_CONNECTION_MAX = 500
// How often an email is tried again on another connection if the relay closes the first at once.
const REQUEUES_MAX = 2

/** Opens connections when the first email is sent. Disposing of it closes all of them. */
export function createSmtpRelays({ policy, ca = [], lookup = resolveHost, limits }: Options): SmtpRelays {
  const within = { ...LIMITS, ...limits }
  const secureContext = trustContext(ca)
  const open = (relay: SmtpRelay) =>
    openPool({ ...optionsOf(relay, within), tls: tlsOf(relay, secureContext), getSocket: connector(relay, policy, lookup, within) })
  const pools = new LRUCache<string, Pool>({ max: POOLS_MAX, dispose: ({ connections }) => connections.close() })
  const poolOf = (relay: SmtpRelay): Pool => {
    const key = JSON.stringify(Object.entries(relay).sort())
    const pool = pools.get(key) ?? open(relay)
    pools.set(key, pool)
    return pool
  }
  return {
    send: (relay, mail) => sendMail(poolOf(relay), mail, within.totalMs),
    async verify(relay) {
      const { connections } = open(relay)
      try {
        await connections.verify()
        return { works: true }
      } catch (error) {
        return { works: false, message: sentenceOf(error as NodemailerError) }
      } finally {
        connections.close()
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { connections } of pools.values()) connections.close({ force: true })
      pools.clear()
    },
  }
}

type Pool = ReturnType<typeof openPool>

function openPool(options: SMTPPool.Options) {
  const connections = new SMTPPool(options)
  const mailer = nodemailer.createTransport(connections)
  mailer.use('stream', trackEnd)
  // `sendMail` reports the errors of each email. Those of idle connections can be ignored.
  mailer.on('error', () => undefined)
  return { connections, mailer }
}

function optionsOf({ host, port, tls, username, password = '', connections }: SmtpRelay, within: Limits): SMTPPool.Options {
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    opportunisticTLS: tls === 'opportunistic',
    ignoreTLS: tls === 'none',
    ...(username !== undefined && { auth: { user: username, pass: password }, forceAuth: true }),
    maxConnections: connections,
    maxMessages: MAILS_PER_CONNECTION_MAX,
    maxRequeues: REQUEUES_MAX,
    connectionTimeout: within.connectMs,
    greetingTimeout: within.greetingMs,
    socketTimeout: within.silenceMs,
    idleTimeout: within.idleMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** With opportunistic TLS, any certificate is accepted, because refusing it would mean no encryption at all. */
const tlsOf = ({ tls }: SmtpRelay, secureContext: SecureContext) => ({
  secureContext,
  rejectUnauthorized: tls !== 'opportunistic',
})

/** Opens the connections of a pool, only to addresses that the egress policy allows. */
function connector(relay: SmtpRelay, policy: EgressPolicy, lookup: HostLookup, { connectMs }: Limits): SMTPPool.Options['getSocket'] {
  const { port } = relay
  const host = relay.host.replace(/^\[|\]$/g, '')
  return (_, callback) => {
    // Sockets do not call `lookup` for a literal address.
    if (ipaddr.isValid(host) && !isAllowedAddress(policy, host)) return callback(blockedError(host))
    const socket = connect({ host, port, autoSelectFamily: true, lookup: guardedLookup(policy, lookup), timeout: connectMs })
    const failed = (error: Error) => {
      socket.destroy()
      callback(error)
    }
    const tooLate = () => failed(Object.assign(new Error('The connection was not established in time'), { code: 'ETIMEDOUT' }))
    socket.once('error', failed)
    socket.once('timeout', tooLate)
    socket.once('connect', () => {
      socket.off('error', failed)
      socket.off('timeout', tooLate)
      socket.setTimeout(0)
      callback(null, { connection: socket })
    })
  }
}

/** `isRead` is set once the last byte of the email was read. From then on, the relay may have it. */
type Tracked = SendMailOptions & { tracked?: { isRead: boolean } }

const trackEnd: PluginFunction<SMTPPool.SentMessageInfo> = (mail, done) => {
  const { tracked } = mail.data as Tracked
  const { message } = mail
  if (tracked && message) {
    const read = message.createReadStream.bind(message)
    message.createReadStream = (options) =>
      read(options).once('end', () => {
        tracked.isRead = true
      })
  }
  done()
}

async function sendMail({ mailer }: Pool, { envelope: { from, to }, content }: Mail, totalMs: number): Promise<SmtpAnswer> {
  const tracked = { isRead: false }
  const options: Tracked = { envelope: { from, to: [...to] }, raw: content, signal: AbortSignal.timeout(totalMs), tracked }
  try {
    const { response, rejectedErrors = [] } = await mailer.sendMail(options)
    // Recipients of copies may have been accepted. The result is that of the main recipient.
    const refused = rejectedErrors.find(({ recipient }) => recipient?.toLowerCase() === to[0].toLowerCase())
    return refused ? answerOf(refused, false) : { is: 'accepted', response: lineOf(response) }
  } catch (error) {
    return answerOf(error as NodemailerError, tracked.isRead)
  }
}

function answerOf(error: NodemailerError, isRead: boolean): SmtpAnswer {
  const { code, responseCode, response = '', command = '' } = error
  if (responseCode !== undefined) {
    const [, enhancedCode] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? []
    const stage = STAGES.find((stage) => command.startsWith(stage)) ?? 'CONNECT'
    return { is: 'refused', code: responseCode, ...(enhancedCode !== undefined && { enhancedCode }), response: lineOf(response), stage }
  }
  if (isRead) return { is: 'uncertain', message: 'The relay closed the connection after the email was sent, without confirming it.' }
  if (code === 'EENVELOPE' || code === 'EMAXRECIPIENTS') return { is: 'unsendable', message: `${lineOf(error.message)}.` }
  return { is: 'unreachable', message: sentenceOf(error) }
}

const STAGES = ['AUTH', 'MAIL', 'RCPT', 'DATA']

const SENTENCES: Record<string, string> = {
  ECONNREFUSED: 'The relay refused the connection.',
  ETIMEDOUT: 'The relay did not respond in time.',
  ENOTFOUND: 'The host name of the relay could not be resolved.',
  EAI_AGAIN: 'The host name of the relay could not be resolved.',
  EGRESS_BLOCKED: 'The relay has no address that this server may connect to.',
  EABORT: 'The relay did not respond in time.',
}

/** A sentence for the owner of the relay. */
function sentenceOf({ code = '', originalCode = '', response, message }: NodemailerError): string {
  if (response) return `The relay replied: ${lineOf(response)}`
  if (code === 'ETLS' || TLS_CODE.test(originalCode))
    return 'No secure connection could be established; check the encryption setting and the certificate of the relay.'
  return SENTENCES[originalCode] ?? SENTENCES[code] ?? `The relay cannot be used: ${lineOf(message)}.`
}

const TLS_CODE = /TLS|SSL|CERT|SIGNATURE/

const LINE_LENGTH_MAX = 500

/** The reply of a relay as one line that can be stored. */
const lineOf = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, LINE_LENGTH_MAX)
    .toWellFormed()

/** Connections to SMTP relays, kept in pools: one for every way of speaking to one, the idle ones closed. */
import { connect } from 'node:net'
import type { SecureContext } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import nodemailer from 'nodemailer'
import type { NodemailerError } from 'nodemailer/lib/errors'
import type { PluginFunction, SendMailOptions } from 'nodemailer/lib/mailer'
import SMTPPool from 'nodemailer/lib/smtp-pool'
import { type EgressPolicy, type HostLookup, isAllowedAddress } from '../../lib/egress.ts'
import { blockedError, guardedLookup, resolveHost } from './safe-fetch.ts'
import { trustContext } from './trust.ts'

/** Where a relay is and how it is spoken to. */
export type SmtpRelay = {
  host: string
  port: number
  /** `implicit`: TLS from the first byte; `starttls`: refused when it is not offered; `opportunistic`; `none`. */
  tls: 'implicit' | 'starttls' | 'opportunistic' | 'none'
  username?: string
  password?: string
  connections: number
}

/** A mail as it is composed. Addresses may carry display names. */
export type Mail = {
  from: string
  to: string
  cc?: string
  bcc?: string
  replyTo?: string
  subject: string
  html: string
  text: string
  messageId: string
  headers: Record<string, string>
}

export type SmtpAnswer =
  | { is: 'accepted'; response: string }
  /** The relay's own words: `code` such as 550; `stage` is the SMTP command that was refused. */
  | { is: 'refused'; code: number; enhancedCode?: string; response: string; stage: string }
  /** Nothing can have been sent. */
  | { is: 'unreachable'; message: string }
  /** No relay would be given it: an address in it is none. */
  | { is: 'unsendable'; message: string }
  /** The connection broke after the mail's last byte and before the answer. */
  | { is: 'uncertain'; message: string }

export type SmtpRelays = AsyncDisposable & {
  send(relay: SmtpRelay, mail: Mail): Promise<SmtpAnswer>
  /** Connects, greets, secures, logs in, and leaves. */
  verify(relay: SmtpRelay): Promise<{ works: true } | { works: false; message: string }>
}

/** All times in milliseconds. `totalMs` covers a mail from the call to the answer, waiting for a connection included. */
type Limits = { connectMs: number; greetingMs: number; silenceMs: number; totalMs: number; idleMs: number }

type Options = {
  policy: EgressPolicy
  /** Roots in PEM that are trusted beside the usual ones. */
  ca?: string[]
  lookup?: HostLookup
  limits?: Partial<Limits>
}

const LIMITS: Limits = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 60_000, totalMs: 120_000, idleMs: 30_000 }
const POOLS_MAX = 200
const MAILS_PER_CONNECTION_MAX = 500
// A connection that is closed before anything was said is opened again so often.
const REOPENED_MAX = 2

/** Opens nothing before the first mail. Disposing of it closes all connections. */
export function createSmtpRelays({ policy, ca = [], lookup = resolveHost, limits }: Options): SmtpRelays {
  const within = { ...LIMITS, ...limits }
  const secureContext = trustContext(ca)
  const open = (relay: SmtpRelay) =>
    openPool({ ...optionsOf(relay, within), tls: tlsOf(relay, secureContext), getSocket: dialler(relay, policy, lookup, within) })
  const pools = new LRUCache<string, Pool>({ max: POOLS_MAX, dispose: ({ connections }) => connections.close() })
  const poolOf = (relay: SmtpRelay): Pool => {
    const key = JSON.stringify(Object.entries(relay).sort())
    const pool = pools.get(key) ?? open(relay)
    pools.set(key, pool)
    return pool
  }
  return {
    send: (relay, mail) => post(poolOf(relay), mail, within.totalMs),
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
  mailer.use('stream', noteTheEnd)
  // Every mail hears of its own trouble; that of a connection that carries none is nobody's.
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
    maxRequeues: REOPENED_MAX,
    connectionTimeout: within.connectMs,
    greetingTimeout: within.greetingMs,
    socketTimeout: within.silenceMs,
    idleTimeout: within.idleMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Where encryption is not insisted on, a certificate is not either: refusing it would end in no encryption at all. */
const tlsOf = ({ tls }: SmtpRelay, secureContext: SecureContext) => ({
  secureContext,
  rejectUnauthorized: tls !== 'opportunistic',
})

/** Opens the connections of a pool: addresses are resolved, judged, and exactly those dialled. */
function dialler(relay: SmtpRelay, policy: EgressPolicy, lookup: HostLookup, { connectMs }: Limits): SMTPPool.Options['getSocket'] {
  const { port } = relay
  const host = relay.host.replace(/^\[|\]$/g, '')
  return (_, callback) => {
    // A literal address is dialled without asking `lookup`.
    if (ipaddr.isValid(host) && !isAllowedAddress(policy, host)) return callback(blockedError(host))
    const socket = connect({ host, port, autoSelectFamily: true, lookup: guardedLookup(policy, lookup), timeout: connectMs })
    const failed = (error: Error) => {
      socket.destroy()
      callback(error)
    }
    const tooLate = () => failed(Object.assign(new Error('No connection in time'), { code: 'ETIMEDOUT' }))
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

/** Set on a mail when its last byte was read, so that from then on the relay may have it. */
type Watched = SendMailOptions & { watched?: { isRead: boolean } }

const noteTheEnd: PluginFunction<SMTPPool.SentMessageInfo> = (mail, done) => {
  const { watched } = mail.data as Watched
  const { message } = mail
  if (watched && message) {
    const read = message.createReadStream.bind(message)
    message.createReadStream = (options) =>
      read(options).once('end', () => {
        watched.isRead = true
      })
  }
  done()
}

async function post({ mailer }: Pool, { headers, ...mail }: Mail, totalMs: number): Promise<SmtpAnswer> {
  const watched = { isRead: false }
  const options: Watched = { ...mail, headers, xMailer: false, signal: AbortSignal.timeout(totalMs), watched }
  try {
    const { response, rejectedErrors = [] } = await mailer.sendMail(options)
    // Others may have got their copy: the mail is about the person it was written to.
    const refused = rejectedErrors.find(({ recipient }) => recipient?.toLowerCase() === addressIn(mail.to))
    return refused ? answerOf(refused, false) : { is: 'accepted', response: lineOf(response) }
  } catch (error) {
    return answerOf(error as NodemailerError, watched.isRead)
  }
}

/** The bare address, whether or not a name stands before it. */
const addressIn = (text: string) => (/<([^<>]*)>\s*$/.exec(text)?.[1] ?? text).trim().toLowerCase()

function answerOf(error: NodemailerError, isRead: boolean): SmtpAnswer {
  const { code, responseCode, response = '', command = '' } = error
  if (responseCode !== undefined) {
    const [, enhancedCode] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? []
    const stage = STAGES.find((stage) => command.startsWith(stage)) ?? 'CONNECT'
    return { is: 'refused', code: responseCode, ...(enhancedCode !== undefined && { enhancedCode }), response: lineOf(response), stage }
  }
  if (isRead)
    return { is: 'uncertain', message: 'The relay closed the connection after the mail was sent and did not say what became of it.' }
  if (code === 'EENVELOPE' || code === 'EMAXRECIPIENTS') return { is: 'unsendable', message: `${lineOf(error.message)}.` }
  return { is: 'unreachable', message: sentenceOf(error) }
}

const STAGES = ['AUTH', 'MAIL', 'RCPT', 'DATA']

const SENTENCES: Record<string, string> = {
  ECONNREFUSED: 'The relay refused the connection.',
  ETIMEDOUT: 'The relay did not answer in time.',
  ENOTFOUND: 'The name of the relay could not be resolved.',
  EAI_AGAIN: 'The name of the relay could not be resolved.',
  EGRESS_BLOCKED: 'The relay has no address that may be connected to.',
  EABORT: 'The relay did not answer in time.',
}

/** A sentence for the owner of the relay. */
function sentenceOf({ code = '', originalCode = '', response, message }: NodemailerError): string {
  if (response) return `The relay answered: ${lineOf(response)}`
  if (code === 'ETLS' || TLS_CODE.test(originalCode))
    return 'No secure connection could be made; check how the relay encrypts, and its certificate.'
  return SENTENCES[originalCode] ?? SENTENCES[code] ?? `No mail can be handed to the relay: ${lineOf(message)}.`
}

const TLS_CODE = /TLS|SSL|CERT|SIGNATURE/

const LINE_LENGTH_MAX = 500

/** What a relay said, as one line that can be stored. */
const lineOf = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, LINE_LENGTH_MAX)
    .toWellFormed()

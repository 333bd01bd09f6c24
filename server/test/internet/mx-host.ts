/** What a fake MX host does, and what it received. */
import type { TlsVariant } from './certificates.ts'

/** The commands that a script can answer. `BODY` is the end of the content. */
export type MxStage = 'GREETING' | 'EHLO' | 'HELO' | 'STARTTLS' | 'MAIL' | 'RCPT' | 'DATA' | 'BODY' | 'RSET' | 'NOOP' | 'QUIT'

/**
 * What the host does at a stage: it waits, as long as it is told or for a promise, replies and continues, unless `then` is given. `close` ends the
 * connection, `reset` breaks it, `half-close` ends its own side only, `silence` sends no reply. A reply of several lines has `\r\n` between them;
 * any bytes will do.
 */
export type Reaction = { reply?: string; delayMs?: number; until?: Promise<void>; then?: 'close' | 'reset' | 'half-close' | 'silence' }

/** The host ends the connection, or its part in it, instead of a reply. */
export const ends = (then: NonNullable<Reaction['then']>): Reaction => ({ then })

/** What is known at a stage. `line` is the command, `mail` counts the mails of the connection from 1, `connection` those of the host. */
export type At = { line: string; connection: number; mail: number; from: string; to: readonly string[]; isEncrypted: boolean }

/** A reply, a reaction, or a function that chooses one. `undefined` is what a healthy host replies. */
export type Answer = string | Reaction | ((at: At) => string | Reaction | undefined)

export type MxScript = Partial<Record<MxStage, Answer>>

export type MxBehaviour = {
  script?: MxScript
  /** How it does TLS, or `none` if it offers none. */
  tls?: TlsVariant | 'none'
  /** The lines of the reply to EHLO, without STARTTLS. */
  extensions?: string[]
  /** Each reply is so late. */
  latencyMs?: number
  /** The reply to the content is so late, in addition. */
  acceptMs?: number
  /** Further connections at the same time get 421 and are closed. */
  connectionsMax?: number
  /** Further mails of a connection get 421 and it is closed. */
  mailsPerConnectionMax?: number
  /** Further mails within a second get 421 and the connection is closed. */
  mailsPerSecondMax?: number
  /** Whether received mails are kept, or counted only. */
  keepsMails?: boolean
}

/** A mail that was accepted. `parameters` are those of MAIL and of each RCPT. `content` has no dots that the transfer added. */
export type MxMail = {
  host: string
  ip: string
  from: string
  to: string[]
  parameters: { mail: string; rcpt: string[] }
  content: Buffer
  tls: { protocol: string; servername: string } | null
  helo: string
  connection: number
  /** The place of the mail in its connection, from 1. */
  mail: number
}

export type MxCounts = {
  made: number
  open: number
  /** Replies that are still to be sent. A host completes an email whose client is gone. */
  late: number
  /** The most connections at the same time. */
  mostOpen: number
  /** The mails accepted over each connection, in the order of the connections. */
  mailsPerConnection: number[]
  accepted: number
  /** The recipients that were accepted and refused. */
  recipients: { accepted: number; refused: number }
  /** Replies 421 because of a cap. */
  capped: number
}

/** A host of the farm. Its behaviour can be changed at any time; open connections have the new one with the next command. */
export type MxHost = {
  readonly name: string
  readonly ip: string
  behaviour: MxBehaviour
  readonly mails: MxMail[]
  readonly counts: MxCounts
  /** Every command, in order, with the number of its connection. */
  readonly commands: { connection: number; line: string }[]
}

export const EXTENSIONS = ['PIPELINING', 'SIZE 52428800', '8BITMIME', 'ENHANCEDSTATUSCODES', 'SMTPUTF8', 'DSN']

/** A host that has not been connected to. */
export const newMxHost = (name: string, ip: string, behaviour: MxBehaviour): MxHost => ({
  name,
  ip,
  behaviour,
  mails: [],
  commands: [],
  counts: {
    made: 0,
    open: 0,
    late: 0,
    mostOpen: 0,
    mailsPerConnection: [],
    accepted: 0,
    recipients: { accepted: 0, refused: 0 },
    capped: 0,
  },
})

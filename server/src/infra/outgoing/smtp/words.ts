/** What a server replied, and why there is no connection to it, in words that can be stored and shown. Pure. */
import type { Reply } from '../../../lib/smtp/replies.ts'
import { type Failure, NO_TLS } from './failures.ts'

/** A reply of a server: `code` such as 550. */
export type SmtpReply = { code: number; enhancedCode?: string; response: string }

/** The server refused a connection; or it could not be reached, did not respond, or closed the connection. */
export type ConnectionFault = 'refused' | 'failed'

/** A reply with its enhanced code (RFC 3463), if it has one. */
export function replyOf(reply: Reply): SmtpReply {
  const [enhancedCode] = /^\d\.\d{1,3}\.\d{1,3}(?= |$)/.exec(reply.lines[0] ?? '') ?? []
  return { code: reply.code, ...(enhancedCode !== undefined && { enhancedCode }), response: textOf(reply) }
}

/** A reply as one line. */
const textOf = ({ code, lines }: Reply): string => lineOf(`${code} ${lines.join(' ')}`)

const SENTENCES: Record<string, (server: string) => string> = {
  ECONNREFUSED: (server) => `The ${server} refused the connection.`,
  ECONNECTION: (server) => `The ${server} closed the connection.`,
  ECONNRESET: (server) => `The ${server} closed the connection.`,
  EPIPE: (server) => `The ${server} closed the connection.`,
  ETIMEDOUT: (server) => `The ${server} did not respond in time.`,
  EHOSTUNREACH: (server) => `The ${server} cannot be reached.`,
  ENETUNREACH: (server) => `The ${server} cannot be reached.`,
  ENOTFOUND: (server) => `The host name of the ${server} could not be resolved.`,
  EAI_AGAIN: (server) => `The host name of the ${server} could not be resolved.`,
  ECLOSED: () => 'This server is stopping.',
  EGRESS_BLOCKED: (server) => `The ${server} has no address that this server may connect to.`,
}

/** Why there is no session, or no longer one, in a sentence about a `relay` or a `host`. */
export function sentenceOf(failure: Failure, server: 'relay' | 'host'): string {
  if (failure.is === 'refused') return `The ${server} replied: ${textOf(failure.reply)}`
  const { code = '', message } = failure.error
  if (code === NO_TLS && server === 'host')
    return failure.reply ? `The host refused STARTTLS: ${textOf(failure.reply)}` : 'The host does not offer STARTTLS.'
  if (code === NO_TLS || TLS_CODE.test(code)) return tlsSentence(server, message)
  return SENTENCES[code]?.(server) ?? `The ${server} cannot be used: ${lineOf(message)}.`
}

const TLS_CODE = /TLS|SSL|CERT|SIGNATURE/

/** The owner of a relay can change its settings. */
const tlsSentence = (server: 'relay' | 'host', message: string): string =>
  server === 'relay'
    ? 'No secure connection could be established; check the encryption setting and the certificate of the relay.'
    : `TLS could not be established: ${lineOf(message)}.`

const FAULTS: Record<string, ConnectionFault> = {
  ECONNREFUSED: 'refused',
  ECONNECTION: 'failed',
  ECONNRESET: 'failed',
  EPIPE: 'failed',
  ETIMEDOUT: 'failed',
  EHOSTUNREACH: 'failed',
  ENETUNREACH: 'failed',
}

/** What is wrong with the connection to a server; undefined if it replied, or the fault is in TLS or here. */
export const faultOf = (failure: Failure): ConnectionFault | undefined =>
  failure.is === 'broken' ? FAULTS[failure.error.code ?? ''] : undefined

const LINE_LENGTH_MAX = 500

/** Text as one line that can be stored. */
const lineOf = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, LINE_LENGTH_MAX)
    .toWellFormed()

/** The state of an SMTP session, and what a step of it asks its caller to do. */
import type { Reply } from './replies.ts'

export type SessionOptions = {
  /** How this client names itself. */
  name: string
  /** `required` ends the session unless TLS begins; `never` is also for sessions that are encrypted from the first byte. */
  startTls: 'required' | 'if offered' | 'never'
  credentials: { username: string; password: string } | null
  /**
   * When a mail may begin before the reply to the one before it, where the server offers PIPELINING. `after a success`: when the mail
   * before that one was accepted, because a server may not expect it.
   */
  overlaps: 'always' | 'after a success'
}

/** The stages that a server can refuse. `DATA` includes the content. */
export type Stage = 'GREETING' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA'

/**
 * The first recipient is the main one, the others are copies. `from` is empty for the null sender. The other members become parameters of the
 * commands if the server offers their extensions: `needs8Bit` (RFC 6152), `needsSmtpUtf8` (RFC 6531), and `reports`, which asks for reports under
 * an id (RFC 3461).
 */
export type Envelope = {
  from: string
  to: readonly string[]
  needs8Bit?: boolean
  needsSmtpUtf8?: boolean
  reports?: { envelopeId: string; returns?: 'FULL' | 'HDRS'; recipients?: readonly RecipientReports[] }
}

/** The reports that the sender of a mail asks for about a recipient, and the address that the sender wrote (RFC 3461), such as `rfc822;kim@example.org`. */
export type RecipientReports = { notify: readonly string[]; original: string | null }

/** The replies to the commands of a mail so far: those to RCPT in the order of the recipients, and `data` if it asked for no content. */
export type Replies = { mail?: Reply; recipients: readonly Reply[]; data?: Reply; content?: Reply }

/**
 * What happened to a mail: the reply about the main recipient counts. For the others, there are all replies. `uncertain`: the server had
 * all of it and asked for more, so that it may have taken it.
 */
export type MailResult = Result & { replies: Replies }

/** `MailResult` without the replies that did not decide. */
export type Result = { is: 'accepted' | 'uncertain'; reply: Reply } | Refusal

/** A refusal, and the command that was refused. */
export type Refusal = { is: 'refused'; stage: Stage; reply: Reply }

/** What the caller has to do, in order. */
export type Action<M> =
  | { do: 'write'; bytes: Buffer | string }
  /** The content of a mail: while it is written, the server has nothing to say. Then call `contentWritten`. */
  | { do: 'write content'; pieces: readonly Buffer[] }
  /** Begin TLS on the socket, and call `secured`. */
  | { do: 'secure' }
  /** The session was opened, and takes mails. */
  | { do: 'ready' }
  /** The session cannot be opened. */
  | { do: 'refuse'; stage: Stage; reply: Reply }
  | { do: 'fail'; why: 'unexpected reply' | 'the mail is not to be sent' }
  /** TLS is required. `reply`: it was offered, and then refused. */
  | { do: 'fail'; why: 'TLS is not offered'; reply?: Reply }
  | { do: 'finish'; mail: M; result: MailResult }
  /** The server ends the session, or is out of step. */
  | { do: 'close' }

/** Whether a mail may still be sent. Another process may have it by now. */
export type MayBeSent = () => boolean

/** A mail with its replies so far. `hasBody`: its last byte was given to be written, so from now on the server may have it. */
export type Transaction<M> = {
  mail: M
  envelope: Envelope
  content: Buffer
  replies: { mail?: Reply; recipients: Reply[]; data?: Reply; content?: Reply }
  hasBody: boolean
  /** Asked right before the content: without it, the session ends. */
  mayBeSent?: MayBeSent
}

/** What a reply is expected for, until the session is open. */
export type Opening = 'greeting' | 'ehlo' | 'helo' | 'starttls' | 'plain' | 'login user' | 'login password' | 'cram' | 'password'

export type Expected<M> = { for: Opening | 'quit' } | { for: 'rset' | 'mail' | 'rcpt' | 'data' | 'body'; of: Transaction<M> }

export type State<M> = {
  readonly options: SessionOptions
  /** One for each command without a reply, in order. */
  expected: Expected<M>[]
  transactions: Transaction<M>[]
  /** The mail whose content is being written without its end. It may have a result already: a server may reply before it has all. */
  unended: Transaction<M> | null
  extensions: ReadonlyMap<string, readonly string[]>
  isSecure: boolean
  /** Why mails go without encryption although it was wanted. */
  plainBecause: string | null
  isReady: boolean
  isClosing: boolean
  /** A mail was refused after the server had accepted its sender, so the next one begins anew. */
  needsReset: boolean
  /** The last mail was accepted. */
  hadSuccess: boolean
}

export const LINE_END = '\r\n'

export const offers = <M>({ extensions }: State<M>, keyword: string): boolean => extensions.has(keyword)

/** Writes a command, and expects its reply. */
export function command<M>({ expected }: State<M>, line: string, next: Expected<M>): Action<M> {
  expected.push(next)
  return { do: 'write', bytes: `${line}${LINE_END}` }
}

export const isOk = (reply: Reply | undefined): boolean => reply !== undefined && reply.code >= 200 && reply.code < 300

/** The server asks for more. Whatever the code, its first digit decides (RFC 5321 §4.2). */
export const isIntermediate = ({ code }: Reply): boolean => code >= 300 && code < 400

/** The server ends the session (RFC 5321 §3.8). */
export const CLOSING = 421

/** Ends the session without a word. */
export function close<M>(state: State<M>): Action<M>[] {
  state.isClosing = true
  return [{ do: 'close' }]
}

/** Ends the session when the server has replied. */
export function quit<M>(state: State<M>): Action<M>[] {
  state.isClosing = true
  return [command(state, 'QUIT', { for: 'quit' })]
}

/** The state of an SMTP session, and what a step of it asks its caller to do. */
import type { Reply } from './replies.ts'

export type SessionOptions = {
  /** How this client names itself. */
  name: string
  /** `required` ends the session unless TLS begins; `never` is also for sessions that are encrypted from the first byte. */
  startTls: 'required' | 'if offered' | 'never'
  credentials: { username: string; password: string } | null
}

/** The stages that a server can refuse. `DATA` includes the content. */
export type Stage = 'GREETING' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA'

export type Envelope = { from: string; to: readonly [main: string, ...copies: string[]] }

/** What became of a mail. The reply about the main recipient counts. */
export type MailResult = { is: 'accepted'; reply: Reply } | { is: 'refused'; stage: Stage; reply: Reply }

/** What the caller has to do, in order. */
export type Action<M> =
  | { do: 'write'; bytes: Buffer | string }
  /** Begin TLS on the socket, and call `secured`. */
  | { do: 'secure' }
  /** The session was opened, and takes mails. */
  | { do: 'ready' }
  /** The session cannot be opened. */
  | { do: 'refuse'; stage: Stage; reply: Reply }
  | { do: 'fail'; why: 'TLS is not offered' | 'unexpected reply' }
  | { do: 'finish'; mail: M; result: MailResult }
  /** The server ends the session. */
  | { do: 'close' }

/** A mail with its replies so far. `hasBody`: its last byte was written, so from now on the server may have it. */
export type Transaction<M> = { mail: M; envelope: Envelope; content: Buffer; mailReply?: Reply; recipients: Reply[]; hasBody: boolean }

/** What a reply is expected for, until the session is open. */
export type Opening = 'greeting' | 'ehlo' | 'helo' | 'starttls' | 'plain' | 'login user' | 'login password' | 'cram' | 'password'

export type Expected<M> = { for: Opening | 'quit' } | { for: 'rset' | 'mail' | 'rcpt' | 'data' | 'body'; of: Transaction<M> }

export type State<M> = {
  readonly options: SessionOptions
  /** One for each command without a reply, in order. */
  expected: Expected<M>[]
  transactions: Transaction<M>[]
  extensions: ReadonlyMap<string, readonly string[]>
  isSecure: boolean
  /** Why mails go without encryption although it was wanted. */
  plainBecause: string | null
  isReady: boolean
  isClosing: boolean
  /** A mail was refused after the server had accepted its sender, so the next one begins anew. */
  needsReset: boolean
}

export const LINE_END = '\r\n'

export const offers = <M>({ extensions }: State<M>, keyword: string): boolean => extensions.has(keyword)

/** Writes a command, and expects its reply. */
export function command<M>({ expected }: State<M>, line: string, next: Expected<M>): Action<M> {
  expected.push(next)
  return { do: 'write', bytes: `${line}${LINE_END}` }
}

export const isOk = (reply: Reply | undefined): boolean => reply !== undefined && reply.code >= 200 && reply.code < 300

/**
 * The client side of an SMTP session (RFC 5321) as a state machine: replies go in, and commands come out. It opens the session, and then
 * sends mails. Where the server offers PIPELINING, the next mail begins in the write that ends the one before. Pure: the socket and the
 * time are those of its caller.
 */
import { opening, stageOfOpening } from './opening.ts'
import type { Reply } from './replies.ts'
import {
  type Action,
  CLOSING,
  close,
  command,
  type Envelope,
  type MayBeSent,
  offers,
  quit,
  type Replies,
  type SessionOptions,
  type Stage,
  type State,
} from './state.ts'
import { begin, endContent, lackedBy, stageOf, transacting } from './transactions.ts'

export type { Action, Envelope, MailResult, MayBeSent, RecipientReports, Refusal, Replies, SessionOptions, Stage } from './state.ts'
export { CLOSING } from './state.ts'
export { refusalOf } from './transactions.ts'

export type Session<M> = {
  /** The server speaks first. */
  receive(reply: Reply): Action<M>[]
  /** TLS has begun. */
  secured(): Action<M>[]
  /** Whether a mail can begin now. */
  isFree(): boolean
  /** Whether no mail is under way. */
  isIdle(): boolean
  /** The extension without which the server cannot take a mail; `SIZE` if it is too large for it. Null if nothing is known against it. */
  lacks(envelope: Envelope, size: number): 'SIZE' | '8BITMIME' | 'SMTPUTF8' | null
  begin(mail: M, envelope: Envelope, content: Buffer, mayBeSent?: MayBeSent): Action<M>[]
  /** The content was written, as far as it was asked for. */
  contentWritten(): Action<M>[]
  quit(): Action<M>[]
  /** What the next reply is for; null if none is due. */
  awaits(): string | null
  /** The stage of the next reply while the session is being opened. */
  stage(): Stage
  /** Why mails go without encryption although it was wanted, or null. */
  plainBecause(): string | null
  /** Mails without a result, with their stage, the replies so far, their size, and whether the server may have them. */
  open(): OpenMail<M>[]
}

export type OpenMail<M> = { mail: M; stage: Stage; replies: Replies; size: number; hasBody: boolean }

/** A session whose server has not spoken yet. `M` is how the caller identifies a mail. */
export function createSession<M>(options: SessionOptions): Session<M> {
  const state: State<M> = {
    options,
    expected: [{ for: 'greeting' }],
    transactions: [],
    unended: null,
    extensions: new Map(),
    isSecure: options.startTls === 'never',
    plainBecause: null,
    isReady: false,
    isClosing: false,
    needsReset: false,
    hadSuccess: false,
  }
  return {
    receive: (reply) => receive(state, reply),
    secured() {
      // An attacker can change what is sent before TLS, so the offered extensions are read again.
      Object.assign(state, { isSecure: true, extensions: new Map() })
      return [command(state, `EHLO ${options.name}`, { for: 'ehlo' })]
    },
    isFree: () => isFree(state),
    isIdle: () => state.transactions.length === 0 && !state.unended,
    lacks: (envelope, size) => lackedBy(state, envelope, size),
    begin: (mail, envelope, content, mayBeSent) =>
      begin(state, { mail, envelope, content, replies: { recipients: [] }, hasBody: false, ...(mayBeSent && { mayBeSent }) }),
    contentWritten: () => endContent(state),
    quit: () => quit(state),
    awaits: () => state.expected[0]?.for ?? null,
    stage: () => stageOfOpening(state.expected[0]?.for),
    plainBecause: () => state.plainBecause,
    open: () =>
      state.transactions.map((transaction) => {
        const { mail, replies, content, hasBody } = transaction
        return { mail, stage: stageOf(transaction), replies, size: content.length, hasBody }
      }),
  }
}

function receive<M>(state: State<M>, reply: Reply): Action<M>[] {
  const next = state.expected.shift()
  if (!next) return reply.code === CLOSING ? close(state) : [{ do: 'fail', why: 'unexpected reply' }]
  if (next.for === 'quit') return close(state)
  const actions = 'of' in next ? transacting(state, next, reply) : opening(state, next.for, reply)
  return reply.code === CLOSING && state.isReady ? [...actions, ...close(state)] : actions
}

/** A mail can begin when none is under way, or when all of the one that is was written. */
function isFree<M>(state: State<M>): boolean {
  const { isReady, isClosing, transactions, unended, options, hadSuccess } = state
  if (!isReady || isClosing || unended) return false
  const [only] = transactions
  if (only === undefined) return true
  const mayOverlap = offers(state, 'PIPELINING') && (hadSuccess || options.overlaps === 'always')
  return mayOverlap && transactions.length === 1 && only.hasBody
}

/**
 * Sending mails in an open SMTP session. With PIPELINING (RFC 2920), all commands of a mail are one write; the reply to DATA decides
 * whether its content follows. Pure.
 */
import type { Reply } from './replies.ts'
import {
  type Action,
  close,
  command,
  type Envelope,
  type Expected,
  isIntermediate,
  isOk,
  LINE_END,
  offers,
  quit,
  type Refusal,
  type Replies,
  type Result,
  type Stage,
  type State,
  type Transaction,
} from './state.ts'

/** Begins a mail. */
export function begin<M>(state: State<M>, transaction: Transaction<M>): Action<M>[] {
  state.transactions.push(transaction)
  if (!state.needsReset) return nextCommands(state, transaction)
  state.needsReset = false
  const reset = command(state, 'RSET', { for: 'rset', of: transaction })
  return offers(state, 'PIPELINING') ? [reset, ...nextCommands(state, transaction)] : [reset]
}

/** All commands of a mail where they may be pipelined, otherwise the next one. */
function nextCommands<M>(state: State<M>, transaction: Transaction<M>): Action<M>[] {
  const { envelope, replies } = transaction
  const commands: [string, Expected<M>][] = [
    [`MAIL FROM:<${envelope.from}>${parametersOf(state, transaction)}`, { for: 'mail', of: transaction }],
    ...envelope.to.map((to, at): [string, Expected<M>] => [
      `RCPT TO:<${to}>${reportsOf(state, envelope, at)}`,
      { for: 'rcpt', of: transaction },
    ]),
    ['DATA', { for: 'data', of: transaction }],
  ]
  if (!offers(state, 'PIPELINING')) {
    const [line, next] = commands[replies.mail ? 1 + replies.recipients.length : 0] as [string, Expected<M>]
    return [command(state, line, next)]
  }
  for (const [, next] of commands) state.expected.push(next)
  return [{ do: 'write', bytes: commands.map(([line]) => `${line}${LINE_END}`).join('') }]
}

/** What MAIL declares of a mail, by the extensions that the server offers. */
function parametersOf<M>(state: State<M>, { envelope, content }: Transaction<M>): string {
  const { needs8Bit, needsSmtpUtf8, reports } = envelope
  const size = offers(state, 'SIZE') ? ` SIZE=${content.length}` : ''
  const body = needs8Bit && offers(state, '8BITMIME') ? ' BODY=8BITMIME' : ''
  const utf8 = needsSmtpUtf8 && offers(state, 'SMTPUTF8') ? ' SMTPUTF8' : ''
  const about = reports && offers(state, 'DSN') ? ` RET=${reports.returns ?? 'HDRS'} ENVID=${xtext(reports.envelopeId)}` : ''
  return `${size}${body}${utf8}${about}`
}

/** What RCPT asks for. Failures and delays are reported unless the sender wants no reports at all. */
function reportsOf<M>(state: State<M>, { reports }: Envelope, at: number): string {
  if (!reports || !offers(state, 'DSN')) return ''
  const { notify = [], original = null } = reports.recipients?.[at] ?? {}
  const wanted = notify.includes('NEVER') ? 'NEVER' : notify.includes('SUCCESS') ? 'SUCCESS,FAILURE,DELAY' : 'FAILURE,DELAY'
  const [type = '', ...address] = original?.split(';') ?? []
  return ` NOTIFY=${wanted}${original === null ? '' : ` ORCPT=${type};${xtext(address.join(';'))}`}`
}

/** Text that can be the value of a parameter (RFC 3461 §4). */
const xtext = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => (byte > 0x20 && byte < 0x7f && byte !== PLUS && byte !== EQUALS ? String.fromCharCode(byte) : hex(byte)))
    .join('')

const PLUS = 0x2b
const EQUALS = 0x3d
const hex = (byte: number): string => `+${byte.toString(16).toUpperCase().padStart(2, '0')}`

/** The extension without which the server cannot take a mail. A server that names no size, or 0, has no fixed limit (RFC 1870). */
export function lackedBy<M>(
  state: State<M>,
  { needs8Bit, needsSmtpUtf8 }: Envelope,
  size: number,
): 'SIZE' | '8BITMIME' | 'SMTPUTF8' | null {
  const sizeMax = Number(state.extensions.get('SIZE')?.[0] ?? 0)
  if (sizeMax > 0 && size > sizeMax) return 'SIZE'
  if (needsSmtpUtf8 && !offers(state, 'SMTPUTF8')) return 'SMTPUTF8'
  // SMTPUTF8 requires 8BITMIME (RFC 6531 §3.1).
  return needs8Bit && !offers(state, '8BITMIME') && !offers(state, 'SMTPUTF8') ? '8BITMIME' : null
}

/** The stage whose reply a mail waits for. */
export const stageOf = <M>({ replies, envelope }: Transaction<M>): Stage =>
  replies.mail === undefined ? 'MAIL' : replies.recipients.length < envelope.to.length ? 'RCPT' : 'DATA'

/** What follows from a reply about a mail. */
export function transacting<M>(state: State<M>, { for: what, of }: Extract<Expected<M>, { of: unknown }>, reply: Reply): Action<M>[] {
  switch (what) {
    case 'rset':
      return offers(state, 'PIPELINING') ? [] : nextCommands(state, of)
    case 'mail':
      of.replies.mail = reply
      if (offers(state, 'PIPELINING')) return []
      return isOk(reply) ? nextCommands(state, of) : finish(state, of, { is: 'refused', stage: 'MAIL', reply })
    case 'rcpt':
      of.replies.recipients.push(reply)
      if (offers(state, 'PIPELINING')) return []
      return isRefusedByAll(of) ? giveUp(state, of, { is: 'refused', stage: 'RCPT', reply }) : nextCommands(state, of)
    case 'data':
      if (isIntermediate(reply)) return sendContent(state, of)
      of.replies.data = reply
      // A server that accepts what it has not got is out of step.
      return [...giveUp(state, of, { is: 'refused', stage: 'DATA', reply }), ...(isOk(reply) ? close(state) : [])]
    case 'body':
      return state.unended === of ? repliedEarly(state, of, reply) : replied(state, of, reply)
    default:
      return what satisfies never
  }
}

function sendContent<M>(state: State<M>, transaction: Transaction<M>): Action<M>[] {
  state.expected.push({ for: 'body', of: transaction })
  // A server may ask for the content although it has refused the sender or all recipients (RFC 2920 §3.1): it gets none.
  if (!isOk(transaction.replies.mail) || isRefusedByAll(transaction)) return [{ do: 'write', bytes: `.${LINE_END}` }]
  // After the reply to DATA, only the end of the connection says that there will be no mail.
  if (transaction.mayBeSent?.() === false) return [{ do: 'fail', why: 'the mail is not to be sent' }]
  const { content } = transaction
  if (content.length > AT_ONCE_BYTES_MAX) {
    state.unended = transaction
    return [{ do: 'write content', pieces: fewer(withDots(content)) }]
  }
  transaction.hasBody = true
  return [{ do: 'write content', pieces: fewer([...withDots(content), endOf(content)]) }]
}

/** Sockets take about so much at once. The end of more than that waits until the rest has left, because a server that lacks it has no mail. */
const AT_ONCE_BYTES_MAX = 64 * 1024

/** Ends the content whose other bytes were written. */
export function endContent<M>(state: State<M>): Action<M>[] {
  const { unended } = state
  if (!unended) return []
  state.unended = null
  unended.hasBody = true
  const end: Action<M> = { do: 'write', bytes: endOf(unended.content) }
  return state.isClosing ? [end, ...quit(state)] : [end]
}

/** The reply to the content. If it asks for more, it may not be the last one, so that the session is out of step. */
function replied<M>(state: State<M>, transaction: Transaction<M>, reply: Reply): Action<M>[] {
  transaction.replies.content = reply
  if (isOk(reply)) return finish(state, transaction, refusalOf(transaction.replies) ?? { is: 'accepted', reply })
  if (!isIntermediate(reply)) return finish(state, transaction, refusalOf(transaction.replies) ?? { is: 'refused', stage: 'DATA', reply })
  return [...finish(state, transaction, refusalOf(transaction.replies) ?? { is: 'uncertain', reply }), ...close(state)]
}

/**
 * A reply before the end of the content. It may be followed by a reply to the end, so the session carries no further mail. A refused mail
 * gets no end, without which the server cannot take it. If the server asks for more, it has not replied to the mail.
 */
function repliedEarly<M>(state: State<M>, transaction: Transaction<M>, reply: Reply): Action<M>[] {
  if (isIntermediate(reply)) return [{ do: 'fail', why: 'unexpected reply' }]
  const finished = replied(state, transaction, reply)
  if (!isOk(reply)) return [...finished, ...close(state)]
  state.isClosing = true
  return finished
}

const isRefusedByAll = <M>({ replies: { recipients }, envelope }: Transaction<M>): boolean =>
  recipients.length === envelope.to.length && !recipients.some(isOk)

/** The first refusal that concerns the main recipient. Recipients of copies may have been accepted. */
export function refusalOf({ mail, recipients }: Replies): Refusal | null {
  if (mail && !isOk(mail)) return { is: 'refused', stage: 'MAIL', reply: mail }
  const [main] = recipients
  return main && !isOk(main) ? { is: 'refused', stage: 'RCPT', reply: main } : null
}

/** Ends a mail whose sender and perhaps recipients the server has accepted. */
function giveUp<M>(state: State<M>, transaction: Transaction<M>, result: Result): Action<M>[] {
  state.needsReset = true
  return finish(state, transaction, refusalOf(transaction.replies) ?? result)
}

function finish<M>(state: State<M>, transaction: Transaction<M>, result: Result): Action<M>[] {
  state.transactions.splice(state.transactions.indexOf(transaction), 1)
  state.hadSuccess = result.is === 'accepted'
  return [{ do: 'finish', mail: transaction.mail, result: { ...result, replies: transaction.replies } }]
}

const DOT = 0x2e
const END = Buffer.from(LINE_END)
const ONE_DOT = Buffer.from('.')
const LAST_LINE = Buffer.from('.\r\n')
const END_AND_LAST_LINE = Buffer.from('\r\n.\r\n')
const PIECES_MAX = 20
const LINE_WITH_DOT = Buffer.from('\r\n.')

/** The content without its end, in pieces, so that it is not copied. A dot at the start of a line is doubled (RFC 5321 §4.5.2). */
function withDots(content: Buffer): Buffer[] {
  const pieces: Buffer[] = content[0] === DOT ? [ONE_DOT] : []
  let start = 0
  for (let at = content.indexOf(LINE_WITH_DOT); at !== -1; at = content.indexOf(LINE_WITH_DOT, start)) {
    pieces.push(content.subarray(start, at + END.length), ONE_DOT)
    start = at + END.length
    // The dot itself, so that it is not found again.
    pieces.push(content.subarray(start, ++start))
  }
  pieces.push(content.subarray(start))
  return pieces
}

const endOf = (content: Buffer): Buffer =>
  content.length === 0 || content.subarray(-END.length).equals(END) ? LAST_LINE : END_AND_LAST_LINE

/** Each piece of a write costs something. */
const fewer = (pieces: Buffer[]): Buffer[] => (pieces.length > PIECES_MAX ? [Buffer.concat(pieces)] : pieces)

/**
 * Sending mails in an open SMTP session. With PIPELINING (RFC 2920), all commands of a mail are one write; the reply to DATA decides
 * whether its content follows. Pure.
 */
import type { Reply } from './replies.ts'
import {
  type Action,
  command,
  type Expected,
  isOk,
  LINE_END,
  type MailResult,
  offers,
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
  const { envelope, mailReply, recipients, content } = transaction
  const size = offers(state, 'SIZE') ? ` SIZE=${content.length}` : ''
  const commands: [string, Expected<M>][] = [
    [`MAIL FROM:<${envelope.from}>${size}`, { for: 'mail', of: transaction }],
    ...envelope.to.map((to): [string, Expected<M>] => [`RCPT TO:<${to}>`, { for: 'rcpt', of: transaction }]),
    ['DATA', { for: 'data', of: transaction }],
  ]
  if (!offers(state, 'PIPELINING')) {
    const [line, next] = commands[mailReply ? 1 + recipients.length : 0] as [string, Expected<M>]
    return [command(state, line, next)]
  }
  for (const [, next] of commands) state.expected.push(next)
  return [{ do: 'write', bytes: commands.map(([line]) => `${line}${LINE_END}`).join('') }]
}

/** The stage whose reply a mail waits for. */
export const stageOf = <M>({ mailReply, recipients, envelope }: Transaction<M>): Stage =>
  mailReply === undefined ? 'MAIL' : recipients.length < envelope.to.length ? 'RCPT' : 'DATA'

/** What follows from a reply about a mail. */
export function transacting<M>(state: State<M>, { for: what, of }: Extract<Expected<M>, { of: unknown }>, reply: Reply): Action<M>[] {
  switch (what) {
    case 'rset':
      return offers(state, 'PIPELINING') ? [] : nextCommands(state, of)
    case 'mail':
      of.mailReply = reply
      if (offers(state, 'PIPELINING')) return []
      return isOk(reply) ? nextCommands(state, of) : finish(state, of, { is: 'refused', stage: 'MAIL', reply })
    case 'rcpt':
      of.recipients.push(reply)
      if (offers(state, 'PIPELINING')) return []
      return isRefusedByAll(of) ? giveUp(state, of, { is: 'refused', stage: 'RCPT', reply }) : nextCommands(state, of)
    case 'data':
      return reply.code === 354 ? sendContent(state, of) : giveUp(state, of, { is: 'refused', stage: 'DATA', reply })
    case 'body':
      return finish(state, of, refusalOf(of) ?? (isOk(reply) ? { is: 'accepted', reply } : { is: 'refused', stage: 'DATA', reply }))
    default:
      return what satisfies never
  }
}

function sendContent<M>(state: State<M>, transaction: Transaction<M>): Action<M>[] {
  state.expected.push({ for: 'body', of: transaction })
  // A server may ask for the content although it has refused the sender or all recipients (RFC 2920 §3.1): it gets none.
  if (!isOk(transaction.mailReply) || isRefusedByAll(transaction)) return [{ do: 'write', bytes: `.${LINE_END}` }]
  transaction.hasBody = true
  return [{ do: 'write', bytes: withDots(transaction.content) }]
}

const isRefusedByAll = <M>({ recipients, envelope }: Transaction<M>): boolean =>
  recipients.length === envelope.to.length && !recipients.some(isOk)

/** The first refusal that concerns the main recipient. Recipients of copies may have been accepted. */
function refusalOf<M>({ mailReply, recipients }: Transaction<M>): MailResult | null {
  if (mailReply && !isOk(mailReply)) return { is: 'refused', stage: 'MAIL', reply: mailReply }
  const [main] = recipients
  return main && !isOk(main) ? { is: 'refused', stage: 'RCPT', reply: main } : null
}

/** Ends a mail whose sender and perhaps recipients the server has accepted. */
function giveUp<M>(state: State<M>, transaction: Transaction<M>, result: MailResult): Action<M>[] {
  state.needsReset = true
  return finish(state, transaction, refusalOf(transaction) ?? result)
}

function finish<M>({ transactions }: State<M>, transaction: Transaction<M>, result: MailResult): Action<M>[] {
  transactions.splice(transactions.indexOf(transaction), 1)
  return [{ do: 'finish', mail: transaction.mail, result }]
}

const DOT = 0x2e
const END = Buffer.from(LINE_END)
const ONE_DOT = Buffer.from('.')
const LINE_WITH_DOT = Buffer.from('\r\n.')

/** The content with its end. A dot at the start of a line is doubled (RFC 5321 §4.5.2). */
function withDots(content: Buffer): Buffer {
  const pieces: Buffer[] = content[0] === DOT ? [ONE_DOT] : []
  let start = 0
  for (let at = content.indexOf(LINE_WITH_DOT); at !== -1; at = content.indexOf(LINE_WITH_DOT, start)) {
    pieces.push(content.subarray(start, at + END.length), ONE_DOT)
    start = at + END.length
    // The dot itself, so that it is not found again.
    pieces.push(content.subarray(start, ++start))
  }
  const hasEnd = content.length === 0 || content.subarray(-END.length).equals(END)
  return Buffer.concat([...pieces, content.subarray(start), ...(hasEnd ? [] : [END]), ONE_DOT, END])
}

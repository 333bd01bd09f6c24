/** The steps of an attempt, and one outcome for each recipient, from the replies of a host. Pure. */

import type { Reply } from '../../../lib/smtp/replies.ts'
import type { Replies, Stage } from '../../../lib/smtp/session.ts'
import { CLOSING, isIntermediate, isOk } from '../../../lib/smtp/state.ts'
import type { Peer } from '../smtp/failures.ts'
import { type ConnectionFault, replyOf } from '../smtp/words.ts'
import type { DeliveryStep, RecipientOutcome } from './outcome.ts'
import { refusedHere } from './route.ts'

export type Outcomes = { steps: DeliveryStep[]; recipients: Map<string, RecipientOutcome> }

/**
 * What happened to a mail at a host. `broken`: the connection was lost at this stage; with `hasBody` after the last byte of the mail, so that
 * the host may have it.
 */
export type Transcript = { host: string; peer: Peer; replies: Replies; broken?: Broken }

type Broken = { stage: Stage; reason: string; hasBody: boolean; fault: ConnectionFault | undefined }

export function outcomesOf(to: readonly string[], transcript: Transcript): Outcomes {
  const { replies } = transcript
  const hasRecipients = replies.recipients.some(isOk)
  const recipients = to.map((address, index): [string, RecipientOutcome] => {
    const reply = replies.recipients[index]
    return [address, outcomeOf(transcript, reply, hasRecipients)]
  })
  const isLost = recipients.some(([, outcome]) => outcome.is === 'uncertain' || (outcome.is === 'temporary' && !outcome.reply))
  return { steps: stepsOf(to, transcript, hasRecipients, isLost), recipients: new Map(recipients) }
}

/** What happened to a recipient: the first refusal counts. `rcpt` is the reply about the recipient. */
function outcomeOf({ host, peer, replies, broken }: Transcript, rcpt: Reply | undefined, hasRecipients: boolean): RecipientOutcome {
  const fault = broken?.fault && { fault: broken.fault }
  const lost: RecipientOutcome = { is: 'temporary', reason: broken?.reason ?? 'The host sent no reply.', host, ...fault, scope: 'site' }
  if (!replies.mail) return lost
  if (!isOk(replies.mail)) return { ...refusalOf(host, replies.mail), isOfSender: true }
  if (!rcpt) return lost
  if (isTooMany(rcpt, hasRecipients)) return temporary(host, rcpt)
  if (!isOk(rcpt)) return refusalOf(host, rcpt)
  if (replies.data) return refusalOf(host, replies.data)
  if (!replies.content) return broken?.hasBody ? { is: 'uncertain', reason: broken.reason, host, ...fault } : lost
  // It asks for more when there is no more: whether the host has the mail is not known.
  if (isIntermediate(replies.content)) return { is: 'uncertain', reason: replyOf(replies.content).response, host }
  return isOk(replies.content) ? { is: 'delivered', host, peer, reply: replyOf(replies.content) } : refusalOf(host, replies.content)
}

/** Too many recipients, and not a full mailbox (RFC 5321 §4.5.3.1.10). */
const isTooMany = (rcpt: Reply, hasRecipients: boolean): boolean => rcpt.code === 552 && hasRecipients

/** A bad sequence of commands is a problem of the session and not of the mail. */
const BAD_SEQUENCE = 503
type Refused = Extract<RecipientOutcome, { is: 'temporary' | 'permanent' }>

function refusalOf(host: string, reply: Reply): Refused {
  if (reply.code < 500 || reply.code === BAD_SEQUENCE) return temporary(host, reply)
  const { response } = replyOf(reply)
  return { is: 'permanent', reason: response, host, reply: replyOf(reply) }
}

function temporary(host: string, reply: Reply): Refused {
  const read = replyOf(reply)
  return { is: 'temporary', reason: read.response, host, reply: read, scope: reply.code === CLOSING ? 'site' : 'recipient' }
}

/** The refusals in the order in which they came, and where the connection was lost if a recipient `isLost` by that. */
function stepsOf(
  to: readonly string[],
  { host, peer, replies, broken }: Transcript,
  hasRecipients: boolean,
  isLost: boolean,
): DeliveryStep[] {
  const refused = (stage: Stage, reply: Reply | undefined, address?: string): DeliveryStep[] => {
    if (!reply || isOk(reply)) return []
    const read = replyOf(reply)
    const about = {
      ...(address !== undefined && { to: address }),
      ...(reply === replies.content && isIntermediate(reply) && { uncertain: true as const }),
    }
    return [{ is: 'failed', host, stage, peer, reply: read, reason: read.response, ...about }]
  }
  const steps = [...unencrypted(host, peer), ...refused('MAIL', replies.mail)]
  if (isOk(replies.mail)) for (const [index, reply] of replies.recipients.entries()) steps.push(...refused('RCPT', reply, to[index]))
  if (isOk(replies.mail) && hasRecipients) steps.push(...refused('DATA', replies.data), ...refused('DATA', replies.content))
  if (broken && isLost) {
    const { stage, reason, hasBody } = broken
    const address = stage === 'RCPT' ? to[replies.recipients.length] : undefined
    const about = { ...(address !== undefined && { to: address }), ...(hasBody && { uncertain: true as const }) }
    steps.push({ is: 'failed', host, stage, peer, reason, ...about })
  }
  return steps
}

/** Each mail over a connection without encryption has a step that says so. */
const unencrypted = (host: string, peer: Peer): DeliveryStep[] =>
  peer.plainBecause === undefined
    ? []
    : [
        {
          is: 'failed',
          host,
          stage: 'STARTTLS',
          peer,
          reason: peer.plainBecause,
          noTls: true,
          required: false,
          fallback: 'plaintext',
        },
      ]

/** Why a mail is not sent over a host that does not offer the extension (D-MTA-11). */
const MISSING: Record<'SIZE' | '8BITMIME' | 'SMTPUTF8', [code: number, enhancedCode: string, reason: string]> = {
  SIZE: [552, '5.3.4', 'The email is larger than the host accepts.'],
  '8BITMIME': [554, '5.6.3', 'The email contains non-ASCII bytes, which the host does not accept.'],
  SMTPUTF8: [553, '5.6.7', 'The email has addresses in UTF-8, which the host does not accept.'],
}

/** The outcomes of a mail that is not sent, because the host does not offer what it needs. */
export function lackingOutcomes(to: readonly string[], host: string, peer: Peer, missing: keyof typeof MISSING): Outcomes {
  const outcome = refusedHere(...MISSING[missing])
  const [, , reason] = MISSING[missing]
  return {
    steps: [...unencrypted(host, peer), { is: 'failed', host, stage: 'DATA', peer, reason }],
    recipients: sameFor(to, outcome),
  }
}

/** The same outcome for all recipients. */
export const sameFor = (to: readonly string[], outcome: RecipientOutcome): Map<string, RecipientOutcome> =>
  new Map(to.map((address) => [address, outcome]))

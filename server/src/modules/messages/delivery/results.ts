/** What the outcome of an attempt means for a recipient of an email. Pure. */
import type { RecipientOutcome } from '../../../infra/outgoing/mx/outcome.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import {
  type ClaimedRecipient,
  type Classification,
  classificationOf,
  classificationOfExpiry,
  classify,
  expiresAt,
  isDelayNoticeDue,
  type MailRow,
  nextAttempt,
  type PastAttempt,
  type RecipientResult,
} from '../../mta/index.ts'

/**
 * Decisions against an attempt: the email has expired or was cancelled, its user left the subscription type, its address was suppressed, or it has to
 * wait. `unsaved`: the host may have the email, and its reply cannot be saved.
 */
export type Unattempted =
  | { is: 'expired' }
  | { is: 'unsaved'; reason: string }
  | { is: 'cancelled'; reason: 'campaign_stopped' | 'rescheduled' | 'requested' | 'not_subscribed' | 'not_confirmed' }
  | { is: 'suppressed'; reason: string }
  | { is: 'postponed'; until: Date; limit: string | null }
  | { is: 'held' }

/** The limit of an email that waits because its site gets no new connection now. */
export const NEW_CONNECTIONS = 'new connections'

/** What happened to a recipient: the outcome of an attempt, or a decision against one. */
export type Outcome = RecipientOutcome | Unattempted

/** A recipient with its outcome, and what follows from it. */
export type Decided = {
  recipient: ClaimedRecipient
  outcome: Outcome
  result: RecipientResult
  /** Of failures. */
  classification: Classification | null
  /** A delay notice is due. */
  isNotified: boolean
  /** Whether it counts as an attempt, with a start and an end. */
  isAttempt: boolean
}

/**
 * The time of the decision, a random number from 0 to 1 for the time of the next attempt, and the addresses by which hosts know this server, which
 * are asked for if there is a failure.
 */
export type Now = { at: Date; random: number; ownAddresses(): readonly string[] }

/** Decides on one recipient. */
export function decide(mail: MailRow, recipient: ClaimedRecipient, outcome: Outcome, site: string | null, now: Now): Decided {
  const { mail_id, no, lease_token } = recipient
  const base = {
    mail_id,
    no,
    lease_token,
    site,
    due_at: null,
    is_untried: false,
    is_held: false,
    history: historyOf(recipient, outcome, now.at),
  }
  const done = (
    state: 'delivered' | 'failed' | 'expired' | 'cancelled',
    classification: Classification | null = null,
    isAttempt = true,
  ) => ({
    recipient,
    outcome,
    result: { ...base, state, is_untried: !isAttempt },
    classification,
    isNotified: false,
    isAttempt,
  })
  switch (outcome.is) {
    case 'delivered':
      return done('delivered')
    case 'permanent':
      return done('failed', ofRefusal(outcome, now.ownAddresses()))
    case 'expired':
      return done('expired', ofExpiry(mail, recipient, now.ownAddresses()))
    case 'unsaved':
      return done('failed')
    case 'cancelled':
      return done('cancelled', null, false)
    case 'suppressed':
      return done('failed', null, false)
    case 'temporary':
    case 'uncertain':
      return deferred(mail, recipient, outcome, base, now)
    case 'postponed':
    case 'held': {
      const due_at = outcome.is === 'postponed' ? dueAfterWait(outcome, mail) : heldUntil(mail)
      const result = { ...base, state: 'queued' as const, due_at, is_untried: true, is_held: outcome.is === 'held', history: null }
      return { recipient, outcome, result, classification: null, isNotified: false, isAttempt: false }
    }
    default:
      return outcome satisfies never
  }
}

/** Held email is looked at when its time is over, although nothing resumes it. */
const heldUntil = ({ expires_at }: MailRow) => new Date(expires_at.getTime() + 1)

/** It is given up when its time is over, as held email is if a limit of ours keeps it until then. A site is suspended because it fails. */
const dueAfterWait = ({ until, limit }: Extract<Unattempted, { is: 'postponed' }>, mail: MailRow) =>
  until <= mail.expires_at ? until : limit === 'suspended' ? mail.expires_at : heldUntil(mail)

const NOT_SAVED = 'The reply of the host could not be saved.'

/** Of a recipient that was delivered to. */
export const UNSAVED: Outcome = { is: 'unsaved', reason: NOT_SAVED }

/**
 * The outcome that is saved instead of one that the database refuses. It leaves out the reply of the host, which may be the reason. Email
 * that the host may have accepted is never delivered again.
 */
export function reduced(outcome: Outcome): Outcome {
  switch (outcome.is) {
    case 'delivered':
    case 'uncertain':
      return UNSAVED
    case 'permanent':
      return { is: 'permanent', reason: NOT_SAVED }
    case 'temporary':
      return { is: 'temporary', reason: NOT_SAVED, scope: outcome.scope }
    default:
      return outcome
  }
}

type Failure = Extract<RecipientOutcome, { is: 'temporary' | 'uncertain' }>

/** It is tried again, or given up at the end of its lifetime: the next attempt finds that. */
function deferred(mail: MailRow, recipient: ClaimedRecipient, outcome: Failure, base: Omit<RecipientResult, 'state'>, now: Now): Decided {
  const reply = outcome.is === 'temporary' ? outcome.reply : undefined
  const isOfSender = outcome.is === 'temporary' && outcome.isOfSender === true
  // Temporary whatever the code is: a greeting with 554 and a bad sequence of commands are not about the recipient (D-MTA-10).
  const said = classify(reply ?? outcome.reason, { isPermanent: false, isOfSender, ownAddresses: now.ownAddresses() })
  const classification = classificationOf(said.label, false)
  const next = nextAttempt(mail.priority, recipient.attempts, classification, now.at, now.random, ownSchedule(mail))
  const due_at = new Date(Math.min(next.getTime(), mail.expires_at.getTime()))
  const isNotified = isDelayNoticeDue(mail.created_at, recipient.last_attempt_at, now.at)
  return { recipient, outcome, result: { ...base, state: 'queued', due_at }, classification, isNotified, isAttempt: true }
}

/** A refusal without a host is one of ours: its codes say what it means, because its words are not those of a mail server. */
function ofRefusal(
  { reply, reason, host, isOfSender }: Extract<Outcome, { is: 'permanent' }>,
  ownAddresses: readonly string[],
): Classification {
  if (!reply || host !== undefined) return classify(reply ?? reason, { isOfSender: isOfSender === true, ownAddresses })
  return reply.enhancedCode === NO_DOMAIN ? classificationOf('dns', true) : classify({ ...reply, response: '' })
}

/** Of ours: a domain is gone for a while too, by a mistake at its registrar, in its zone or at a name server of ours. */
const NO_DOMAIN = '5.1.2'

function ofExpiry(
  { priority, created_at, expires_at }: MailRow,
  { last_error, was_sender_refused, due_at }: ClaimedRecipient,
  ownAddresses: readonly string[],
): Classification {
  const usual = expiresAt(priority, created_at).getTime() - CLOCKS_MS
  const last = last_error === null ? null : classify(last_error, { isPermanent: false, isOfSender: was_sender_refused, ownAddresses })
  const isCutShort = due_at > expires_at || expires_at.getTime() < usual
  return classificationOfExpiry(last, { isCutShort, isOfSender: was_sender_refused })
}

/** An email is given its end a little before it is saved. */
const CLOCKS_MS = MINUTE_MS

/** The times of its campaign; undefined for those of its priority. */
const ownSchedule = ({ retry_minutes }: MailRow) =>
  retry_minutes ? { delaysMs: retry_minutes.map((minutes) => minutes * MINUTE_MS) } : undefined

const OUTCOMES: Partial<Record<Outcome['is'], PastAttempt['outcome']>> = {
  delivered: 'delivered',
  permanent: 'failed',
  temporary: 'deferred',
  uncertain: 'uncertain',
  unsaved: 'uncertain',
  expired: 'expired',
  cancelled: 'cancelled',
  suppressed: 'failed',
}

/** An attempt as timelines show it; null for a wait. */
function historyOf({ attempt }: ClaimedRecipient, outcome: Outcome, at: Date): PastAttempt | null {
  const what = OUTCOMES[outcome.is]
  if (!what) return null
  const base = { attempt, at: at.toISOString(), outcome: what }
  if (!('reply' in outcome) && !('host' in outcome)) return { ...base, ...('reason' in outcome && { detail: outcome.reason }) }
  const { reply, host } = outcome as Extract<Outcome, { is: 'delivered' | 'temporary' }>
  return {
    ...base,
    ...(host !== undefined && { host }),
    ...('peer' in outcome && outcome.peer.ip !== undefined && { ip: outcome.peer.ip }),
    ...('peer' in outcome && outcome.peer.tls && { tls: `${outcome.peer.tls.protocol} ${outcome.peer.tls.cipher}` }),
    ...(reply && { code: reply.code, response: reply.response.slice(0, RESPONSE_LENGTH_MAX) }),
    ...(reply?.enhancedCode !== undefined && { enhanced_code: reply.enhancedCode }),
    ...('isOfSender' in outcome && { sender_refused: true as const }),
    ...('reason' in outcome && !reply && { detail: outcome.reason.slice(0, RESPONSE_LENGTH_MAX) }),
  }
}

const RESPONSE_LENGTH_MAX = 500

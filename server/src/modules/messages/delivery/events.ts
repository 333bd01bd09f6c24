/** Makes the webhook events of an attempt to deliver an email, in the order in which things happened (D-MTA-2). Pure. */
import type { DeliveryStep } from '../../../infra/outgoing/mx/outcome.ts'
import type { CompletedMail, MailRow, Site, TlsCount } from '../../mta/index.ts'
import type { UserRow } from '../../users/index.ts'
import { type WebhookEvent, webhookEvents } from '../../webhook-events/index.ts'
import { messageMembers, shortened } from '../message-members.ts'
import { failureEvents, replyMembers } from '../smtp-events.ts'
import type { Decided, Outcome } from './results.ts'

/** What an attempt did, or a decision against one, for recipients of one domain. */
export type MailAttempt = {
  mail: MailRow
  startedAt: Date
  elapsedMs: number
  steps: readonly DeliveryStep[]
  decided: Decided[]
  /** Where it went, if that was found. */
  site: Site | null
  tls: readonly TlsCount[]
  /** The connections that the site may have, if it postponed the email and an event is due. */
  exceeded: number | null
  /** The day of the warm-up plan whose ceiling it was taken from. */
  warmUpDay?: string
}

/** What is known of the message of an email: its user, the email once it is complete, and what followed from its bounces. */
export type Known = {
  user: UserRow | undefined
  completed: CompletedMail | undefined
  isErased: boolean
  /** Addresses that were suppressed. */
  suppressed: ReadonlySet<string>
  /** The event types that an endpoint is subscribed to. */
  wanted: ReadonlySet<string>
}

/**
 * The events of an attempt: its start, its steps, what happened to each recipient, and its end. Those that every email has are made only for
 * endpoints that want them.
 */
export function eventsOfAttempt(attempt: MailAttempt, known: Known, now: Date): WebhookEvent[] {
  const { mail, startedAt, elapsedMs } = attempt
  // Nothing tells of those that were erased meanwhile, whose address is gone.
  const decided = attempt.decided.filter(({ recipient }) => recipient.address !== '')
  // Those that wait because their domain is warmed up are no part of the attempt.
  const attempted = decided.filter(({ isAttempt }) => isAttempt)
  const first = attempted[0] ?? decided[0]
  if (!first || known.isErased || mail.source === 'report') return []
  const about = aboutMail(mail, known.user, first)
  const to = addressesOf(attempted)
  const steps = attempt.steps.filter((step) => !('to' in step) || step.to === undefined || to.includes(step.to))
  const whole = { ...about, to: oneOrAll(addressesOf(decided)) }
  const each = (one: Decided) => ({ ...about, to: one.recipient.address })
  const wants = ({ type }: { type: string }) => known.wanted.has(type)
  const outcome = [
    ...decided.flatMap((one) => gaveUp(each(one), one)),
    ...(wants(webhookEvents.deliveryDelivered) ? decided.flatMap((one) => delivered(each(one), one, elapsedMs)) : []),
    ...decided.flatMap((one) => failedForGood(each(one), one, known.suppressed.has(one.recipient.address))),
    ...decided.flatMap((one) => delayed(each(one), mail, one)),
    ...(wants(webhookEvents.deliveryCompleted) ? completion(whole, mail, known.completed, now) : []),
    ...rescheduled(whole, mail, decided),
    ...limitExceeded(attempt, first),
  ]
  if (attempted.length === 0) return outcome
  const tried = { ...about, to: oneOrAll(to) }
  const queued_ms = Math.max(0, startedAt.getTime() - mail.created_at.getTime())
  return [
    ...(wants(webhookEvents.deliveryAttemptStart) ? [webhookEvents.deliveryAttemptStart.of({ ...tried, queued_ms }, startedAt)] : []),
    ...steps.flatMap((step) => stepEvents(tried, step)),
    ...outcome,
    ...(wants(webhookEvents.deliveryAttemptEnd)
      ? [webhookEvents.deliveryAttemptEnd.of({ ...tried, elapsed_ms: Math.round(elapsedMs), result: resultOf(attempted) })]
      : []),
  ]
}

const addressesOf = (decided: Decided[]): string[] => decided.map(({ recipient }) => recipient.address)

const oneOrAll = (addresses: string[]): string | string[] => (addresses.length === 1 ? (addresses[0] as string) : addresses)

function aboutMail(mail: MailRow, user: UserRow | undefined, { recipient, isAttempt }: Decided) {
  const { attempt, no, domain } = recipient
  return {
    ...aboutMessage(mail, user),
    from: mail.mail_from,
    recipient_domain: domain,
    ...(isAttempt && { attempt, attempt_id: `${mail.id}.${no === 0 ? '' : `${no}.`}${attempt}` }),
    rfc_message_id: mail.rfc_message_id,
    ...(mail.envelope_id !== null && { envelope_id: mail.envelope_id }),
  }
}

/** An email that was submitted over SMTP is of no campaign and no user. */
function aboutMessage({ id, campaign_id, journey_id }: MailRow, user: UserRow | undefined) {
  if (campaign_id === null) return { message_id: id, channel: 'email' as const }
  const { to: _, ...about } = messageMembers({ id, campaign_id, channel: 'email', journey_id }, user, null)
  return about
}

type About = Omit<ReturnType<typeof aboutMail>, 'to'> & { to: string | string[] }

function stepEvents(about: About, step: DeliveryStep): WebhookEvent[] {
  switch (step.is) {
    case 'mx-lookup-failed': {
      const { domain, reason, fallback } = step
      return [webhookEvents.deliveryMxLookupFailed.of({ ...about, domain, reason: shortened(reason), ...(fallback && { fallback }) })]
    }
    case 'null-mx':
      return [webhookEvents.deliveryNullMx.of({ ...about, domain: step.domain })]
    case 'ip-lookup-failed':
      return [webhookEvents.deliveryIpLookupFailed.of({ ...about, host: step.host, reason: shortened(step.reason) })]
    case 'failed':
      return failureEvents({ ...about, ...(step.to !== undefined && { to: step.to }) }, { ...step, reason: shortened(step.reason) })
    default:
      return step satisfies never
  }
}

function delivered(about: About, { outcome }: Decided, elapsedMs: number): WebhookEvent[] {
  if (outcome.is !== 'delivered') return []
  const { host, peer, reply } = outcome
  const queueId = /\bqueued as ([\w.-]{1,100})/i.exec(reply.response)?.[1]
  return [
    webhookEvents.deliveryDelivered.of({
      ...about,
      ...(queueId !== undefined && { queue_id: queueId }),
      host,
      ...(peer.ip !== undefined && { ip: peer.ip }),
      ...replyMembers(reply),
      ...(peer.tls && { tls: peer.tls }),
      elapsed_ms: Math.round(elapsedMs),
    }),
  ]
}

/** It was given up without a refusal: its time was over, it was cancelled, or what the host said could not be saved. */
function gaveUp(about: About, { outcome, recipient }: Decided): WebhookEvent[] {
  if (outcome.is === 'expired') return [webhookEvents.deliveryFailed.of({ ...about, reason: expiryOf(recipient.last_error) })]
  if (outcome.is === 'cancelled') return [webhookEvents.deliveryFailed.of({ ...about, reason: cancellationOf(outcome.reason) })]
  if (outcome.is === 'unsaved') return [webhookEvents.deliveryFailed.of({ ...about, reason: `uncertain: ${outcome.reason}` })]
  return []
}

const cancellationOf = (reason: Extract<Outcome, { is: 'cancelled' }>['reason']): string =>
  reason === 'not_subscribed' || reason === 'not_confirmed' ? reason : 'cancelled'

const expiryOf = (lastError: string | null) => shortened(lastError === null ? 'expired' : `expired: ${lastError}`)

/** The terminal event of a recipient that gets nothing. */
function failedForGood(about: About, { outcome, recipient, classification }: Decided, suppressed: boolean): WebhookEvent[] {
  const attempts = Math.max(1, recipient.attempts)
  const of = webhookEvents.deliveryDsnPermFail.of
  switch (outcome.is) {
    case 'permanent':
      return [
        of({
          ...about,
          diagnostic: shortened(outcome.reply?.response ?? outcome.reason),
          attempts,
          ...codesOf(outcome.reply),
          ...(classification && { classification: classification.label }),
          suppressed,
        }),
      ]
    case 'expired':
      return [
        of({
          ...about,
          diagnostic: expiryOf(recipient.last_error),
          attempts,
          classification: classification?.label ?? 'expired',
          suppressed,
        }),
      ]
    case 'suppressed':
      return [of({ ...about, diagnostic: 'The address is suppressed.', attempts, classification: 'suppressed', suppressed: true })]
    default:
      return []
  }
}

const codesOf = (reply: { code: number; enhancedCode?: string } | undefined) => ({
  ...(reply && { smtp_code: reply.code }),
  ...(reply?.enhancedCode !== undefined && { enhanced_code: reply.enhancedCode }),
})

const reasonOf = ({ outcome }: Decided): string =>
  shortened(
    outcome.is === 'temporary' || outcome.is === 'uncertain' ? ('reply' in outcome && outcome.reply?.response) || outcome.reason : '',
  )

/** A delay notice: at the first failure, and after hours. */
function delayed(about: About, { expires_at }: MailRow, one: Decided): WebhookEvent[] {
  const next = one.result.due_at
  if (!one.isNotified || !next) return []
  return [webhookEvents.deliveryDsnTempFail.of({ ...about, diagnostic: reasonOf(one), next_attempt_at: next, expires_at })]
}

function completion(about: About, mail: MailRow, completed: CompletedMail | undefined, now: Date): WebhookEvent[] {
  if (!completed) return []
  const { delivered, failed } = completed
  const elapsed_ms = Math.max(0, now.getTime() - mail.created_at.getTime())
  return [webhookEvents.deliveryCompleted.of({ ...about, elapsed_ms, delivered, failed })]
}

/** The site has as many connections as it may have. Told now and then, and not of each email. */
function limitExceeded({ site, exceeded }: MailAttempt, { result }: Decided): WebhookEvent[] {
  if (exceeded === null || !site || !result.due_at) return []
  return [webhookEvents.deliveryConcurrencyLimitExceeded.of({ host: site.label, next_attempt_at: result.due_at, limit: exceeded })]
}

/** At least one recipient is tried again after a failure, or waits because its domain is warmed up. */
function rescheduled(about: About, { expires_at }: MailRow, decided: Decided[]): WebhookEvent[] {
  const pending = decided.filter((one) => one.outcome.is === 'temporary' || one.outcome.is === 'uncertain' || isWarming(one))
  const [first] = pending
  if (!first) return []
  const next = Math.min(...pending.map(({ result }) => result.due_at?.getTime() ?? Number.MAX_SAFE_INTEGER))
  return [
    webhookEvents.queueRescheduled.of({
      ...about,
      next_attempt_at: new Date(next),
      expires_at,
      pending: pending.map(({ recipient }) => recipient.address),
      reason: isWarming(first) ? 'The mail site has reached today’s ceiling in the warm-up plan of the domain.' : reasonOf(first),
    }),
  ]
}

const isWarming = ({ outcome }: Decided): boolean => outcome.is === 'postponed' && outcome.limit === 'warm-up'

function resultOf(decided: Decided[]): 'delivered' | 'partial' | 'deferred' | 'failed' | 'expired' {
  const are = new Set(decided.map(({ result }) => result.state))
  if (are.size > 1) return are.has('delivered') ? 'partial' : are.has('queued') ? 'deferred' : 'failed'
  const [only] = are
  return only === 'delivered' || only === 'expired' ? only : only === 'queued' ? 'deferred' : 'failed'
}

/** Decides whether a message may be sent now, and turns provider responses into send results. Pure. */
import type { CampaignId, DomainId, ProviderId, SubscriptionId } from '../../lib/ids.ts'
import { attemptsIn, type MailRetries, retryDelayMs } from '../../lib/mail-retries.ts'
import type { Channel } from '../../lib/shapes.ts'
import { HOUR_MS } from '../../lib/times.ts'
import type { Utm } from '../../lib/utm.ts'
import { type Contact, type ProviderResponse, unreachable } from '../channels/index.ts'
import { type Consent, isSubscribed, type SuppressionReason } from '../subscriptions/index.ts'
import type { UserRow } from '../users/index.ts'
import type { MessageState, Reason } from './schema.ts'

/** What an attempt, or the decision against one, led to. `detail` is text for readers; `dueAt` is the time of the next attempt. */
export type SendResult = {
  state: Extract<MessageState, 'sent' | 'delivered' | 'deferred' | 'failed' | 'bounced' | 'skipped' | 'aborted' | 'unknown'>
  reason: Reason | null
  detail: string | null
  dueAt: Date | null
  code?: string | undefined
}

/** A send result without a further attempt. */
export const result = (state: SendResult['state'], reason: Reason | null = null, detail: string | null = null): SendResult => ({
  state,
  reason,
  detail,
  dueAt: null,
})

/** A send result that delays the message without an attempt. */
export const deferredUntil = (reason: Reason, dueAt: Date): SendResult => ({
  state: 'deferred',
  reason,
  detail: null,
  dueAt,
})

/** The members of a campaign that sending needs. */
export type SendingCampaign = {
  id: CampaignId
  name: string
  state: string
  is_paused: boolean
  subscription_id: SubscriptionId
  provider_id: ProviderId | null
  custom_domain_id: DomainId | null
  /** The lists whose members get no message of a trigger. None for a blast, whose audience was loaded without them. */
  exclusion_list_ids: readonly number[]
  expires_after_hours: number
  /** The variant for users who waited for the winner; null until it is chosen. */
  winner_variant: number | null
  waits_for_winner: boolean
  /** At most `limit` messages in each interval. */
  rate: { limit: number; interval_ms: number } | null
  /** The parameters that links get. */
  utm: Utm | null
  /** When its email is tried again; null for the times of all campaigns. */
  mail_retries: MailRetries | null
}

/** What decides about a user. */
type AboutUser = {
  user: Contact
  consent: Consent | undefined
  suppression: SuppressionReason | undefined
  /** The user is in an exclusion list of the campaign. */
  isExcluded: boolean
}

/** Why the state of a subscription type keeps its messages from a user, or null. */
export function optOutOf(consent: Consent | undefined): 'not_subscribed' | 'not_confirmed' | null {
  if (!consent) return 'not_subscribed'
  if (isSubscribed(consent)) return null
  return consent.state === 0 ? 'not_subscribed' : 'not_confirmed'
}

/** Why a user gets no message, or null. Checked when an audience is loaded, and again when a message is sent. */
export function skipReasonFor(channel: Channel, { user, consent, suppression, isExcluded }: AboutUser): Reason | null {
  if (isExcluded) return 'excluded'
  return optOutOf(consent) ?? unreachable(channel, user) ?? (suppression === undefined ? null : 'suppressed')
}

/** Whether a message counts towards caps once the user may have got it. */
export const countsToCaps = (consent: Consent | undefined): boolean => consent !== undefined && !consent.is_transactional

/** The data that is needed to decide on a message. Undefined means that it does not exist. */
export type SendContext<T> = {
  channel: Channel
  /** Including the next one. */
  attempts: number
  expiresAt: Date | null
  now: Date
  campaign: SendingCampaign | undefined
  user: UserRow | undefined
  consent: Consent | undefined
  suppression: SuppressionReason | undefined
  /** The user is in an exclusion list of the campaign. */
  isExcluded: boolean
  template: T | undefined
  /** The user's variant; null if the campaign has no variants. */
  variant: number | null
  /** The user of the message was merged, and the remaining user has a message with the same cause. */
  isDuplicate: boolean
  /** Another user who was merged into the same one has a message with the same cause that is being sent, and may or may not be sent. */
  waitsForOther: boolean
  /** The message waits until a winner is chosen. */
  isUndecided: boolean
  /** A member or an application has it sent again. */
  isResent: boolean
  /** The throttle that delays the message; null if none does, and then the message counts towards the caps. So this is called last. */
  throttle(): Throttle | null
}

/** A limit of the project's sending policy that delays a message, and until when. */
export type Throttle = { reason: 'quiet_hours' | 'frequency_cap'; at: Date }

const ATTEMPTS_MAX = 8
const RECHECK_MS = 30_000

/** Messages of a blast may be sent while its audience is still loading. */
export const SENDING_STATES: readonly string[] = ['running', 'loading']

/** Whether messages of a campaign may be sent now. A message is sent again after its campaign has finished too. */
export const isSending = ({ state, is_paused }: Pick<SendingCampaign, 'state' | 'is_paused'>, isResent = false): boolean =>
  (SENDING_STATES.includes(state) || (isResent && state === 'finished')) && !is_paused

export type Eligible<T> = { campaign: SendingCampaign; user: UserRow; template: T; consent: Consent; variant: number | null }

/** Decides whether a message may be sent now. Returns what sending needs, or a send result with the first reason found. */
export function checkEligibility<T>(context: SendContext<T>): Eligible<T> | SendResult {
  const { channel, attempts, expiresAt, now, campaign, user, consent, suppression, isExcluded, template } = context
  if (!campaign) return result('aborted', 'campaign_stopped')
  if (!isSending(campaign, context.isResent)) return resultOfStop(campaign, now)
  if (!user) return result('skipped', 'user_gone')
  if (context.isDuplicate) return result('skipped', 'duplicate')
  if (context.waitsForOther) return recheckedFrom(now)
  if (expiresAt !== null && now > expiresAt) return result('skipped', 'deadline_passed')
  const skipReason = skipReasonFor(channel, { user, consent, suppression, isExcluded })
  if (skipReason) return result('skipped', skipReason, skipReason === 'suppressed' ? suppression : null)
  if (context.isUndecided) return deferredUntil('waiting_for_winner', new Date(now.getTime() + RECHECK_MS))
  if (!template) return result('failed', 'no_template')
  // Every sender that claimed the message stopped. The message itself may be the cause.
  if (attempts > ATTEMPTS_MAX && attempts > attemptsMaxOf(campaign.mail_retries)) return result('failed', 'attempts_exhausted')
  const throttle = context.throttle()
  if (throttle) return resultOfThrottle(throttle, expiresAt)
  return { campaign, user, template, consent: consent as Consent, variant: context.variant }
}

/** The result for a message whose campaign does not send. It waits if the campaign is paused or rescheduled. */
export function resultOfStop({ state, is_paused }: Pick<SendingCampaign, 'state' | 'is_paused'>, now: Date): SendResult {
  const mayContinue = is_paused || state === 'aborting' || state === 'scheduled'
  if (!mayContinue) return result('aborted', 'campaign_stopped')
  return recheckedFrom(now)
}

/** Providers know a key for a day. The rest is for an attempt that takes long. */
const REPEATED_FOR_MS = 23 * HOUR_MS

const isKnownAt = (uncertainAt: Date, at: Date): boolean => at.getTime() - uncertainAt.getTime() <= REPEATED_FOR_MS

/** A provider may have the message, and it cannot be repeated, or is not to be sent any more. */
export const notRepeated: SendResult = result(
  'unknown',
  'uncertain',
  'An earlier attempt may have been accepted, and is not repeated any more.',
)

/** The result without an attempt of a message that may not be sent now. If a provider may have it, it is not certain that it was not sent. */
export const resultWithoutAttempt = (message: { uncertain_at: Date | null }, decided: SendResult): SendResult =>
  message.uncertain_at && decided.state !== 'deferred' ? notRepeated : decided

/** Whether a message can be given to a provider. One that a provider may have can only be repeated there, and only for a day. */
export const isRepeatable = (
  { uncertain_at, provider_id }: { uncertain_at: Date | null; provider_id: ProviderId | null },
  { idempotent, providerId }: { idempotent: boolean; providerId: ProviderId | null },
  now: Date,
): boolean => !uncertain_at || (idempotent && providerId === provider_id && isKnownAt(uncertain_at, now))

/** A send result that delays the message by 30 seconds, without a reason. `detail` says what it waits for. */
export const recheckedFrom = (now: Date, detail: string | null = null): SendResult => ({
  state: 'deferred',
  reason: null,
  detail,
  dueAt: new Date(now.getTime() + RECHECK_MS),
})

/**
 * The message waits, unless the wait would outlast its deadline. A cap is then the reason itself, because its window can be longer than any
 * deadline.
 */
function resultOfThrottle({ reason, at }: Throttle, expiresAt: Date | null): SendResult {
  if (expiresAt === null || at <= expiresAt) return deferredUntil(reason, at)
  const until = `until ${at.toISOString()}, which is after its deadline of ${expiresAt.toISOString()}.`
  return reason === 'frequency_cap'
    ? result('skipped', 'frequency_cap', `The frequency cap would delay the message ${until}`)
    : result('skipped', 'deadline_passed', `Quiet hours would delay the message ${until}`)
}

/**
 * The send result of a provider's response to attempt number `attempts`. `uncertainAt` is when a provider that is idempotent first got the message
 * without a reply. What cannot be repeated then is unknown.
 */
export function resultOf(
  outcome: ProviderResponse,
  attempts: number,
  now: Date,
  {
    expiresAt = null,
    retries = null,
    uncertainAt = null,
  }: { expiresAt?: Date | null; retries?: MailRetries | null; uncertainAt?: Date | null } = {},
): SendResult {
  switch (outcome.is) {
    case 'accepted':
      return result(outcome.delivered ? 'delivered' : 'sent')
    case 'rejected':
      return outcome.bounced
        ? { ...result('bounced', 'hard_bounce', outcome.reason), code: outcome.code }
        : { ...result('failed', 'provider_rejected', outcome.reason), code: outcome.code }
    case 'uncertain':
      return result('unknown', 'uncertain', outcome.reason)
    case 'deferred': {
      const dueAt = nextAttempt(attempts, now, outcome.retryAt, retries)
      const isLast = attempts >= attemptsMaxOf(retries) || (expiresAt !== null && dueAt > expiresAt)
      if (uncertainAt && (isLast || !isKnownAt(uncertainAt, dueAt))) return result('unknown', 'uncertain', outcome.reason)
      const base = isLast ? result('failed', 'attempts_exhausted', outcome.reason) : result('deferred', 'provider_deferred', outcome.reason)
      return { ...base, code: outcome.code, dueAt: isLast ? null : dueAt }
    }
    default:
      return outcome satisfies never
  }
}

const BACKOFF_FIRST_MS = 30_000
const BACKOFF_FACTOR = 4
const BACKOFF_MAX_MS = 6 * HOUR_MS

const attemptsMaxOf = (retries: MailRetries | null): number => (retries ? attemptsIn(retries) : ATTEMPTS_MAX)

/** 30 seconds after the first attempt, then four times as long each time, up to six hours; or as the campaign says (D-MTA-35). */
const backoffAfter = (attempts: number, retries: MailRetries | null): number =>
  retries ? retryDelayMs(retries, attempts) : Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * BACKOFF_FACTOR ** (attempts - 1))

/** After the first attempt that fails, and after the attempts that pass these times. */
const NOTICES_AFTER_MS = [4 * HOUR_MS, 24 * HOUR_MS]

/**
 * Whether a delay notice is due after this many attempts. The times are those of the retry schedule, without delays that providers asked
 * for.
 */
export function isNoticeDue(attempts: number, retries: MailRetries | null = null): boolean {
  let beforeMs = 0
  for (let earlier = 1; earlier < attempts - 1; earlier++) beforeMs += backoffAfter(earlier, retries)
  const afterMs = beforeMs + (attempts > 1 ? backoffAfter(attempts - 1, retries) : 0)
  return attempts === 1 || NOTICES_AFTER_MS.some((ms) => beforeMs < ms && ms <= afterMs)
}

/** Not before the time the provider asked for. */
function nextAttempt(attempts: number, now: Date, retryAt: Date | undefined, retries: MailRetries | null): Date {
  const backoff = backoffAfter(attempts, retries)
  const requested = (retryAt?.getTime() ?? 0) - now.getTime()
  return new Date(now.getTime() + Math.max(backoff, Math.min(requested, BACKOFF_MAX_MS)))
}

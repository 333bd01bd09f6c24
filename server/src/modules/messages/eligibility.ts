/** May we send, and what became of it. Pure. */
import type { CampaignId, DomainId, ProviderId, SubscriptionId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { type Contact, type ProviderResponse, unreachable } from '../channels/index.ts'
import { type Consent, isSubscribed, type SuppressionReason } from '../subscriptions/index.ts'
import type { UserRow } from '../users/index.ts'
import type { MessageState, Reason } from './schema.ts'

/** How a message leaves its sender. `detail` is for people; `dueAt` is the next attempt. */
export type SendResult = {
  state: Extract<MessageState, 'sent' | 'delivered' | 'deferred' | 'failed' | 'bounced' | 'skipped' | 'aborted' | 'unknown'>
  reason: Reason | null
  detail: string | null
  dueAt: Date | null
  code?: string | undefined
  /** Nothing was tried: the attempt does not count. */
  untried?: true
}

/** An ending for good; nothing more than a reason is known. */
export const result = (state: SendResult['state'], reason: Reason | null = null, detail: string | null = null): SendResult => ({
  state,
  reason,
  detail,
  dueAt: null,
})

/** Not now, and for no fault of the message: it waits until then. */
export const deferredUntil = (reason: Reason, dueAt: Date): SendResult => ({
  state: 'deferred',
  reason,
  detail: null,
  dueAt,
  untried: true,
})

/** A campaign as far as its messages depend on it. */
export type SendingCampaign = {
  id: CampaignId
  name: string
  state: string
  is_paused: boolean
  subscription_id: SubscriptionId
  provider_id: ProviderId | null
  custom_domain_id: DomainId | null
  /** What those get who waited for a winner among the variants; null while there is none. */
  winner_variant: number | null
  waits_for_winner: boolean
  /** No more than so many in so much time. */
  rate: { limit: number; interval_ms: number } | null
}

/** What stands in the way of reaching a person, or null; asked when an audience is made, and again when a message is sent. */
export function skipReasonFor(
  channel: Channel,
  { user, consent, suppression }: { user: Contact; consent: Consent | undefined; suppression: SuppressionReason | undefined },
): Reason | null {
  if (!consent) return 'not_subscribed'
  if (!isSubscribed(consent)) return consent.state === 0 ? 'not_subscribed' : 'not_confirmed'
  return unreachable(channel, user) ?? (suppression === undefined ? null : 'suppressed')
}

/** What is known of a message about to be sent; undefined is what does not exist (any more). */
export type SendContext<T> = {
  channel: Channel
  /** Including the one about to begin. */
  attempts: number
  expiresAt: Date | null
  now: Date
  campaign: SendingCampaign | undefined
  user: UserRow | undefined
  consent: Consent | undefined
  suppression: SuppressionReason | undefined
  template: T | undefined
  /** Which variant falls to the person; null when the campaign has none. */
  variant: number | null
  /** Does the person, who was merged with the one it was for, have a message of their own for the same cause? */
  isDuplicate: boolean
  /** Does the message wait for a winner among variants? */
  isUndecided: boolean
  /** When quiet hours or a cap let it go, and which; null when they do now. Asked last, because being let go counts. */
  notBefore(): Throttled | null
}

/** Until when the project's policy holds a message back. */
export type Throttled = { reason: 'quiet_hours' | 'frequency_cap'; at: Date }

const ATTEMPTS_MAX = 8
const HELD_UP_MS = 30_000

/** Messages of a blast may go while its audience is still being loaded. */
const SENDING_STATES = ['running', 'loading']

/** Is a campaign one whose messages go out right now? */
export const isSending = (campaign: Pick<SendingCampaign, 'state' | 'is_paused'>): boolean =>
  SENDING_STATES.includes(campaign.state) && !campaign.is_paused

export type Eligible<T> = { campaign: SendingCampaign; user: UserRow; template: T; consent: Consent; variant: number | null }

/** May we? Either everything it takes, or how the message ends instead; the first reason found is the one that is told. */
export function checkEligibility<T>(circumstances: SendContext<T>): Eligible<T> | SendResult {
  const { channel, attempts, expiresAt, now, campaign, user, consent, suppression, template } = circumstances
  if (!campaign) return result('aborted', 'campaign_stopped')
  if (!isSending(campaign)) return stopped(campaign, now)
  if (!user) return result('skipped', 'user_gone')
  if (circumstances.isDuplicate) return result('skipped', 'duplicate')
  if (expiresAt !== null && now > expiresAt) return result('skipped', 'deadline_passed')
  const obstacle = skipReasonFor(channel, { user, consent, suppression })
  if (obstacle) return result('skipped', obstacle)
  if (circumstances.isUndecided) return deferredUntil('waiting_for_winner', new Date(now.getTime() + HELD_UP_MS))
  if (!template) return result('failed', 'no_template')
  // Its senders went away again and again: perhaps it was the message that made them.
  if (attempts > ATTEMPTS_MAX) return result('failed', 'attempts_exhausted')
  const heldBack = circumstances.notBefore()
  if (heldBack) return late(heldBack, expiresAt)
  return { campaign, user, template, consent: consent as Consent, variant: circumstances.variant }
}

/** What a campaign that does not send does to a message: one that is paused, or planned anew, comes back to it. */
export function stopped({ state, is_paused }: Pick<SendingCampaign, 'state' | 'is_paused'>, now: Date): SendResult {
  const comesBack = is_paused || state === 'aborting' || state === 'scheduled'
  if (!comesBack) return result('aborted', 'campaign_stopped')
  return { state: 'deferred', reason: null, detail: null, dueAt: new Date(now.getTime() + HELD_UP_MS), untried: true }
}

/** Waits for its time, unless that is past its deadline. */
function late({ reason, at }: Throttled, expiresAt: Date | null): SendResult {
  if (expiresAt === null || at <= expiresAt) return deferredUntil(reason, at)
  const kept = reason === 'quiet_hours' ? 'quiet hours' : 'a frequency cap'
  return result('skipped', 'deadline_passed', `It was held back by ${kept} until after its deadline.`)
}

/** How a message ends by what the provider said at its attempt number `attempts`. */
export function resultOf(outcome: ProviderResponse, attempts: number, now: Date, expiresAt: Date | null = null): SendResult {
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
      const dueAt = nextAttempt(attempts, now, outcome.retryAt)
      const isOver = attempts >= ATTEMPTS_MAX || (expiresAt !== null && dueAt > expiresAt)
      const what = isOver ? result('failed', 'attempts_exhausted', outcome.reason) : result('deferred', 'provider_deferred', outcome.reason)
      return { ...what, code: outcome.code, dueAt: isOver ? null : dueAt }
    }
    default:
      return outcome satisfies never
  }
}

const BACKOFF_FIRST_MS = 30_000
const BACKOFF_FACTOR = 4
const BACKOFF_MAX_MS = 6 * 3_600_000

/** 30 seconds after the first attempt, then four times as long, up to six hours; not before the provider's own time. */
function nextAttempt(attempts: number, now: Date, retryAt?: Date): Date {
  const backoff = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * BACKOFF_FACTOR ** (attempts - 1))
  const asked = (retryAt?.getTime() ?? 0) - now.getTime()
  return new Date(now.getTime() + Math.max(backoff, Math.min(asked, BACKOFF_MAX_MS)))
}

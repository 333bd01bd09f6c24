/** May we send, what became of it, and what outsiders hear of it. Pure. */
import type { CampaignId, SubscriptionId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { type Outcome, type Unreachable, unreachable } from '../channels/index.ts'
import type { SubscriptionState } from '../subscriptions/index.ts'
import type { UserRow } from '../users/index.ts'
import type { MessageState } from './schema.ts'

/** Why a message is in its state; counted, so that a word once shipped is never changed. */
export type Reason =
  | 'user_gone'
  | 'not_subscribed'
  | 'campaign_stopped'
  | 'no_template'
  | 'render_failed'
  | 'provider_rejected'
  | 'provider_deferred'
  | 'attempts_exhausted'
  | 'sender_lost'
  | 'duplicate'
  | Unreachable

/** How a message leaves its sender. `detail` is for people; `dueAt` is the next attempt. */
export type Ending = {
  state: Extract<MessageState, 'sent' | 'delivered' | 'deferred' | 'failed' | 'skipped' | 'aborted'>
  reason: Reason | null
  detail: string | null
  dueAt: Date | null
  code?: string | undefined
}

/** An ending for good; nothing more than a reason is known. */
export const ending = (state: Ending['state'], reason: Reason | null = null, detail: string | null = null): Ending => ({
  state,
  reason,
  detail,
  dueAt: null,
})

/** A campaign as far as its messages depend on it. */
export type SendingCampaign = { id: CampaignId; name: string; state: string; subscription_id: SubscriptionId }

/** What is known of a message about to be sent; undefined is what does not exist (any more). */
export type Circumstances<T> = {
  channel: Channel
  /** Including the one about to begin. */
  attempts: number
  campaign: SendingCampaign | undefined
  person: UserRow | undefined
  subscription: SubscriptionState | undefined
  template: T | undefined
}

const ATTEMPTS_MAX = 8

/** Messages of a blast may go while its audience is still being loaded. */
const SENDING_STATES = ['running', 'loading']

/** May we? Either everything it takes, or how the message ends instead; the first reason found is the one that is told. */
export function mayWe<T>({
  channel,
  attempts,
  campaign,
  person,
  subscription,
  template,
}: Circumstances<T>): { campaign: SendingCampaign; person: UserRow; template: T } | Ending {
  if (!campaign || !SENDING_STATES.includes(campaign.state)) return ending('aborted', 'campaign_stopped')
  if (!person) return ending('skipped', 'user_gone')
  if (!subscription) return ending('skipped', 'not_subscribed')
  const obstacle = unreachable(channel, person)
  if (obstacle) return ending('skipped', obstacle)
  if (!template) return ending('failed', 'no_template')
  // Its senders went away again and again: perhaps it was the message that made them.
  if (attempts > ATTEMPTS_MAX) return ending('failed', 'attempts_exhausted')
  return { campaign, person, template }
}

/** How a message ends by what the provider said at its attempt number `attempts`. */
export function endingOf(outcome: Outcome, attempts: number, now: Date): Ending {
  switch (outcome.is) {
    case 'accepted':
      return ending(outcome.delivered ? 'delivered' : 'sent')
    case 'rejected':
      return { ...ending('failed', 'provider_rejected', outcome.reason), code: outcome.code }
    case 'deferred':
      if (attempts >= ATTEMPTS_MAX) return { ...ending('failed', 'attempts_exhausted', outcome.reason), code: outcome.code }
      return {
        ...ending('deferred', 'provider_deferred', outcome.reason),
        code: outcome.code,
        dueAt: nextAttempt(attempts, now, outcome.retryAt),
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

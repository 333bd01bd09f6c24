/** Plans the message of each user of an audience: variant, time, or the reason to skip the user. Pure. */

import { addressOf, type Channel } from '../../../lib/channels.ts'
import type { UserId } from '../../../lib/ids.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { type Addressee, type Planned, skipReasonFor } from '../../messages/index.ts'
import type { CampaignRow } from '../schema.ts'
import { isInShare, variantIndexOf } from './buckets.ts'
import type { Contact, Member } from './members.ts'

type Split = Pick<CampaignRow, 'id' | 'channel' | 'holdout_percent' | 'variants' | 'winner'>

/**
 * Why a user gets no message, or null. The hold-out is taken from the users who could get it, so that it compares with those who do.
 */
export function skipReason({ id, channel, holdout_percent }: Split, { user, isExcluded, consent, suppression }: Member): Planned['reason'] {
  return (
    skipReasonFor(channel, { user, consent, suppression, isExcluded }) ??
    (isInShare('holdout', holdout_percent, id, user.id) ? 'holdout' : null)
  )
}

/** The variant of a user; null if there are no variants or the user waits for the winner. */
export function variantFor({ id, variants, winner }: Split, user: Pick<Contact, 'id'>): number | null {
  if (variants.length === 0 || (winner && !isInShare('test', winner.test_percent, id, user.id))) return null
  return variantIndexOf(
    variants.map(({ weight }) => weight),
    id,
    user.id,
  )
}

/** Time for the job that chooses the winner. */
const CHOICE_MS = 5000

/** The earliest time at which users who wait for the winner get it. */
const afterTheTest = ({ winner, started_at }: Pick<CampaignRow, 'winner' | 'started_at'>): number =>
  winner && started_at ? started_at.getTime() + winner.after_minutes * MINUTE_MS + CHOICE_MS : 0

/** The plan of a user who gets nothing. */
export const skipped = (user_id: UserId, reason: Planned['reason'], now: Date): Planned => ({
  user_id,
  state: 'skipped',
  reason,
  due_at: now,
  variant: null,
  expires_at: null,
})

/** The users who get a message, with their addresses, in the order of the plans. */
export const addresseesOf = (channel: Channel, members: Member[], planned: Planned[]): Addressee[] =>
  members.flatMap(({ user }, index) => {
    const address = addressOf(channel, user)
    return address !== null && planned[index]?.state === 'queued' ? [{ user_id: user.id, address }] : []
  })

/** Plans the message of one user. `timeIn` gives the instant of `send_at` in a time zone; if that has passed, the message is due now. */
export function planFor(
  campaign: Split & Pick<CampaignRow, 'started_at' | 'expires_after_hours'>,
  member: Member,
  timeIn: (zone: string | null) => Date,
  now: Date,
): Planned {
  const reason = skipReason(campaign, member)
  const { user } = member
  if (reason) return skipped(user.id, reason, now)
  const variant = variantFor(campaign, user)
  const waits = campaign.variants.length > 0 && variant === null
  const due = Math.max(now.getTime(), timeIn(user.timezone).getTime(), waits ? afterTheTest(campaign) : 0)
  return {
    user_id: user.id,
    state: 'queued',
    reason: null,
    due_at: new Date(due),
    variant,
    expires_at: new Date(due + campaign.expires_after_hours * HOUR_MS),
  }
}

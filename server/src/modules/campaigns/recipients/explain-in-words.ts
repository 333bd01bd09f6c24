/** Puts a recipient explanation into a sentence. Pure. */

import type { Reason, Recipient } from '../../messages/index.ts'
import { variantName } from '../../templates/index.ts'
import type { CampaignRow } from '../schema.ts'

/** The clause that follows “because”. */
const BECAUSE: Record<Reason, string> = {
  user_gone: 'the user was deleted',
  not_subscribed: 'the user is not subscribed to the subscription type of the campaign',
  not_confirmed: 'the user has not confirmed the subscription',
  suppressed: 'the address is suppressed',
  no_address: 'the user has no address for this channel',
  no_push_device: 'the user has no device that accepts push messages',
  excluded: 'the user is in an excluded list',
  holdout: 'the user is in the hold-out group',
  journey_left: 'the user left the journey first',
  campaign_stopped: 'the campaign was stopped',
  cancelled: 'the email was cancelled while it waited for delivery',
  rescheduled: 'the campaign was rescheduled',
  no_template: 'there is no template',
  render_failed: 'the template could not be rendered for this user',
  provider_rejected: 'the provider rejected it',
  provider_deferred: 'the provider asked to try again later',
  attempts_exhausted: 'all retries failed',
  sender_lost: 'the server stopped while it was giving the message to the provider',
  uncertain: 'the connection to the provider broke before its response arrived',
  duplicate: 'the user was merged with one who had the same message',
  duplicate_address: 'another user of the campaign has the same address, and an address gets one copy',
  deadline_passed: 'it could not be sent before its deadline',
  quiet_hours: 'it is the user’s quiet hours',
  frequency_cap: 'the user has reached the frequency cap',
  rate_limited: 'the sending rate of the campaign or its provider is exhausted',
  waiting_for_winner: 'the winning variant has not been chosen yet',
  hard_bounce: 'the address no longer exists',
  soft_bounce: 'its mail host returned the message',
  complaint: 'the user reported it as spam',
}

type ListMembership = { name: string; is_member: boolean }

/** What is known about a user and a campaign. */
export type Facts = {
  campaign: Pick<CampaignRow, 'type' | 'state' | 'variants' | 'paused_at' | 'paused_reason' | 'started_at' | 'created_at'>
  lists: ListMembership[]
  exclusions: ListMembership[]
  suppression: string | null
  /** Why the user would be skipped now. */
  reason: Reason | null
  /** The variant that the user would get. */
  variant: number | null
  /** Newest first. */
  messages: Pick<Recipient, 'state' | 'reason' | 'detail' | 'provider' | 'due_at' | 'settled_at' | 'opened_at' | 'clicked_at'>[]
  /** The instant before which messages were deleted when they had ended; null if none was. */
  removedBefore: Date | null
  /** Whether the audience was loaded up to the user. */
  isReached: boolean
}

export function explainInWords(facts: Facts): string {
  const [message] = facts.messages
  if (!message) return describeAbsence(facts)
  const sentences = [describeMessage(facts, message)]
  if (message.opened_at) sentences.push(`It was opened at ${at(message.opened_at)}.`)
  if (message.clicked_at) sentences.push(`A link in it was clicked at ${at(message.clicked_at)}.`)
  if (facts.messages.length > 1) sentences.push(`This is the newest of ${facts.messages.length} messages of this campaign to the user.`)
  return sentences.join(' ')
}

const at = (instant: Date | null): string => instant?.toISOString() ?? 'an unknown time'

function describeMessage(facts: Facts, message: Facts['messages'][number]): string {
  const why = describeReason(message.reason, facts)
  const detail = message.detail === null ? '.' : `: ${message.detail}`
  switch (message.state) {
    case 'queued':
      return `The message is due at ${at(message.due_at)}${describePause(facts)}.`
    case 'claimed':
      return 'The message is being sent right now.'
    case 'deferred':
      return `The message waits until ${at(message.due_at)}${why}${describePause(facts)}.`
    case 'sent':
      return `The message was given to \`${message.provider}\` at ${at(message.settled_at)}.`
    case 'delivered':
      return `The message was given to \`${message.provider}\` at ${at(message.settled_at)} and was delivered.`
    case 'failed':
      return `The message failed at ${at(message.settled_at)}${why}${detail}`
    case 'bounced':
      return `The message bounced${why}${detail}`
    case 'complained':
      return `The message was sent and led to a complaint${why}.`
    case 'skipped':
      return `The user got no message${why}${detail}`
    case 'aborted':
      return `The message was not sent${why}.`
    case 'unknown':
      return `It is unknown whether the message was sent${why}${detail}`
    default:
      return message.state satisfies never
  }
}

function describePause({ campaign: { paused_at, paused_reason } }: Facts): string {
  if (!paused_at) return ''
  const why = paused_reason === 'render_budget' ? ', because its templates exceeded their limits for several users' : ''
  return `, and the campaign is paused${why}`
}

function describeReason(reason: string | null, facts: Facts): string {
  if (reason === null) return ''
  const because = `, because ${(BECAUSE as Record<string, string>)[reason] ?? reason}`
  const excluding = facts.exclusions.filter(({ is_member }) => is_member)
  if (reason === 'excluded' && excluding.length > 0) return `${because} (${named(excluding)})`
  if (reason === 'suppressed' && facts.suppression !== null) return `${because} (\`${facts.suppression}\`)`
  return because
}

const named = (lists: ListMembership[]) => lists.map(({ name }) => `“${name}”`).join(', ')

function describeAbsence(facts: Facts): string {
  const { campaign, lists } = facts
  if (campaign.type === 'trigger') {
    const forecast = `If it were sent now, ${describeForecast(facts)}${describePause(facts)}.`
    if (isExpired(facts, campaign.created_at)) return `${describeExpiry(facts)} ${forecast}`
    return `The user got no message from this campaign. ${forecast}`
  }
  if (isExpired(facts, campaign.started_at)) return `The campaign was sent at ${at(campaign.started_at)}. ${describeExpiry(facts)}`
  if (!lists.some(({ is_member }) => is_member)) {
    return `The user is not in the audience, because ${lists.length === 0 ? 'the campaign has no lists' : `the user is in none of its lists: ${named(lists)}`}.`
  }
  if (campaign.state === 'draft' || campaign.state === 'scheduled' || campaign.state === 'aborting')
    return `If the campaign were sent now, ${describeForecast(facts)}${describePause(facts)}.`
  if (campaign.state === 'loading')
    return `The audience is loading and has not reached the user yet. When it does, ${describeForecast(facts)}${describePause(facts)}.`
  if (campaign.started_at === null) return 'The user got no message, because the campaign was stopped before it started.'
  if (campaign.state === 'aborted' && !facts.isReached)
    return 'The user got no message, because the campaign was stopped before its audience was loaded up to the user.'
  return `The user is in a list of the campaign now, but was not when the audience was loaded at ${at(campaign.started_at)}.`
}

/** Whether messages of a campaign that began then can have been deleted. */
const isExpired = ({ removedBefore }: Facts, since: Date | null): boolean =>
  removedBefore !== null && since !== null && since < removedBefore

const describeExpiry = ({ removedBefore }: Facts): string =>
  `Messages that reached a final state before ${at(removedBefore)} have been deleted, so it is no longer known whether the user got one.`

function describeForecast(facts: Facts): string {
  const { reason, campaign, variant } = facts
  if (reason !== null) return `the user would get no message${describeReason(reason, facts)}`
  if (campaign.variants.length === 0) return 'the user would get it'
  return variant === null
    ? 'the user would get the winning variant once it is chosen'
    : `the user would get the variant \`${variantName(variant)}\``
}

/** Why somebody gets a campaign, or does not, as a sentence. Pure. */

import type { Reason, Recipient } from '../../messages/index.ts'
import { variantName } from '../../templates/index.ts'
import type { CampaignRow } from '../schema.ts'

/** The end of a sentence that says why. */
const BECAUSE: Record<Reason, string> = {
  user_gone: 'the user is gone',
  not_subscribed: 'the user is not subscribed to what the campaign is about',
  not_confirmed: 'the user has not confirmed the subscription',
  suppressed: 'the address is suppressed',
  no_address: 'the user has no address on this channel',
  no_push_device: 'the user has no device that takes pushes',
  excluded: 'the user is in an excluded list',
  holdout: 'the user is among those who are held out to compare with',
  campaign_stopped: 'the campaign was stopped',
  rescheduled: 'the campaign was given another time',
  no_template: 'there is no template',
  render_failed: 'the template could not be filled in for this user',
  provider_rejected: 'the provider refused it',
  provider_deferred: 'the provider asked to try again later',
  attempts_exhausted: 'all attempts were in vain',
  sender_lost: 'the server went down while it was handing the message over',
  uncertain: 'the connection to the provider broke after everything was sent',
  duplicate: 'another user with the same message turned out to be the same person',
  deadline_passed: 'it could not go before its deadline',
  quiet_hours: 'it is quiet hours for the user',
  frequency_cap: 'the user has had as many messages as the project allows',
  rate_limited: 'the campaign or its provider may not send any faster',
  waiting_for_winner: 'the best variant has not been chosen yet',
  hard_bounce: 'the address does not exist any more',
  complaint: 'the user called it spam',
}

type Standing = { name: string; is_member: boolean }

/** What is known of a person and a campaign. */
export type Facts = {
  campaign: Pick<CampaignRow, 'type' | 'state' | 'variants' | 'paused_at' | 'started_at'>
  lists: Standing[]
  exclusions: Standing[]
  suppression: string | null
  /** What stands in the way now. */
  reason: Reason | null
  /** The variant that falls to the person. */
  variant: number | null
  /** The newest first. */
  messages: Pick<Recipient, 'state' | 'reason' | 'detail' | 'provider' | 'due_at' | 'settled_at' | 'opened_at' | 'clicked_at'>[]
}

export function explainInWords(facts: Facts): string {
  const [message] = facts.messages
  if (!message) return sayNoMessage(facts)
  const said = [sayMessage(facts, message)]
  if (message.opened_at) said.push(`It was opened at ${at(message.opened_at)}.`)
  if (message.clicked_at) said.push(`A link in it was followed at ${at(message.clicked_at)}.`)
  if (facts.messages.length > 1) said.push(`It is the newest of ${facts.messages.length} messages of this campaign to the user.`)
  return said.join(' ')
}

const at = (instant: Date | null): string => instant?.toISOString() ?? 'an unknown time'

function sayMessage(facts: Facts, message: Facts['messages'][number]): string {
  const why = sayReason(message.reason, facts)
  const detail = message.detail === null ? '.' : `: ${message.detail}`
  switch (message.state) {
    case 'queued':
      return `The message is due at ${at(message.due_at)}${facts.campaign.paused_at ? ', and the campaign is paused' : ''}.`
    case 'claimed':
      return 'The message is being sent right now.'
    case 'deferred':
      return `The message waits until ${at(message.due_at)}${why}.`
    case 'sent':
      return `The message was handed over to \`${message.provider}\` at ${at(message.settled_at)}.`
    case 'delivered':
      return `The message was delivered by \`${message.provider}\`; it was handed over at ${at(message.settled_at)}.`
    case 'failed':
      return `The message failed at ${at(message.settled_at)}${why}${detail}`
    case 'bounced':
      return `The message came back${why}${detail}`
    case 'complained':
      return `The message was sent, and the user complained about it${why}.`
    case 'skipped':
      return `The user got nothing${why}${detail}`
    case 'aborted':
      return `The message was not sent${why}.`
    case 'unknown':
      return `Nobody knows whether the message was sent${why}${detail}`
    default:
      return message.state satisfies never
  }
}

function sayReason(reason: string | null, facts: Facts): string {
  if (reason === null) return ''
  const because = `, because ${(BECAUSE as Record<string, string>)[reason] ?? reason}`
  const excluding = facts.exclusions.filter(({ is_member }) => is_member)
  if (reason === 'excluded' && excluding.length > 0) return `${because} (${named(excluding)})`
  if (reason === 'suppressed' && facts.suppression !== null) return `${because} (\`${facts.suppression}\`)`
  return because
}

const named = (lists: Standing[]) => lists.map(({ name }) => `“${name}”`).join(', ')

function sayNoMessage(facts: Facts): string {
  const { campaign, lists } = facts
  if (campaign.type === 'trigger') return `The user has had no message of this campaign. If it fired now, ${sayProspect(facts)}.`
  if (!lists.some(({ is_member }) => is_member)) {
    return `The user is not in the audience, because ${lists.length === 0 ? 'the campaign has no lists' : `none of its lists has the user: ${named(lists)}`}.`
  }
  if (campaign.state === 'draft' || campaign.state === 'scheduled') return `If the campaign went out now, ${sayProspect(facts)}.`
  if (campaign.state === 'loading') return `The audience is being made. If it is the user’s turn, ${sayProspect(facts)}.`
  if (campaign.started_at === null) return 'The user got nothing, because the campaign was stopped before it began.'
  return `The user is in a list of the campaign now, but was not when the audience was made at ${at(campaign.started_at)}.`
}

function sayProspect(facts: Facts): string {
  const { reason, campaign, variant } = facts
  if (reason !== null) return `the user would get nothing${sayReason(reason, facts)}`
  if (campaign.variants.length === 0) return 'the user would get it'
  return variant === null
    ? 'the user would get the best variant, once it is chosen'
    : `the user would get the variant \`${variantName(variant)}\``
}

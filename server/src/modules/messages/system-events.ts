/** System events about messages. Their names are part of the API: `email_sent`, `text_delivered`, `push_opened` and so on. */

import type { CampaignId, JourneyId, MessageId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import type { SystemEvent } from '../users/index.ts'
import type { MessageState } from './schema.ts'

type About = { id: MessageId; campaign_id: CampaignId; channel: Channel } & Partial<FromJourney>

/** The journey that a message is of, its entrance, and the key of the step; null for messages of campaigns. */
export type FromJourney = { journey_id: JourneyId | null; entrance_id: number | null; step: string | null }

/**
 * The event for a state that a message entered, or for an open or a click by its user. It triggers no campaign, so that a message cannot
 * cause itself, and starts journeys only for what the user did.
 */
export const messageEvent = (
  { id, campaign_id, channel, journey_id, entrance_id, step }: About,
  action: MessageState | 'opened' | 'clicked',
  at: Date,
  more: Record<string, unknown> = {},
): SystemEvent => ({
  name: `${channel}_${action}`,
  data: { campaign_id, message_id: id, ...(journey_id != null && { journey_id, entrance_id, step }), ...more },
  created_at: at.toISOString(),
  starts: action === 'opened' || action === 'clicked' ? 'journeys' : 'nothing',
})

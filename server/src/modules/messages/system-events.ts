/** System events about messages. Their names are part of the API: `email_sent`, `text_delivered`, `push_opened` and so on. */

import type { CampaignId, MessageId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import type { SystemEvent } from '../users/index.ts'
import type { MessageState } from './schema.ts'

type About = { id: MessageId; campaign_id: CampaignId; channel: Channel }

/** The event that a message came to a state, or that its user opened it or clicked in it. Silent, so that a message cannot cause itself. */
export const messageEvent = (
  { id, campaign_id, channel }: About,
  action: MessageState | 'opened' | 'clicked',
  at: Date,
  more: Record<string, unknown> = {},
): SystemEvent => ({
  name: `${channel}_${action}`,
  data: { campaign_id, message_id: id, ...more },
  created_at: at.toISOString(),
  silent: true,
})

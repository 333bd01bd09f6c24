import { channels } from '../../lib/channels.ts'
import { storableText } from '../../lib/text.ts'
import type { UserRow } from '../users/index.ts'
import type { ClaimedMessage } from './schema.ts'

const TEXT_LENGTH_MAX = 1000

/** The members of a webhook event that say which message, user and recipient it is about. */
export const messageMembers = (
  { id, campaign_id, channel, journey_id }: Pick<ClaimedMessage, 'id' | 'campaign_id' | 'channel' | 'journey_id'>,
  user: UserRow | undefined,
  recipient: string | null,
) => ({
  message_id: id,
  campaign_id,
  ...(journey_id !== null && { journey_id }),
  channel,
  ...(user && { user: { id: user.id, external_id: user.external_id } }),
  ...(recipient !== null && { to: recipient }),
  ...(recipient !== null && channels[channel].recipient === 'email' && { recipient_domain: recipient.split('@').at(-1) ?? '' }),
})

/** The text of a reason or diagnosis, cut to the length that webhook events may have, as it can be stored. */
export const shortened = (text: string | null | undefined): string => storableText((text ?? '').slice(0, TEXT_LENGTH_MAX))

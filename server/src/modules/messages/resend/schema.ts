import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { MESSAGE_STATES, type TriggeringEvent } from '../schema.ts'

/** What is read of a message that is to be sent again. */
export const FinishedMessage = Type.Object({
  user_id: IdOf<UserId>(),
  campaign_id: IdOf<CampaignId>(),
  channel: OneOf(CHANNELS),
  state: OneOf(MESSAGE_STATES),
  variant: Nullable(Type.Integer()),
  event: Nullable(Type.Unsafe<TriggeringEvent>({ type: 'object' })),
  is_requested: Type.Boolean(),
  expires_at: Nullable(Instant),
  created_at: Instant,
  /** What its request said about how long it lives. */
  expires_after_minutes: Nullable(Type.Integer()),
  /** Its request had values that were deleted when it was sent. */
  has_redacted: Type.Boolean(),
  /** Its request had files, which were deleted too. */
  has_files: Type.Boolean(),
})
export type FinishedMessage = Static<typeof FinishedMessage>

/** The new message. */
export const ResentMessage = Exact(
  {
    id: IdOf<MessageId>({ description: 'The id of the new message.' }),
    resent_from: IdOf<MessageId>({ description: 'The id of the original message.' }),
    state: OneOf(['queued', 'skipped'], { description: '`skipped`: the user does not get the message.' }),
    reason: Nullable(Type.String({ description: 'Why the message is skipped, as a stable code.' })),
    detail: Nullable(Type.String({ description: 'More about the reason, such as the kind of a suppression.' })),
  },
  { title: 'ResentMessage' },
)
export type ResentMessage = Static<typeof ResentMessage>

import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Instant, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { MESSAGE_CONTENTS } from '../../channels/index.ts'

const captured = {
  id: IdOf<MessageId>({ description: 'Id of the message; the `message_id` of webhook events.' }),
  channel: OneOf(CHANNELS),
  campaign_id: IdOf<CampaignId>(),
  user_id: IdOf<UserId>(),
  recipient: Type.String({ description: 'Address, number or endpoint; for push and in-app the user.' }),
  summary: Type.String({ description: 'One line: the subject, the title, or how the body begins.' }),
}

export const CapturedRow = Type.Object({ ...captured, created_at: Instant })
export type CapturedRow = Static<typeof CapturedRow>

export const CapturedWholeRow = Type.Object({
  ...CapturedRow.properties,
  content: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
})

/** A captured message in the sandbox inbox. */
export const SandboxMessage = Exact({ ...captured, created_at: Timestamp })

/** The same with everything it says. */
export const SandboxMessageWhole = Exact({
  ...captured,
  external_id: Nullable(Type.String({ description: 'External id of the user.' })),
  content: Type.Unsafe<Record<string, unknown>>({ anyOf: MESSAGE_CONTENTS, description: 'What it says, by channel.' }),
  created_at: Timestamp,
})
export type SandboxMessageWhole = Static<typeof SandboxMessageWhole>

import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { CHANNELS, type Channel, Exact, IdOf, Instant, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'
import { MESSAGE_CONTENTS } from '../channels/index.ts'

/** What happened to the person, as templates see it. */
export type TriggeringEvent = { name: string; data: Record<string, unknown>; created_at: string }

/** That a person is to get a campaign's message, and why; nobody gets one cause twice. */
export type Intent = { user_id: UserId; campaign_id: CampaignId; channel: Channel; cause: string; event: TriggeringEvent | null }

export type MessageState =
  | 'queued'
  | 'claimed'
  | 'sent'
  | 'delivered'
  | 'deferred'
  | 'failed'
  | 'bounced'
  | 'complained'
  | 'skipped'
  | 'aborted'
  | 'unknown'

const channel = OneOf(CHANNELS)

/** A message that this process may send until its lease ends. */
export const ClaimedMessage = Type.Object({
  id: IdOf<MessageId>(),
  project_id: IdOf<ProjectId>(),
  user_id: IdOf<UserId>(),
  campaign_id: IdOf<CampaignId>(),
  channel,
  event: Nullable(Type.Unsafe<TriggeringEvent>({ type: 'object' })),
  attempts: Type.Integer(),
  due_at: Instant,
  lease_token: Type.String(),
  created_at: Instant,
})
export type ClaimedMessage = Static<typeof ClaimedMessage>

/** What became of a campaign's messages. */
export type Delivery = { sent: number; total: number; opens: number; clicks: number; bounced: number }

const captured = {
  id: IdOf<MessageId>({ description: 'Id of the message; the `message_id` of webhook events.' }),
  channel,
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

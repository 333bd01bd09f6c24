import { type Static, Type } from 'typebox'
import type { JobName } from '../../infra/runtime/ctx.ts'
import type { CampaignId, ConsentId, JourneyId, MessageId, ProjectId, ProviderId, UserId } from '../../lib/ids.ts'
import { CHANNELS, type Channel, IdOf, Instant, Nullable, OneOf } from '../../lib/shapes.ts'
import type { Unreachable } from '../channels/index.ts'

/** The event that triggered a message, as templates read it. */
export type TriggeringEvent = {
  name: string
  data: Record<string, unknown>
  created_at: string
  /** Of a message of a journey: its id, the entry key, and the answers of its webhook steps. */
  journey?: Record<string, unknown>
}

/** The visit of a step that a message is of. */
export type MessageOrigin = { journey_id: JourneyId; entrance_id: number; visit: number; step_id: number; step: string }

/** The decision that a user is to get a campaign. The same cause never makes a second message. */
export type MessageIntent = {
  user_id: UserId
  campaign_id: CampaignId
  channel: Channel
  cause: string
  event: TriggeringEvent | null
  /** The deadline: the message is skipped after it. */
  expires_at: Date
  journey?: MessageOrigin
  /** The request that it came from, while traces are exported. */
  requestId?: string
  /** Default: transactional. */
  priority?: Priority
}

export const MESSAGE_STATES = [
  'queued',
  'claimed',
  'sent',
  'delivered',
  'deferred',
  'failed',
  'bounced',
  'complained',
  'skipped',
  'aborted',
  'unknown',
] as const
export type MessageState = (typeof MESSAGE_STATES)[number]

/** States that are not final. A campaign is finished when none of its messages is in one of them. */
export const PENDING_STATES: readonly MessageState[] = ['queued', 'claimed', 'deferred']
/** States of messages that a provider accepted. */
export const SENT_STATES: readonly MessageState[] = ['sent', 'delivered', 'bounced', 'complained']
/** The states of messages that a user got or may have got. They count towards frequency caps. */
export const RECEIVED_STATES: readonly MessageState[] = [...SENT_STATES, 'unknown']
/** The final states of messages that were attempted. Their content can be read. */
export const ATTEMPTED_STATES: readonly MessageState[] = [...RECEIVED_STATES, 'failed']

/** Why a message is in its state. Counts are kept by reason, so a published code never changes. */
export type Reason =
  | 'user_gone'
  | 'not_subscribed'
  | 'not_confirmed'
  | 'suppressed'
  | 'excluded'
  | 'holdout'
  | 'campaign_stopped'
  | 'cancelled'
  | 'journey_left'
  | 'rescheduled'
  | 'no_template'
  | 'render_failed'
  | 'provider_rejected'
  | 'provider_deferred'
  | 'attempts_exhausted'
  | 'sender_lost'
  | 'uncertain'
  | 'duplicate'
  | 'duplicate_address'
  | 'deadline_passed'
  | 'quiet_hours'
  | 'frequency_cap'
  | 'rate_limited'
  | 'waiting_for_winner'
  | 'hard_bounce'
  | 'soft_bounce'
  | 'complaint'
  | Unreachable

/** Transactional messages are sent before those of timers, and these before bulk messages. The numbers are stored, and say nothing of the order. */
export type Priority = 0 | 1 | 2
export const TRANSACTIONAL: Priority = 0
export const BULK: Priority = 1
/** When a time has come: reminders at nine o’clock, and what follows from lists that users enter or leave because time passes. */
export const TIMED: Priority = 2

/** The jobs that send, for those who have just enqueued messages. */
export const SEND_JOBS: Record<Priority, JobName> = {
  0: { name: 'messages.send' },
  1: { name: 'messages.send-bulk' },
  2: { name: 'messages.send-timed' },
}

const channel = OneOf(CHANNELS)

/** A message that this process may send until its lease ends. */
export const ClaimedMessage = Type.Object({
  id: IdOf<MessageId>(),
  project_id: IdOf<ProjectId>(),
  user_id: IdOf<UserId>(),
  campaign_id: IdOf<CampaignId>(),
  channel,
  cause: Type.String(),
  variant: Nullable(Type.Integer()),
  event: Nullable(Type.Unsafe<TriggeringEvent>({ type: 'object' })),
  attempts: Type.Integer(),
  due_at: Instant,
  expires_at: Nullable(Instant),
  lease_token: Type.String(),
  created_at: Instant,
  journey_id: Nullable(IdOf<JourneyId>()),
  entrance_id: Nullable(Type.Integer()),
  step: Nullable(Type.String()),
  is_requested: Type.Boolean(),
  resent_from: Nullable(IdOf<MessageId>()),
  /** The provider of its last attempt. */
  provider_id: Nullable(IdOf<ProviderId>()),
  /** When that provider first got it without a reply. It takes the message once, for a day. */
  uncertain_at: Nullable(Instant),
})
export type ClaimedMessage = Static<typeof ClaimedMessage>

/** A message with its send result, ready to be saved. */
export type MessageResult = {
  id: MessageId
  lease_token: string
  state: MessageState
  reason: Reason | null
  detail: string | null
  due_at: Date | null
  variant: number | null
  recipient: string | null
  /** Hashes of the addresses that get copies; absent without copies. */
  copies?: string[]
  /** Null without an attempt, which is then not counted. */
  provider: string | null
  provider_id: ProviderId | null
  provider_message_id: string | null
  consent_id: ConsentId | null
  counts_to_caps: boolean
  /** When its provider, which takes a message once, first got it without a reply. */
  uncertain_at?: Date
}

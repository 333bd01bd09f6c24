import { type Static, Type } from 'typebox'
import type { CampaignId, JourneyId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { MESSAGE_CONTENTS } from '../../channels/index.ts'
import { VariantName } from '../../templates/index.ts'
import { DeliveryAttempt } from '../delivery/schema.ts'
import { MESSAGE_STATES } from '../schema.ts'

const NAME_LENGTH_MAX = 255

const IdText = (description: string) => Type.String({ pattern: '^[0-9]{1,15}$', problem: 'is not an id', description })

/** What messages can be filtered by. */
export const MessageQuery = Exact({
  user: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The `external_id` of a user, or the anonymous id of a user without one.' })),
  campaign_id: Type.Optional(IdText('The id of a campaign.')),
  journey_id: Type.Optional(IdText('The id of a journey.')),
  state: Type.Optional(OneOf(MESSAGE_STATES, { description: 'The state.' })),
  reason: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The reason, such as `suppressed`.' })),
  channel: Type.Optional(OneOf(CHANNELS, { description: 'The channel.' })),
  provider: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The kind of the provider that made the last attempt, such as `smtp`.' })),
  domain: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The domain of the email’s recipient.' })),
  site: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The mail site of an email that the provider `mta` delivers.' })),
  since: Type.Optional(Line(40, { format: 'time', description: 'Only messages that were created at this time or later.' })),
  until: Type.Optional(Line(40, { format: 'time', description: 'Only messages that were created before this time.' })),
})
export type MessageQuery = Static<typeof MessageQuery>

const columns = {
  id: IdOf<MessageId>({ description: 'The id, which webhook events carry as `message_id`.' }),
  campaign_id: IdOf<CampaignId>(),
  channel: OneOf(CHANNELS),
  state: OneOf(MESSAGE_STATES, { description: 'The state of the message.' }),
  reason: Nullable(Type.String({ description: 'Why the message is in this state, as a stable code.' })),
  detail: Nullable(Type.String({ description: 'More about the reason, such as the error of the provider, or the kind of a suppression.' })),
  recipient: Nullable(Type.String({ description: 'The address that the message went to; null before an attempt, and for erased users.' })),
  provider: Nullable(Type.String({ description: 'The kind of the provider that made the last attempt.' })),
  attempts: Type.Integer({ description: 'How many attempts were made.' }),
}

const times = <T extends typeof Timestamp>(time: T) => ({
  created_at: time,
  due_at: Type.Unsafe<Date>({ ...time, description: 'When the message is due to be sent or tried again.' }),
  expires_at: Nullable(Type.Unsafe<Date>({ ...time, description: 'The time after which the message is skipped if it has not been sent.' })),
  settled_at: Nullable(Type.Unsafe<Date>({ ...time, description: 'When the message was sent, skipped or failed.' })),
  opened_at: Nullable(Type.Unsafe<Date>({ ...time, description: 'When the message was first opened.' })),
  clicked_at: Nullable(Type.Unsafe<Date>({ ...time, description: 'When a link in the message was first clicked.' })),
})

/** A row of `messages`, for replies. */
export const MessageRow = Type.Object({
  ...columns,
  user_id: IdOf<UserId>(),
  journey_id: Nullable(IdOf<JourneyId>()),
  variant: Nullable(Type.Integer()),
  is_erased: Type.Boolean(),
  is_requested: Type.Boolean(),
  resent_from: Nullable(IdOf<MessageId>()),
  acted_at: Nullable(Instant),
  ...times(Instant),
})
export type MessageRow = Static<typeof MessageRow>

const reply = {
  ...columns,
  journey_id: Type.Optional(IdOf<JourneyId>({ description: 'The journey that sent it; absent for other messages.' })),
  variant: Type.Optional(VariantName),
  resent_from: Type.Optional(IdOf<MessageId>({ description: 'The message that this one sends again; absent for others.' })),
  user: Exact({ id: IdOf<UserId>(), external_id: Nullable(Type.String({ description: 'Null if the user was erased.' })) }),
  ...times(Timestamp),
}

/** A message in a list. */
export const MessageSummary = Exact(reply, { title: 'MessageSummary' })
export type MessageSummary = Static<typeof MessageSummary>

const Moment = Exact({
  at: { ...Timestamp, description: 'When it happened.' },
  what: OneOf([...MESSAGE_STATES, 'opened', 'clicked'], { description: 'The state that the message entered, or the action of the user.' }),
  reason: Nullable(Type.String({ description: 'Why, as a stable code.' })),
  detail: Nullable(Type.String({ description: 'More about the reason.' })),
})
export type Moment = Static<typeof Moment>

const Delivery = Exact({
  recipient: Type.String({ description: 'Empty if the user was erased.' }),
  site: Nullable(Type.String({ description: 'The key of the mail site; null until it is known.' })),
  state: OneOf(['queued', 'claimed', 'delivered', 'failed', 'expired', 'cancelled'], {
    description: 'The state of the recipient. `claimed`: it is being delivered.',
  }),
  next_attempt_at: Nullable(Timestamp),
  attempts: Type.Array(DeliveryAttempt, { description: 'Oldest first.' }),
})

/** A message with everything that is known of it. */
export const MessageWhole = Exact(
  {
    ...reply,
    deliveries: Type.Optional(
      Type.Array(Delivery, {
        description: 'The recipients of an email that the provider `mta` delivers, the user first, with every attempt.',
      }),
    ),
    content: Type.Unsafe<Record<string, unknown> | null>({
      anyOf: [...MESSAGE_CONTENTS, { type: 'null' }],
      description:
        'The rendered message; its members depend on the channel. Sandbox and inbox messages are returned as they were stored. Any other message is rendered again with the user’s current data, without tracking. Null until all attempts have ended, for a message that was never attempted, and once the user, the campaign or the template has been deleted.',
    }),
    timeline: Type.Array(Moment, {
      description:
        'The states and events of the message, oldest first. Waits for a rate limit, for the winner of an A/B test or for a paused campaign are not listed.',
    }),
  },
  { title: 'MessageWhole' },
)
export type MessageWhole = Static<typeof MessageWhole>

import { type Static, Type } from 'typebox'
import type { ConsentId, JourneyId, ListId, MessageId, SubscriptionId, UserId } from '../../../lib/ids.ts'
import { Exact, IdOf, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { MESSAGE_STATES } from '../../messages/index.ts'
import { VariantName } from '../../templates/index.ts'

const State = OneOf(MESSAGE_STATES, { description: 'The state of the message. `reason` says why it is in that state.' })
const ReasonName = Nullable(Type.String({ description: 'Why the message is in this state, as a stable code.' }))

export const RecipientQuery = Exact({ state: Type.Optional(State) })

const message = {
  id: IdOf<MessageId>({ description: 'The id of the message, which webhook events carry as `message_id`.' }),
  journey_id: Type.Optional(IdOf<JourneyId>({ description: 'The journey that sent it; absent for messages of the campaign itself.' })),
  state: State,
  reason: ReasonName,
  detail: Nullable(Type.String({ description: 'The error message of the provider or the template.' })),
  variant: Nullable(VariantName),
  attempts: Type.Integer(),
  provider: Nullable(Type.String()),
  due_at: Timestamp,
  settled_at: Nullable(Timestamp),
  opened_at: Nullable(Timestamp),
  clicked_at: Nullable(Timestamp),
}

/** One message of a campaign with its user. */
export const RecipientOf = Exact({
  user: Exact({ id: IdOf<UserId>(), external_id: Nullable(Type.String({ description: 'Null if the user was erased.' })) }),
  ...message,
})
export type RecipientOf = Static<typeof RecipientOf>

const ListMembership = Exact({ id: IdOf<ListId>(), name: Type.String(), member: Type.Boolean() })

/** Why a user gets a campaign or does not. */
export const RecipientExplanation = Exact({
  user: Exact({ id: IdOf<UserId>(), external_id: Type.String() }),
  summary: Type.String({ description: 'The explanation in words.' }),
  in_audience: Nullable(Type.Boolean({ description: 'Whether the user is in one of the lists now. Null for a trigger campaign.' })),
  lists: Type.Array(ListMembership, { description: 'The lists of the campaign.' }),
  exclusion_lists: Type.Array(ListMembership),
  consent: Nullable(
    Exact({
      subscription_id: IdOf<SubscriptionId>(),
      state: Type.Integer({ description: '0 unsubscribed, 1 subscribed, 2 confirmed.' }),
      consent_id: Nullable(IdOf<ConsentId>({ description: 'The consent entry that set this state; null if the state is the default.' })),
      is_transactional: Type.Boolean(),
      requires_confirmation: Type.Boolean(),
    }),
  ),
  suppression: Nullable(Type.String({ description: 'Why the address is suppressed; null if it is not.' })),
  now: Exact(
    { reason: ReasonName, variant: Nullable(VariantName) },
    {
      description: 'The outcome if the campaign were sent to the user now: the reason for skipping the user, or null, and the variant.',
    },
  ),
  messages: Type.Array(Exact({ ...message, cause: Type.String(), consent_id: Nullable(IdOf<ConsentId>()), created_at: Timestamp }), {
    description: 'The messages of this campaign to the user, newest first, at most 100.',
  }),
})
export type RecipientExplanation = Static<typeof RecipientExplanation>

/** All message counts of a campaign. */
export const DeliveryReport = Exact({
  total: Type.Integer(),
  pending: Type.Integer({ description: 'Messages that are not in a final state.' }),
  sent: Type.Integer(),
  opens: Type.Integer(),
  clicks: Type.Integer(),
  bounced: Type.Integer(),
  unsubscribed: Type.Integer({ description: 'Messages through which the user unsubscribed.' }),
  states: Type.Array(
    Exact({
      state: State,
      reason: ReasonName,
      variant: Nullable(VariantName),
      messages: Type.Integer(),
      opens: Type.Integer(),
      clicks: Type.Integer(),
    }),
    { description: 'The rows always add up to the totals.' },
  ),
  winner: Type.Optional(
    Exact(
      {
        variant: VariantName,
        numbers: Type.Array(Exact({ variant: VariantName, sent: Type.Integer(), opens: Type.Integer(), clicks: Type.Integer() })),
      },
      { description: 'The winning variant, with the numbers that decided it.' },
    ),
  ),
})
export type DeliveryReport = Static<typeof DeliveryReport>

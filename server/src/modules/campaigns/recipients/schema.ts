import { type Static, Type } from 'typebox'
import type { ConsentId, ListId, MessageId, SubscriptionId, UserId } from '../../../lib/ids.ts'
import { Exact, IdOf, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { MESSAGE_STATES } from '../../messages/index.ts'
import { VariantName } from '../../templates/index.ts'

const State = OneOf(MESSAGE_STATES, { description: 'What became of the message; `reason` says why.' })
const ReasonName = Nullable(Type.String({ description: 'Why it is in this state, as a word that is never changed.' }))

export const RecipientQuery = Exact({ state: Type.Optional(State) })

const message = {
  id: IdOf<MessageId>({ description: 'Id of the message; the `message_id` of webhook events.' }),
  state: State,
  reason: ReasonName,
  detail: Nullable(Type.String({ description: 'What the provider or the template said.' })),
  variant: Nullable(VariantName),
  attempts: Type.Integer(),
  provider: Nullable(Type.String()),
  due_at: Timestamp,
  settled_at: Nullable(Timestamp),
  opened_at: Nullable(Timestamp),
  clicked_at: Nullable(Timestamp),
}

/** One message of a campaign and whom it is for. */
export const RecipientOf = Exact({
  user: Exact({ id: IdOf<UserId>(), external_id: Nullable(Type.String({ description: 'Null when the user was erased.' })) }),
  ...message,
})
export type RecipientOf = Static<typeof RecipientOf>

const Standing = Exact({ id: IdOf<ListId>(), name: Type.String(), member: Type.Boolean() })

/** Why somebody gets a campaign, or does not. */
export const RecipientExplanation = Exact({
  user: Exact({ id: IdOf<UserId>(), external_id: Type.String() }),
  summary: Type.String({ description: 'The answer as a sentence.' }),
  in_audience: Nullable(Type.Boolean({ description: 'Is the user in one of the lists now? Null for a trigger campaign.' })),
  lists: Type.Array(Standing, { description: 'The lists of the campaign.' }),
  exclusion_lists: Type.Array(Standing),
  consent: Nullable(
    Exact({
      subscription_id: IdOf<SubscriptionId>(),
      state: Type.Integer({ description: '0 unsubscribed, 1 subscribed, 2 opted in and confirmed.' }),
      consent_id: Nullable(IdOf<ConsentId>({ description: 'The entry of the consent ledger that says so; null when it is the default.' })),
      is_transactional: Type.Boolean(),
      requires_confirmation: Type.Boolean(),
    }),
  ),
  suppression: Nullable(Type.String({ description: 'Why the address is suppressed; null when it is not.' })),
  now: Exact(
    { reason: ReasonName, variant: Nullable(VariantName) },
    { description: 'What would happen if the campaign met the user now: `reason` is what stands in the way, null when nothing does.' },
  ),
  messages: Type.Array(Exact({ ...message, cause: Type.String(), consent_id: Nullable(IdOf<ConsentId>()), created_at: Timestamp }), {
    description: 'The messages of this campaign to the user, newest first, at most 100.',
  }),
})
export type RecipientExplanation = Static<typeof RecipientExplanation>

/** What became of a campaign's messages, in full. */
export const DeliveryReport = Exact({
  total: Type.Integer(),
  pending: Type.Integer({ description: 'Messages that something will still follow.' }),
  sent: Type.Integer(),
  opens: Type.Integer(),
  clicks: Type.Integer(),
  bounced: Type.Integer(),
  states: Type.Array(
    Exact({
      state: State,
      reason: ReasonName,
      variant: Nullable(VariantName),
      messages: Type.Integer(),
      opens: Type.Integer(),
      clicks: Type.Integer(),
    }),
    { description: 'Adds up to the totals at every moment.' },
  ),
  winner: Type.Optional(
    Exact(
      {
        variant: VariantName,
        numbers: Type.Array(Exact({ variant: VariantName, sent: Type.Integer(), opens: Type.Integer(), clicks: Type.Integer() })),
      },
      { description: 'Which variant was chosen, and by which numbers.' },
    ),
  ),
})
export type DeliveryReport = Static<typeof DeliveryReport>

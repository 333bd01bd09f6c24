import { type Static, Type } from 'typebox'
import type { ConsentId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { CHANNELS, Changes, Exact, IdOf, Instant, Name, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const ITEMS_MAX = 100
const DESCRIPTION_LENGTH_MAX = 500

/** 0 unsubscribed, 1 subscribed, 2 opted in and confirmed (D-USUB-1). */
export type SubscriptionState = 0 | 1 | 2

const StateOf = <const S extends readonly SubscriptionState[]>(states: S, description: string) =>
  Type.Unsafe<S[number]>({ type: 'integer', enum: [...states], description })

const channel = OneOf(CHANNELS, { description: 'The channel that it is about.' })

const writable = {
  is_public: Type.Boolean({ description: 'Do users see it in the preference centre?' }),
  default_state: StateOf([0, 1], 'The state of a user for whom none is stored; 0 asks for explicit consent.'),
  is_transactional: Type.Boolean({
    description:
      'Is it about what users asked for, such as receipts? Then it is sent whatever their state. Suppressed addresses still get nothing.',
  }),
  requires_confirmation: Type.Boolean({
    description: 'Does a yes have to be confirmed? Then users get nothing before their state is 2; those in state 1 are asked to confirm.',
  }),
  description: Nullable(
    Type.String({ maxLength: DESCRIPTION_LENGTH_MAX, description: 'What users get, in your words; shown in the preference centre.' }),
  ),
}

export const SubscriptionInput = Exact({ name: Name(), channel, ...Type.Partial(Type.Object(writable)).properties })
export type SubscriptionInput = Static<typeof SubscriptionInput>

export const SubscriptionChanges = Changes({ name: Name(), ...writable })
export type SubscriptionChanges = Static<typeof SubscriptionChanges>

const columns = {
  id: IdOf<SubscriptionId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  channel,
  is_public: Type.Boolean(),
  is_transactional: Type.Boolean(),
  requires_confirmation: Type.Boolean(),
}

/** A subscription type as it is read. */
export const Subscription = Exact({
  ...columns,
  description: Type.Optional(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Subscription = Static<typeof Subscription>

export const SubscriptionRow = Type.Object({
  ...columns,
  description: Nullable(Type.String()),
  created_at: Instant,
  updated_at: Instant,
})
export type SubscriptionRow = Static<typeof SubscriptionRow>

const state = StateOf([0, 1, 2], '0 unsubscribed, 1 subscribed, 2 opted in and confirmed.')

/** Where a user stands with one subscription type. */
export const UserSubscription = Exact({
  subscription_id: IdOf<SubscriptionId>(),
  state,
  name: Type.String(),
  channel,
})
export type UserSubscription = Static<typeof UserSubscription>

const changesOf = <const S extends readonly SubscriptionState[]>(states: S) =>
  Type.Array(Exact({ subscription_id: IdOf<SubscriptionId>(), state: StateOf(states, 'The state to set.') }), {
    minItems: 1,
    maxItems: ITEMS_MAX,
  })

export const UserSubscriptionChanges = changesOf([0, 1, 2])
export type UserSubscriptionChanges = Static<typeof UserSubscriptionChanges>

/** What users may set themselves: confirming takes more than their word. */
export const OwnSubscriptionChanges = changesOf([0, 1])

/** A person and a subscription type; what `subscriptionStates` is asked about. */
export type SubscriptionPair = { user_id: UserId; subscription_id: SubscriptionId }

/** Where a person stands with a type, what that rests on, and what the type makes of it. */
export const Consent = Type.Object({
  user_id: IdOf<UserId>(),
  subscription_id: IdOf<SubscriptionId>(),
  state,
  consent_id: Nullable(IdOf<ConsentId>()),
  is_transactional: Type.Boolean(),
  requires_confirmation: Type.Boolean(),
})
export type Consent = Static<typeof Consent>

/** A subscription type with the state of one user, for the hosted pages. */
export const TypeWithState = Type.Object({
  id: IdOf<SubscriptionId>(),
  name: Type.String(),
  channel,
  description: Nullable(Type.String()),
  is_public: Type.Boolean(),
  is_transactional: Type.Boolean(),
  requires_confirmation: Type.Boolean(),
  state,
})
export type TypeWithState = Static<typeof TypeWithState>

import { type Static, Type } from 'typebox'
import type { ConsentId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { CHANNELS, Changes, Exact, IdOf, Instant, Name, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'
import { SUPPRESSION_REASONS } from './suppressions/schema.ts'

const ITEMS_MAX = 100
const DESCRIPTION_LENGTH_MAX = 500

/** 0 unsubscribed, 1 subscribed, 2 opted in and confirmed (D-USUB-1). */
export type SubscriptionState = 0 | 1 | 2

const StateOf = <const S extends readonly SubscriptionState[]>(states: S, description: string) =>
  Type.Unsafe<S[number]>({ type: 'integer', enum: [...states], description })

const channel = OneOf(CHANNELS, { description: 'The channel of the messages.' })

const writable = {
  is_public: Type.Boolean({ description: 'Whether users see the type in the preference centre.' }),
  default_state: StateOf([0, 1], 'The state of users without a stored state. 0 requires explicit consent.'),
  is_transactional: Type.Boolean({
    description:
      'Whether messages of this type are transactional, such as receipts. They are sent in every state, but not to suppressed addresses, unless the suppression excludes transactional messages (`stops_transactional` is false). Their emails have no `List-Unsubscribe`.',
  }),
  requires_confirmation: Type.Boolean({
    description:
      'Whether an opt-in must be confirmed. If so, users get no messages before their state is 2, and users who subscribe are asked to confirm.',
  }),
  description: Nullable(
    Type.String({
      maxLength: DESCRIPTION_LENGTH_MAX,
      description: 'A description of the messages, shown to users in the preference centre.',
    }),
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
  default_state: writable.default_state,
  is_transactional: Type.Boolean(),
  requires_confirmation: Type.Boolean(),
}

/** A subscription type in a reply. */
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

export const state = StateOf([0, 1, 2], '0 unsubscribed, 1 subscribed, 2 opted in and confirmed.')

const userSubscription = { subscription_id: IdOf<SubscriptionId>(), state, name: Type.String(), channel }

/** The subscription state of a user for one type. */
export const UserSubscription = Exact({
  ...userSubscription,
  suppression: Type.Optional(
    OneOf(SUPPRESSION_REASONS, {
      description:
        'Why the user’s address is suppressed, so that the user gets no messages of this type in any state. Absent if the address is not suppressed, and in replies to users.',
    }),
  ),
})
export type UserSubscription = Static<typeof UserSubscription>

export const UserSubscriptionRow = Type.Object({ ...userSubscription, is_transactional: Type.Boolean() })
export type UserSubscriptionRow = Static<typeof UserSubscriptionRow>

const changesOf = <const S extends readonly SubscriptionState[]>(states: S) =>
  Type.Array(Exact({ subscription_id: IdOf<SubscriptionId>(), state: StateOf(states, 'The state to set.') }), {
    minItems: 1,
    maxItems: ITEMS_MAX,
  })

export const UserSubscriptionChanges = changesOf([0, 1, 2])
export type UserSubscriptionChanges = Static<typeof UserSubscriptionChanges>

/** The states that users may set themselves. State 2 takes a confirmation. */
export const OwnSubscriptionChanges = changesOf([0, 1])

/** A user and a subscription type. */
export type SubscriptionPair = { user_id: UserId; subscription_id: SubscriptionId }

/** The subscription state of a user for a type, the consent entry that it comes from, and the settings that decide what it allows. */
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

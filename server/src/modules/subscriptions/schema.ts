import { type Static, Type } from 'typebox'
import type { ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { CHANNELS, Changes, Exact, IdOf, Instant, Name, OneOf, Timestamp } from '../../lib/shapes.ts'

const ITEMS_MAX = 100

/** 0 unsubscribed, 1 subscribed, 2 opted in and confirmed (D-USUB-1). */
export type SubscriptionState = 0 | 1 | 2

const StateOf = <const S extends readonly SubscriptionState[]>(states: S, description: string) =>
  Type.Unsafe<S[number]>({ type: 'integer', enum: [...states], description })

const DefaultState = StateOf([0, 1], 'The state of a user for whom none is stored; 0 asks for explicit consent.')
const IsPublic = Type.Boolean({ description: 'Do users see it in the preference centre?' })
const channel = OneOf(CHANNELS, { description: 'The channel that it is about.' })

export const SubscriptionInput = Exact({
  name: Name(),
  channel,
  is_public: Type.Optional(IsPublic),
  default_state: Type.Optional(DefaultState),
})
export type SubscriptionInput = Static<typeof SubscriptionInput>

export const SubscriptionChanges = Changes({ name: Name(), is_public: IsPublic, default_state: DefaultState })
export type SubscriptionChanges = Static<typeof SubscriptionChanges>

const columns = {
  id: IdOf<SubscriptionId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  channel,
  is_public: Type.Boolean(),
}

/** A subscription type as it is read. */
export const Subscription = Exact({ ...columns, created_at: Timestamp, updated_at: Timestamp })
export type Subscription = Static<typeof Subscription>

export const SubscriptionRow = Type.Object({ ...columns, created_at: Instant, updated_at: Instant })
export type SubscriptionRow = Static<typeof SubscriptionRow>

/** Where a user stands with one subscription type. */
export const UserSubscription = Exact({
  subscription_id: IdOf<SubscriptionId>(),
  state: StateOf([0, 1, 2], '0 unsubscribed, 1 subscribed, 2 opted in and confirmed.'),
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

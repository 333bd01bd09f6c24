import { type Static, Type } from 'typebox'
import type { ConsentId, SubscriptionId, UserId } from '../../../lib/ids.ts'
import { Exact, IdOf, Instant, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import type { SubscriptionState } from '../schema.ts'

/**
 * How a state came about: over the API with a secret key; by the user with a session token; by an import; on the preference centre;
 * on the page of one message; by the button that mail programs show; by the link in a request to confirm; by a text message such as
 * STOP; because a message was reported as spam; because a provider said that the person unsubscribed there; or because two people
 * turned out to be one.
 */
export const CONSENT_SOURCES = [
  'api',
  'session',
  'import',
  'preference_page',
  'unsubscribe_page',
  'one_click',
  'confirmation',
  'text_keyword',
  'complaint',
  'provider',
  'merge',
] as const
export type ConsentSource = (typeof CONSENT_SOURCES)[number]

/** What shows that a change was wanted. */
export type Evidence = {
  source: Exclude<ConsentSource, 'merge'>
  /** What was agreed to, such as the version of a page. */
  wording?: string
  /** Such as the key, the request, the address and the program it came from. */
  proof?: Record<string, unknown>
}

const State = Type.Unsafe<SubscriptionState>({ type: 'integer', enum: [0, 1, 2] })

const columns = {
  id: IdOf<ConsentId>(),
  subscription_id: IdOf<SubscriptionId>(),
  state: State,
  previous_state: Nullable(State),
  source: OneOf(CONSENT_SOURCES),
  wording: Nullable(Type.String()),
  proof: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
}

/** A change of where a user stands, as it is read. */
export const ConsentEntry = Exact({ ...columns, at: Timestamp })

export const ConsentEntryRow = Type.Object({ ...columns, at: Instant })
export type ConsentEntryRow = Static<typeof ConsentEntryRow>

/** A state to be written for a person. */
export type StateChange = { user_id: UserId; subscription_id: SubscriptionId; state: SubscriptionState }

/** A state that was written, and what it was before; null when nothing was stored. */
export const SavedStateChange = Type.Object({
  user_id: IdOf<UserId>(),
  subscription_id: IdOf<SubscriptionId>(),
  state: State,
  previous_state: Nullable(State),
  default_state: State,
  requires_confirmation: Type.Boolean(),
})
export type SavedStateChange = Static<typeof SavedStateChange>

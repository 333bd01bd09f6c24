import { type Static, Type } from 'typebox'
import type { ConsentId, SubscriptionId, UserId } from '../../../lib/ids.ts'
import { Exact, IdOf, Instant, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import type { SubscriptionState } from '../schema.ts'

/**
 * The source of a consent entry: the API with a secret key; the user with a user token; an import; the preference centre; the
 * unsubscribe page; the one-click button of a mail program; the link in a confirmation request; a text message such as STOP; a spam
 * complaint; an unsubscribe at the provider; a step of a journey; a sign-up with the address of an erased user; or a merge of users.
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
  'journey',
  'sign_up',
  'merge',
] as const
export type ConsentSource = (typeof CONSENT_SOURCES)[number]

/** The proof of a consent change. */
export type Evidence = {
  source: Exclude<ConsentSource, 'merge'>
  /** The text that was agreed to, such as the version of a page. */
  wording?: string
  /** Such as the key, the request, the IP address and the user agent. */
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

/** A consent entry in API replies. */
export const ConsentEntry = Exact({ ...columns, at: Timestamp })

export const ConsentEntryRow = Type.Object({ ...columns, at: Instant })
export type ConsentEntryRow = Static<typeof ConsentEntryRow>

/** A subscription state to save for a user. */
export type StateChange = { user_id: UserId; subscription_id: SubscriptionId; state: SubscriptionState }

/** A saved state with the previous one; null if none was stored. */
export const SavedStateChange = Type.Object({
  user_id: IdOf<UserId>(),
  subscription_id: IdOf<SubscriptionId>(),
  state: State,
  previous_state: Nullable(State),
  default_state: State,
  requires_confirmation: Type.Boolean(),
})
export type SavedStateChange = Static<typeof SavedStateChange>

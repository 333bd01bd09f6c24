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
  /** Such as the key, the request, the import and its file, the IP address and the user agent. */
  proof?: Record<string, unknown>
}

const SameAddress = Type.Optional(
  Type.Integer({ description: 'The id of the user who got the message. Present in the entries of other users with the same address.' }),
)
const Everything = Type.Optional(Type.Boolean({ description: 'Whether the user unsubscribed from everything.' }))
const NotChosen = Type.Optional(
  Type.Boolean({
    description:
      'Whether the user had unsubscribed from everything and did not choose this type since. The entries of the types that were chosen then have the same `request_id`.',
  }),
)
const MessageId = Type.Integer({ description: 'The id of the message that the user reacted to.' })
const KeyIdOf = Type.Integer({ description: 'The id of the API key.' })
const RequestId = Type.String({ description: 'The id of the request.' })

/** What entries have as proof, by their source. */
const PROOFS = [
  Exact({ key_id: KeyIdOf, request_id: RequestId }, { description: 'A request with a key or a user token.' }),
  Exact(
    {
      import_id: Type.Integer({ description: 'The id of the import.' }),
      file: Type.Optional(Type.String({ description: 'The name of the file.' })),
      file_sha256: Type.Optional(Type.String({ description: 'The SHA-256 of the file, in hex.' })),
      key_id: Type.Optional(KeyIdOf),
    },
    { description: 'An import.' },
  ),
  Exact({ undone: Type.Literal(true, { description: 'Always true.' }) }, { description: 'An import that was undone.' }),
  Exact(
    {
      ip: Type.String({ description: 'The IP address of the request.' }),
      user_agent: Type.Optional(Type.String({ description: 'The user agent of the request.' })),
      request_id: RequestId,
      message_id: Type.Optional(MessageId),
      same_address_as: SameAddress,
      everything: Everything,
      not_chosen: NotChosen,
    },
    { description: 'A hosted page, or the one-click unsubscribe of a mail program.' },
  ),
  Exact({ message_id: MessageId, same_address_as: SameAddress }, { description: 'A report of a provider about a message.' }),
  Exact(
    { keyword: Type.String({ description: 'The keyword in the text message.' }), everything: Everything },
    { description: 'A text message such as STOP.' },
  ),
  Exact(
    {
      journey_id: Type.Integer({ description: 'The id of the journey.' }),
      entrance_id: Type.Integer({ description: 'The id of the entrance.' }),
    },
    { description: 'A step of a journey.' },
  ),
  Exact(
    { merged_user_ids: Type.Array(Type.Integer(), { description: 'The ids of the users who were merged.' }) },
    { description: 'A merge of users.' },
  ),
  Exact(
    { lifted: Type.Literal('erased', { description: 'Always `erased`.' }) },
    { description: 'A sign-up with the address of a user who was erased.' },
  ),
  Exact({}, { description: 'No proof was kept.' }),
]

/** The proof of a consent entry. Tests check every entry of a reply against it. */
export const ConsentProof = Type.Unsafe<Record<string, unknown>>({
  component: 'ConsentProof',
  description: 'The evidence. Its members depend on the source of the entry.',
  oneOf: PROOFS,
})

const State = Type.Unsafe<SubscriptionState>({ type: 'integer', enum: [0, 1, 2] })

const columns = {
  id: IdOf<ConsentId>(),
  subscription_id: IdOf<SubscriptionId>(),
  state: State,
  previous_state: Nullable(State),
  source: OneOf(CONSENT_SOURCES),
  wording: Nullable(Type.String()),
  proof: ConsentProof,
}

/** A consent entry in API replies. */
export const ConsentEntry = Exact({ ...columns, at: Timestamp })

/** Proofs are not checked when they are read: a reply must not fail over an old one. */
export const ConsentEntryRow = Type.Object({ ...columns, proof: Type.Unsafe<Record<string, unknown>>({}), at: Instant })
export type ConsentEntryRow = Static<typeof ConsentEntryRow>

/** A subscription state to save for a user. If one of several has its own `proof`, all have. */
export type StateChange = { user_id: UserId; subscription_id: SubscriptionId; state: SubscriptionState; proof?: Record<string, unknown> }

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

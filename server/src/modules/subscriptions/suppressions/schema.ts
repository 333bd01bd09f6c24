import { type Static, Type } from 'typebox'
import { ADDRESSED } from '../../../lib/channels.ts'
import { Exact, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'

const ITEMS_MAX = 100

/**
 * The reasons for a suppression, from weak to strong. A stronger reason replaces a weaker one, never the other way round, and covers
 * `unsubscribed_all`.
 */
export const SUPPRESSION_REASONS = ['unsubscribed_all', 'manual', 'hard_bounce', 'complaint', 'erased'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

const channel = OneOf(ADDRESSED)

export const SuppressionInputs = Type.Array(
  Exact({
    channel,
    address: Line(254, { description: 'An email address or a phone number.' }),
    reason: Type.Optional(
      OneOf(['unsubscribed_all', 'manual', 'hard_bounce', 'complaint'], { description: 'The reason. By default `manual`.' }),
    ),
  }),
  { minItems: 1, maxItems: ITEMS_MAX },
)
export type SuppressionInputs = Static<typeof SuppressionInputs>

const columns = {
  id: IdOf<number>(),
  channel,
  address: Nullable(Type.String({ description: 'The address; null if the user was erased.' })),
  reason: OneOf(SUPPRESSION_REASONS),
  source: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description:
      'What caused the suppression, such as a message or a key. `is_recipient` is true if it was the page of a message to this address. `covers` is a weaker suppression of the address. An `unsubscribed_all` there applies again when this suppression is lifted. With the reason `erased`, what is there applies again when a user signs up with the address.',
  }),
}

/** A suppression in API replies. */
export const Suppression = Exact({
  ...columns,
  stops_transactional: Type.Optional(
    Type.Boolean({
      description:
        'False if transactional messages are still sent, which only suppressions with the reason `unsubscribed_all` allow. Absent otherwise.',
    }),
  ),
  created_at: Timestamp,
})
export type Suppression = Static<typeof Suppression>

export const SuppressionRow = Type.Object({ ...columns, stops_transactional: Type.Boolean(), created_at: Instant })
export type SuppressionRow = Static<typeof SuppressionRow>

/** A suppression of an address of a user. */
export type UserSuppression = Pick<SuppressionRow, 'channel' | 'reason' | 'stops_transactional'>

export const Suppressions = Exact({
  results: Type.Array(Suppression, { description: 'The suppressions in the order of the request, each address once.' }),
})

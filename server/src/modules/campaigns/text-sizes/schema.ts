import { type Static, Type } from 'typebox'
import { Exact, Line, Nullable } from '../../../lib/shapes.ts'
import { Content, VariantName } from '../../templates/index.ts'

export const TextSizesInput = Exact({
  locale: Type.Optional(Line(255, { format: 'locale', description: 'The locale of `template`; by default the project’s locale.' })),
  variant: Type.Optional(VariantName),
  template: Type.Optional(Content),
})
export type TextSizesInput = Static<typeof TextSizesInput>

const Spread = (description: string) =>
  Nullable(
    Exact(
      { p50: Type.Integer(), max: Type.Integer() },
      { description: `${description}: \`p50\` is the median of the users, and \`max\` is the maximum.` },
    ),
  )

/** How long a text message is for a sample of users. */
export const TextSizes = Exact(
  {
    users: Type.Integer({ description: 'The number of users in the sample whose message was measured.' }),
    failed: Type.Integer({
      description: 'The number of users in the sample whose message cannot be rendered, or takes too long to render.',
    }),
    unicode: Type.Integer({
      description: 'The number of users whose message needs UCS-2, which fits 70 characters in a segment instead of 160.',
    }),
    characters: Spread('Characters'),
    segments: Spread('SMS segments'),
    shares: Type.Array(
      Exact({
        segments: Type.Integer(),
        users: Type.Integer(),
        share: Type.Number({ description: 'The share of the measured users, from 0 to 1.' }),
      }),
      { description: 'The number of users for each number of segments, fewest segments first.' },
    ),
    longest: Nullable(
      Exact(
        {
          external_id: Nullable(Type.String({ description: 'The `external_id`, or the anonymous id of a user without one.' })),
          characters: Type.Integer(),
          segments: Type.Integer(),
        },
        { description: 'The user whose message has the most segments; among several, the one with the most characters.' },
      ),
    ),
    recipients: Nullable(
      Type.Integer({
        description:
          'How many users in the lists of a blast will get the message. An estimate based on the sample if there are more users than were read.',
      }),
    ),
    cost: Nullable(
      Exact(
        {
          currency: Type.String({ description: 'ISO 4217.' }),
          per_message: Type.Number({ description: 'The mean number of segments, times the price of one.' }),
          total: Nullable(Type.Number({ description: '`per_message` times `recipients`.' })),
        },
        { description: 'An estimate based on the `segment_price` of the provider; null if it has none.' },
      ),
    ),
  },
  { title: 'TextSizes' },
)
export type TextSizes = Static<typeof TextSizes>

import { type Static, Type } from 'typebox'
import { Exact, Timestamp } from '../../../lib/shapes.ts'

/** What a sample of values looks like: numbers and booleans as they are, everything else as text, cut when it is long. */
export const Samples = Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }), {
  description: 'Up to five different values; text longer than 64 characters is cut.',
})

/** The part of those looked at that have an attribute. */
export const Coverage = Type.Number({ minimum: 0, maximum: 1, description: 'The part of those looked at that have it, from 0 to 1.' })

const AttributeInUse = Exact({
  key: Type.String({
    description: 'As a rule names it: `email`, or `data.plan`. A dot within a key of `data` is written `\\.`, a backslash `\\\\`.',
  }),
  types: Type.Array(Type.String(), { description: 'Of its values: `string`, `number`, `boolean`, `date`, `array`, `object`.' }),
  people: Type.Integer({ description: 'How many people have it.' }),
  coverage: Coverage,
  samples: Samples,
  last_seen: Timestamp,
})

/** The attributes in use, those of most people first. */
export const AttributesInUse = Exact({
  results: Type.Array(AttributeInUse),
  people: Type.Integer({ description: 'How many people were looked at.' }),
  as_of: Timestamp,
})
export type AttributesInUse = Static<typeof AttributesInUse>

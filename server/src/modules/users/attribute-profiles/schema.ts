import { type Static, Type } from 'typebox'
import { Exact, Timestamp } from '../../../lib/shapes.ts'

/** Sample values: numbers and booleans unchanged, everything else as text, which is shortened when it is long. */
export const Samples = Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }), {
  description: 'Up to five different values. Text is shortened to 64 characters.',
})

/** The share of the profiled users or events that have an attribute. */
export const Coverage = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'The share of the users or events that have the attribute, from 0 to 1.',
})

const AttributeInUse = Exact({
  key: Type.String({
    description:
      'The name of the attribute in rules, such as `email` or `data.plan`. A dot in a key of `data` is written `\\.`, a backslash `\\\\`.',
  }),
  types: Type.Array(Type.String(), { description: 'The types of its values: `string`, `number`, `boolean`, `date`, `array`, `object`.' }),
  people: Type.Integer({ description: 'The number of users who have the attribute.' }),
  coverage: Coverage,
  samples: Samples,
  last_seen: Timestamp,
  label: Type.Optional(Type.String({ description: 'The name that your team gave the attribute; absent if there is none.' })),
  personal_data: Type.Optional(Type.Boolean({ description: 'True if the attribute is personal data; otherwise absent.' })),
})

/** The attributes in use. Those that most users have come first. */
export const AttributesInUse = Exact({
  results: Type.Array(AttributeInUse),
  people: Type.Integer({ description: 'How many users were counted.' }),
  as_of: Timestamp,
})
export type AttributesInUse = Static<typeof AttributesInUse>

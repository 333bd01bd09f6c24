import calculator from 'sms-segments-calculator'
import { type Static, Type } from 'typebox'
import { Exact, OneOf } from '../../lib/shapes.ts'

export const Segments = Exact(
  {
    encoding: OneOf(['GSM-7', 'UCS-2'] as const),
    segments: Type.Integer({ description: 'The number of SMS segments.' }),
    characters: Type.Integer(),
    non_gsm: Type.Array(Type.String(), {
      description: 'The characters that require UCS-2. With UCS-2 a single segment has room for 70 characters instead of 160.',
    }),
  },
  { description: 'The SMS segments of a text message.' },
)
export type Segments = Static<typeof Segments>

/** Counts the SMS segments of a text. */
export function segmentsOf(text: string): Segments {
  const message = new calculator.SegmentedMessage(text)
  return {
    encoding: message.encodingName,
    segments: message.segmentsCount,
    characters: message.numberOfUnicodeScalars,
    non_gsm: [...new Set(message.getNonGsmCharacters())],
  }
}

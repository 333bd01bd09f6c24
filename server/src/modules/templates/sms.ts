import calculator from 'sms-segments-calculator'
import { type Static, Type } from 'typebox'
import { Exact, OneOf } from '../../lib/shapes.ts'

export const Segments = Exact(
  {
    encoding: OneOf(['GSM-7', 'UCS-2'] as const),
    segments: Type.Integer({ description: 'How many text messages it takes.' }),
    characters: Type.Integer(),
    non_gsm: Type.Array(Type.String(), { description: 'The characters that make it UCS-2, which has room for 70 instead of 160.' }),
  },
  { description: 'Of a text message.' },
)
export type Segments = Static<typeof Segments>

/** How many text messages a text takes, and why. */
export function segmentsOf(text: string): Segments {
  const message = new calculator.SegmentedMessage(text)
  return {
    encoding: message.encodingName,
    segments: message.segmentsCount,
    characters: message.numberOfUnicodeScalars,
    non_gsm: [...new Set(message.getNonGsmCharacters())],
  }
}

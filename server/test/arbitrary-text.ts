/** Arbitrary text for property tests. Each arbitrary of this kind builds a table of all characters, so tests share them. */
import fc from 'fast-check'

/** Any text as a person could write it. */
export const anyText = fc.string({ unit: 'grapheme' })

const SURROGATES = { first: 0xd800, last: 0xdfff }
const codePoint = fc
  .oneof(fc.nat(SURROGATES.first - 1), fc.integer({ min: SURROGATES.last + 1, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))

/** Any code points. `fc.string({ unit: 'binary' })` would build a table of a million. */
export const anyCodePoints = fc.array(codePoint).map((characters) => characters.join(''))

/** Arbitrary text for property tests. Each arbitrary of this kind builds a table of all characters, so tests share them. */
import fc from 'fast-check'

/** Any text as a person could write it. */
export const anyText = fc.string({ unit: 'grapheme' })

/** Any code points. */
export const anyCodePoints = fc.string({ unit: 'binary' })

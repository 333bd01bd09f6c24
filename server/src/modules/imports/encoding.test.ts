import fc from 'fast-check'
import { expect, test } from 'vitest'
import { converterFrom, type Encoding, NotText } from './encoding.ts'

/** The text of a file that arrives in these pieces. */
function converted(pieces: Buffer[], given?: Encoding): string {
  const convert = converterFrom(given)
  return Buffer.concat([...pieces.map((piece) => convert(piece)), convert()]).toString()
}

const bytewise = (bytes: Buffer): Buffer[] => [...bytes].map((byte) => Buffer.of(byte))

test.each<[string, Buffer, string]>([
  ['ends with its only character of Windows-1252', Buffer.from('kim,Jos\xe9', 'latin1'), 'kim,José'],
  ['ends with two of them', Buffer.from('kim,Zo\xeb\xe9', 'latin1'), 'kim,Zoëé'],
  ['has one before its end', Buffer.from('kim,Jos\xe9\n', 'latin1'), 'kim,José\n'],
  ['ends with its only character of UTF-8', Buffer.from('kim,🙂'), 'kim,🙂'],
])('a file that %s is read', (_, bytes, text) => {
  expect(converted([bytes])).toBe(text)
  expect(converted(bytewise(bytes))).toBe(text)
})

test.each(['Zoë José', 'kim,José', 'kim,🙂'])('%j is not text when its last character is cut off', (text) => {
  const bytes = Buffer.from(text).subarray(0, -1)
  expect(() => converted([bytes])).toThrow(NotText)
  expect(() => converted(bytewise(bytes))).toThrow(NotText)
})

test('UTF-8 is the same however it is cut', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', ',', 'é', '€', '🙂'), minLength: 4, maxLength: 40 }),
      fc.integer({ min: 4, max: 9 }),
      (text, size) => {
        const bytes = Buffer.from(`id,${text}`)
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        )
        expect(converted(pieces)).toBe(`id,${text}`)
      },
    ),
  )
})

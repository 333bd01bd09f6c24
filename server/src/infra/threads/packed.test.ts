import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, createPacker, shareBytes, textOf } from './packed.ts'

test('texts come out as they were packed, whatever their characters and sizes', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.nat({ max: 400_000 }).map((length) => 'é'.repeat(length)),
  )
  fc.assert(
    fc.property(fc.array(fc.array(text, { maxLength: 5 }), { maxLength: 4 }), (replies) => {
      const packer = createPacker()
      for (const texts of replies) {
        const packed = texts.map(packer.pack)
        const bytes = packer.take() ?? new ArrayBuffer(0)
        expect(packed.map((one) => textOf(bytes, one))).toEqual(texts.map((one) => one.toWellFormed()))
        const used = texts.reduce((sum, one) => sum + Buffer.byteLength(one), 0)
        expect(bytes.byteLength).toBeGreaterThanOrEqual(used)
        expect(bytes.byteLength).toBeLessThanOrEqual(2 * used)
      }
    }),
  )
})

test('what was taken is not changed by what is packed afterwards', () => {
  const packer = createPacker()
  const first = packer.pack('first')
  const bytes = packer.take() as ArrayBuffer
  packer.pack('other')
  expect(String(bytesOf(bytes, first))).toBe('first')
  packer.take()
  expect(packer.take()).toBeNull()
})

test('what was packed is freed when all who share it have released it, each once', () => {
  const packer = createPacker()
  packer.pack('text')
  const [one, other] = shareBytes(packer.take() as ArrayBuffer, 2)
  one?.release()
  one?.release()
  expect(other?.bytes.byteLength).toBe(4)
  other?.release()
  expect(other?.bytes.detached).toBe(true)
})

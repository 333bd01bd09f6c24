import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { deflateContent, inflateContent } from './content.ts'

test.each([0, 1, 20_000, 65_536, 65_537, 300_000])('a content of %i bytes comes out as it went in', async (size) => {
  const content = Buffer.from(
    randomBytes(size / 2)
      .toString('hex')
      .padEnd(size, '.'),
  )
  const stored = await deflateContent(content)
  expect(stored.size).toBe(size)
  expect(stored.deflated.length).toBeLessThan(size + 20)
  expect((await inflateContent(stored.deflated, stored.size)).equals(content)).toBe(true)
})

test.each([[['Subject: Hello\r\n', '', '\r\nHello Kim']], [['a'.repeat(40_000), 'b'.repeat(40_000)]]])(
  'the pieces of a content come out as one',
  async (texts) => {
    const { deflated, size } = await deflateContent(...texts.map((text) => Buffer.from(text)))
    expect((await inflateContent(deflated, size)).toString()).toBe(texts.join(''))
  },
)

test('what is cut off is no content', async () => {
  const { deflated, size } = await deflateContent(Buffer.from('Hello Kim'))
  await expect(inflateContent(deflated.subarray(0, -4), size)).rejects.toThrow()
})

/** Files of an email: their content in base64, and the ids by which the HTML shows images. */
import { expect, test } from 'vitest'
import { base64Of, contentIdOf, withImages } from '../src/screens/campaigns/editor/files.ts'

test('every byte of a file is in its base64, however large it is', async () => {
  const bytes = Uint8Array.from({ length: 100_001 }, (_, index) => index % 256)
  expect(Buffer.from(await base64Of(new Blob([bytes])), 'base64').equals(bytes)).toBe(true)
  expect(await base64Of(new Blob([]))).toBe('')
})

test.each([
  ['logo.png', [], 'logo.png'],
  ['Über uns (2).png', [], '-ber-uns-2-.png'],
  ['logo.png', [{ name: 'logo.png', content_id: 'mark' }], 'mark'],
  ['a b.png', [{ name: 'a-b.png', content_id: 'a-b.png' }], 'a-b.png-2'],
  ['x'.repeat(200), [], 'x'.repeat(74)],
])('the id of the image %s beside %j is %s', (name, existing, id) => expect(contentIdOf(name, existing, true)).toBe(id))

test.each([
  ['logo.png', [{ name: 'logo.png', content_id: 'mark' }], 'mark'],
  ['menu.pdf', [{ name: 'menu.pdf', content_id: null }], null],
  ['new.png', [{ name: 'logo.png', content_id: 'mark' }], null],
])('the id of %s beside %j is %s if it is attached', (name, existing, id) => expect(contentIdOf(name, existing, false)).toBe(id))

test('a preview shows the images that the HTML names, and leaves other ids', () => {
  const images = new Map([['logo', 'data:image/png;base64,AA==']])
  expect(withImages('<img src="cid:logo"><img src="cid:logo2">', images)).toBe(
    '<img src="data:image/png;base64,AA=="><img src="cid:logo2">',
  )
})

/** What devices show of push messages, and what the preview says of the body of a webhook. */
import { expect, test } from 'vitest'
import { type Device, isJson, shownOn } from '../src/screens/campaigns/editor/devices.ts'

test.each<[Device, number, number]>([
  ['ios', 40, 150],
  ['android', 45, 50],
  ['web', 45, 100],
])('%s shows %i characters of a title and %i of a body', (device, title, body) => {
  const fits = { title: '👩‍👩‍👧'.repeat(title), body: 'é'.repeat(body) }
  expect(shownOn(device, fits)).toEqual({ ...fits, isCut: false })
  const long = shownOn(device, { title: `${fits.title}!`, body: `${fits.body}!` })
  expect(long).toEqual({ title: `${'👩‍👩‍👧'.repeat(title - 1)}…`, body: `${'é'.repeat(body - 1)}…`, isCut: true })
})

test.each([
  ['{"a": 1}', true],
  [' [1, 2]', true],
  ['{"name": }', false],
  ['a=1&b=2', undefined],
  ['', undefined],
])('the body %j is JSON: %s', (body, expected) => expect(isJson(body)).toBe(expected))

import { describe, expect, test } from 'vitest'
import type { Channel } from '../../lib/shapes.ts'
import { summarise } from './channel.ts'
import { compose, unreachable } from './compose.ts'

const ana = { external_id: 'ana', anonymous_id: 'visitor-1', email: 'ana@example.com', phone: '+61400000000', has_push_device: true }
const nobody = { external_id: null, anonymous_id: 'visitor-1', email: null, phone: null, has_push_device: false }

test.each<[Channel, string | null]>([
  ['email', 'no_address'],
  ['text', 'no_address'],
  ['push', 'no_push_device'],
  ['webhook', null],
  ['in_app', null],
])('a user without addresses or devices: %s returns %s', (channel, expected) => {
  expect(unreachable(channel, nobody)).toBe(expected)
  expect(unreachable(channel, ana)).toBeNull()
})

describe('a rendered template is composed into a message', () => {
  test.each<[Channel, Record<string, unknown>, unknown]>([
    [
      'email',
      { subject: 'Hi', html: '<p>Hello <b>Ana</b></p>', text: 'Hello Ana', from: 'A <a@example.com>', reply_to: '', cc: 'kim@example.com' },
      {
        recipient: 'ana@example.com',
        summary: 'Hi',
        content: {
          from: 'A <a@example.com>',
          cc: 'kim@example.com',
          to: 'ana@example.com',
          subject: 'Hi',
          html: '<p>Hello <b>Ana</b></p>',
          text: 'Hello Ana',
        },
      },
    ],
    [
      'email',
      { subject: 'Hi', html: '<p>Hello</p>', text: 'Own words' },
      { content: { to: 'ana@example.com', subject: 'Hi', html: '<p>Hello</p>', text: 'Own words' } },
    ],
    [
      'text',
      { body: 'Two\nlines' },
      { recipient: '+61400000000', summary: 'Two lines', content: { to: '+61400000000', body: 'Two\nlines' } },
    ],
    [
      'push',
      { title: 'T', body: 'B', url: '', custom: { a: 1 } },
      { recipient: 'ana', summary: 'T', content: { title: 'T', body: 'B', custom: { a: 1 } } },
    ],
    [
      'webhook',
      { endpoint: ' https://example.com/hook?u=1 ', headers: { 'X-Name': 'A\r\nB' }, body: '{}' },
      {
        recipient: 'https://example.com/hook?u=1',
        summary: 'POST https://example.com/hook?u=1',
        content: { method: 'POST', endpoint: 'https://example.com/hook?u=1', headers: { 'X-Name': 'A B' }, body: '{}' },
      },
    ],
    ['in_app', { title: 'T', body: 'B' }, { recipient: 'ana', summary: 'T', content: { type: 'inbox', title: 'T', body: 'B' } }],
  ])('%s %j', (channel, filled, expected) => expect(compose(channel, filled, ana)).toMatchObject(expected as object))

  test('attributes of users cannot start another header', () => {
    const filled = { subject: 'Hi\r\nBcc: everyone@example.com', from: 'A\nB <a@example.com>', preheader: 'x\u2028y', html: 'x' }
    expect(compose('email', filled, ana)).toMatchObject({
      content: { subject: 'Hi Bcc: everyone@example.com', from: 'A B <a@example.com>', preheader: 'x y' },
    })
  })

  test.each([
    ['Bells, Inc <a@example.com>', '"Bells, Inc" <a@example.com>'],
    ['Bells (Sydney): news <a@example.com>', '"Bells (Sydney): news" <a@example.com>'],
    ['"Bells, Inc" <a@example.com>', '"Bells, Inc" <a@example.com>'],
    ['Bells Inc <a@example.com>', 'Bells Inc <a@example.com>'],
    ['a@example.com', 'a@example.com'],
    ['a@example.com, Bo <b@example.com>', 'a@example.com, Bo <b@example.com>'],
  ])('the display name of %s is quoted if it needs it', (given, expected) => {
    const filled = { subject: 'Hi', html: 'x', from: given, reply_to: given, cc: given }
    expect(compose('email', filled, ana)).toMatchObject({ content: { from: expected, reply_to: expected, cc: expected } })
  })

  test.each(['', 'example.com/hook', 'ftp://example.com', 'https://exa mple.com', 'https://'])(
    'the endpoint %j is a problem',
    (endpoint) => {
      expect(compose('webhook', { endpoint }, ana)).toHaveProperty('problem')
    },
  )

  test('the recipient of an anonymous user is the anonymous id', () => {
    expect(compose('in_app', { title: 'T', body: 'B' }, nobody)).toMatchObject({ recipient: 'visitor-1' })
  })
})

test.each([
  ['short', 'short'],
  [' a \n b ', 'a b'],
  ['🔔'.repeat(201), `${'🔔'.repeat(199)}…`],
  ['x'.repeat(200), 'x'.repeat(200)],
])('the summary of %j', (text, expected) => expect(summarise(text)).toBe(expected))

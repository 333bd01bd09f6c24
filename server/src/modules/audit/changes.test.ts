import { expect, test } from 'vitest'
import { changesOf, MASK } from './changes.ts'

test.each([
  ['a member', { password: 'x' }, { password: MASK }],
  ['members of an object', { settings: { api_key: 'x', host: 'h' } }, { settings: { api_key: MASK, host: 'h' } }],
  ['items of a list', { tokens: ['x', '', 'y'] }, { tokens: [MASK, '', MASK] }],
  ['lists of lists', { tokens: [['x']] }, { tokens: [[MASK]] }],
  [
    'pairs of a name and a value',
    {
      headers: [
        { name: 'Authorization', value: 'Bearer x' },
        { name: 'Accept', value: 'text/html' },
      ],
    },
    {
      headers: [
        { name: 'Authorization', value: MASK },
        { name: 'Accept', value: 'text/html' },
      ],
    },
  ],
  ['a pair with several values', { headers: [{ name: 'Set-Cookie', value: ['x'] }] }, { headers: [{ name: 'Set-Cookie', value: [MASK] }] }],
  ['not the value of an object that itself has the name of a secret', { name: 'Token', value: 'x' }, { name: 'Token', value: 'x' }],
  ['members of items', { steps: [{ secret: 'x', at: 1 }] }, { steps: [{ secret: MASK, at: 1 }] }],
])('secrets are masked: %s', (_, after, kept) => {
  expect(changesOf(undefined, after)).toEqual({ before: null, after: kept })
})

import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSecrets } from './secrets.ts'

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`

test('encrypted text can be decrypted and does not contain the plain text', () =>
  fc.assert(
    fc.property(fc.string({ minLength: 4 }), (text) => {
      const secrets = createSecrets([key('a', 1)])
      const sealed = secrets.seal(text, 'context')
      expect(secrets.open(sealed, 'context')).toBe(text)
      expect(sealed).not.toContain(text)
    }),
  ))

test('after a rotation, old keys decrypt and the new one encrypts', () => {
  const old = createSecrets([key('old', 1)]).seal('text', 'c')
  const rotated = createSecrets([key('new', 2), key('old', 1)])
  expect(rotated.open(old, 'c')).toBe('text')
  expect(rotated.seal('text', 'c')).toMatch(/^new\./)
})

test('text with another context, another key or a changed byte cannot be decrypted', () => {
  const secrets = createSecrets([key('a', 1)])
  const sealed = secrets.seal('text', 'endpoint:1')
  expect(() => secrets.open(sealed, 'endpoint:2')).toThrow()
  expect(() => createSecrets([key('a', 2)]).open(sealed, 'endpoint:1')).toThrow()
  expect(() => createSecrets([key('b', 1)]).open(sealed, 'endpoint:1')).toThrow('not in SECRETS_KEY')
  expect(() => secrets.open(`${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`, 'endpoint:1')).toThrow()
})

test('a signature is the HMAC of its context and text, however long they are', () => {
  const derived = createHmac('sha256', Buffer.alloc(32, 1)).update('sign').digest()
  const secrets = createSecrets([key('a', 1)])
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.nat({ max: 5000 }).map((length) => 'ü'.repeat(length)),
  )
  fc.assert(
    fc.property(text, fc.string(), (text, context) => {
      const hmac = createHmac('sha256', derived).update(`${context}\n${text}`).digest('base64url')
      expect(secrets.sign(text, context)).toBe(hmac.slice(0, 22))
      expect(secrets.isSigned(text, hmac.slice(0, 22), context)).toBe(true)
    }),
  )
})

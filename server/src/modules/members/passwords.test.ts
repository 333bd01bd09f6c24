import { expect, test } from 'vitest'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { createSecrets } from '../../infra/runtime/secrets.ts'
import { hashPassword, isOutdated, isPassword, requireGoodPassword } from './passwords.ts'

const ctx = {
  config: { PASSWORD_HASH_KIB: 8 },
  secrets: createSecrets([`test:${Buffer.alloc(32, 7).toString('base64')}`]),
} as unknown as Ctx

test('a hash is of its password only, in the PHC format', async () => {
  const hash = await hashPassword(ctx, 'four unrelated words')
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=8,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(await isPassword(ctx, 'four unrelated words', hash)).toBe(true)
  expect(await isPassword(ctx, 'four unrelated word', hash)).toBe(false)
  expect(await hashPassword(ctx, 'four unrelated words')).not.toBe(hash)
  expect([isOutdated(ctx, hash), isOutdated(ctx, hash.replace('m=8', 'm=16'))]).toEqual([false, true])
})

test('a hash of another implementation is verified', async () => {
  // The reference implementation: echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -l 32
  const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  expect(await isPassword(ctx, 'password', hash)).toBe(true)
})

test('two ways to type a character are one password', async () => {
  const hash = await hashPassword(ctx, 'caf\u00e9 and three words')
  expect(await isPassword(ctx, 'cafe\u0301 and three words', hash)).toBe(true)
})

test('without a hash, no password is right', async () => {
  expect(await isPassword(ctx, 'four unrelated words', null)).toBe(false)
})

test.each([
  ['elevenchars', false],
  ['twelve chars', true],
  ['password1234', false],
  ['Password-1234!', false],
  ['aaaaaaaaaaaaaaa', false],
  ['abababababababab', false],
  ['kim@example.com', false],
  ['kim.barton2026', false],
  ['carilloncarillon', false],
  ['Carillon-2026!!', false],
  ['a carillon in the rain', true],
  ['four unrelated words', true],
  ['💌💌💌🔑🔑🔑🌧🌧🌧🛶🛶🛶', false],
])('the password %j is good: %s', (password, isGood) => {
  const check = () => requireGoodPassword(password, password.startsWith('kim@') ? 'kim@example.com' : 'kim.barton@example.com')
  if (isGood) expect(check).not.toThrow()
  else expect(check).toThrow(/password/)
})

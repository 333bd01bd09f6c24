import { expect, test } from 'vitest'
import { MINUTE_MS } from '../../lib/times.ts'
import { cacheAccessTokens } from './access-tokens.ts'

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes))

function counted() {
  let made = 0
  return async () => ({ token: `t${++made}`, forMs: 50 * MINUTE_MS })
}

test('a token is cached for its credentials until it expires', async () => {
  const tokens = cacheAccessTokens()
  const make = counted()
  const get = async (credentials: string[], minutes: number) => (await tokens.get(credentials, at(minutes), make)).token
  expect(await get(['a', 'b'], 0)).toBe('t1')
  expect(await get(['a', 'b'], 49)).toBe('t1')
  expect(await get(['ab'], 49)).toBe('t2')
  expect(await get(['a', 'b'], 50)).toBe('t3')
  tokens.forget(['a', 'b'])
  expect(await get(['a', 'b'], 51)).toBe('t4')
  expect(await get(['a', 'b'], 10)).toBe('t5')
})

test('simultaneous calls share one token', async () => {
  const tokens = cacheAccessTokens()
  const make = counted()
  const issued = await Promise.all(Array.from({ length: 10 }, () => tokens.get(['a'], at(0), make)))
  expect(new Set(issued.map(({ token }) => token))).toEqual(new Set(['t1']))
})

test('a failure is returned and not cached', async () => {
  const tokens = cacheAccessTokens<{ is: 'deferred'; reason: string }>()
  expect(await tokens.get(['a'], at(0), async () => ({ is: 'deferred', reason: 'no line' }))).toEqual({ is: 'deferred', reason: 'no line' })
  await expect(tokens.get(['a'], at(0), () => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug')
  expect(await tokens.get(['a'], at(0), counted())).toMatchObject({ token: 't1' })
})

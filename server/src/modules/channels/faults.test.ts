import { expect, test } from 'vitest'
import { createTestClock } from '../../../test/test-clock.ts'
import { actOut, faultOf, NO_FAULTS } from './faults.ts'
import type { ProviderResponse } from './provider.ts'

const SHARES = { ...NO_FAULTS, bounce_percent: 10, complaint_percent: 20, soft_fail_percent: 30 }
const keys = Array.from({ length: 2000 }, (_, at) => `key-${at}`)
const counted = (channel: 'email' | 'text') => {
  const found = keys.map((key) => faultOf(SHARES, { key, channel }))
  return (['bounce', 'complaint', 'soft_fail', null] as const).map((fault) => found.filter((one) => one === fault).length / keys.length)
}

test('each fault has its share of the messages, and only emails bounce or are complained about', () => {
  for (const [at, share] of counted('email').entries()) expect(share).toBeCloseTo([0.1, 0.2, 0.3, 0.4][at] as number, 1)
  const [bounces, complaints, softFails] = counted('text')
  expect([bounces, complaints, softFails]).toEqual([0, 0, counted('email')[2]])
})

test('all of 100 are all, and none of 0 is one', () => {
  expect(new Set(keys.map((key) => faultOf({ ...NO_FAULTS, bounce_percent: 100 }, { key, channel: 'email' })))).toEqual(new Set(['bounce']))
  expect(new Set(keys.map((key) => faultOf(NO_FAULTS, { key, channel: 'email' })))).toEqual(new Set([null]))
})

test('a delayed message is accepted once the delay is over', async () => {
  const clock = createTestClock()
  const accepted: ProviderResponse = { is: 'accepted', delivered: true }
  let calls = 0
  const response = actOut({ ...NO_FAULTS, delay_seconds: 3 }, { key: 'a', channel: 'email' }, { clock }, async () => {
    calls += 1
    return accepted
  })
  clock.advance('2 seconds')
  await Promise.resolve()
  expect(calls).toBe(0)
  clock.advance('1 second')
  expect(await response).toEqual(accepted)
})

import { expect, test } from 'vitest'
import { createTestClock } from '../../../test/test-clock.ts'
import type { ProviderResponse } from './provider.ts'
import { simulate, simulatedFor } from './simulate.ts'

test('a slow address is accepted after ten seconds', async () => {
  const clock = createTestClock()
  const accepted: ProviderResponse = { is: 'accepted', delivered: true }
  let calls = 0
  const response = simulate('slow', { clock }, async () => {
    calls += 1
    return accepted
  })
  clock.advance('9 seconds')
  await Promise.resolve()
  expect(calls).toBe(0)
  clock.advance('1 second')
  expect(await response).toEqual(accepted)
  expect(calls).toBe(1)
})

test('only addresses of email are simulated', () => {
  expect(simulatedFor({ channel: 'webhook', recipient: 'bounce@simulator.carillon.example' })).toBeNull()
  expect(simulatedFor({ channel: 'email', recipient: 'bounce@simulator.carillon.example' })).toBe('bounce')
})

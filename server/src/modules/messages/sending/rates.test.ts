import { expect, test } from 'vitest'
import { world } from '../../../../test/world.ts'
import { applyRates, countAsSent } from './rates.ts'

test('messages that are sent late count from then on, but at most a quarter of the interval later', async () => {
  await using w = await world()
  const limited = { name: 'provider 1', rate: { limit: 4, intervalMs: 60_000 } }
  const rateOf = () => limited
  const { granted, grantedAtMs } = await applyRates(w.ctx, [1, 2, 3, 4], rateOf)
  w.advance('50 seconds')
  await countAsSent(w.ctx, granted, [rateOf], { grantedAtMs, startedAtMs: grantedAtMs.get(limited.name) as number })
  const grantedNow = async () => (await applyRates(w.ctx, [5, 6, 7, 8], rateOf)).granted.length
  // An interval and a quarter after they were granted.
  w.advance('24 seconds')
  expect(await grantedNow()).toBe(0)
  w.advance('2 seconds')
  expect(await grantedNow()).toBe(4)
})

import { expect, test } from 'vitest'
import { world } from '../../../../test/world.ts'
import type { MtaStsPolicy } from '../../../lib/mta-sts.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { storedPolicies } from './stored-policies.ts'

const DAY_S = 86_400
const policy = (change: Partial<MtaStsPolicy> = {}): MtaStsPolicy => ({
  id: '1',
  mode: 'enforce',
  mx: ['*.example'],
  maxAgeS: DAY_S,
  ...change,
})

test('a policy is stored for its domain, and the newest one stays', async () => {
  await using w = await world()
  const store = storedPolicies(w.ctx.db)
  const fetchedAt = w.clock.now()
  expect(await store.find('a.example')).toBeNull()
  await store.save('a.example', { policy: policy({ id: '2' }), fetchedAt })
  await store.save('a.example', { policy: policy({ id: '1' }), fetchedAt: new Date(fetchedAt.getTime() - 1) })
  expect(await store.find('a.example')).toEqual({ policy: policy({ id: '2' }), fetchedAt })
  await store.save('a.example', { policy: policy({ id: '3', mode: 'none', mx: [] }), fetchedAt: new Date(fetchedAt.getTime() + 1) })
  expect(await store.find('a.example')).toMatchObject({ policy: { id: '3', mx: [] } })
})

test('policies that have expired are deleted when others are saved', async () => {
  await using w = await world()
  const store = storedPolicies(w.ctx.db)
  const now = w.clock.now()
  for (const domain of ['old1.example', 'old2.example'])
    await store.save(domain, { policy: policy(), fetchedAt: new Date(now.getTime() - 2 * DAY_MS) })
  await store.save('old1.example', { policy: policy({ id: '2' }), fetchedAt: now })
  expect(await store.find('old2.example')).toBeNull()
  expect(await store.find('old1.example')).toMatchObject({ policy: { id: '2' } })
})

/** The attributes of users, compared in SQL: each is read from its own column or path. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'

const VALUES = {
  external_id: 'ana-1',
  anonymous_id: 'browser-1',
  email: 'ana@shop.example',
  phone: '+61400000001',
  timezone: 'Australia/Sydney',
  locale: 'en-AU',
}

const DATA = { plan: 'pro', address: { city: 'Perth', address: 'other', plan: 'none' }, count: 3, tags: ['pro'] }

let w: World
beforeAll(async () => {
  w = await world()
  const saved = await w.post('/api/client/users/batch', [
    { ...VALUES, data: DATA },
    { external_id: 'bob-2', data: { plan: ['pro'] } },
  ])
  expect(saved.status, saved.text).toBe(200)
})
afterAll(() => w[Symbol.asyncDispose]())

const counted = async (rule: object): Promise<number> => {
  const reply = await w.post('/api/client/lists/preview', { rule })
  expect(reply.status, reply.text).toBe(200)
  return reply.body.count
}

const CASES: [attribute: string, value: string][] = [
  ...Object.entries(VALUES),
  ['data.plan', 'pro'],
  ['data.address.city', 'Perth'],
  ['timezone.country', 'AU'],
  ['timezone.region', 'Australia'],
]

test.each(CASES)('%s is %s for one user, is one of it, and is not for the other', async (attribute, value) => {
  expect(await counted({ attribute, is: value })).toBe(1)
  expect(await counted({ attribute, is_not: value })).toBe(1)
  expect(await counted({ attribute, one_of: ['neither', value] })).toBe(1)
  expect(await counted({ attribute, not_one_of: ['neither', value] })).toBe(1)
  expect(await counted({ attribute, is: `${value} ` })).toBe(0)
})

test('a string is not equal to a number, a list or an object with the same text', async () => {
  expect(await counted({ attribute: 'data.count', is: '3' })).toBe(0)
  expect(await counted({ attribute: 'data.tags', is: '["pro"]' })).toBe(0)
  expect(await counted({ attribute: 'data.plan', one_of: ['["pro"]'] })).toBe(0)
})

import { expect, test } from 'vitest'
import { createJourney, READY } from '../../../test/journeys.ts'
import { type World, world } from '../../../test/world.ts'

async function things(w: World) {
  const make = async (path: string, body: object) => (await w.post(`/api/client/${path}`, body)).body.id as number
  const list = await make('lists', { name: 'VIP', type: 'static' })
  const subscription_id = await make('subscriptions', { name: 'News', channel: 'text' })
  const campaign = await make('campaigns', { name: 'Hi', type: 'trigger', subscription_id })
  await w.put(`/api/client/campaigns/${campaign}/templates/en`, { body: 'Hello' })
  return { list, campaign }
}

type Things = Awaited<ReturnType<typeof things>>

const withGate = (rule: object) => ({
  ...READY,
  w1: { ...READY.w1, children: [{ external_id: 'g' }] },
  g: {
    type: 'gate',
    x: 0,
    y: 0,
    data: { rule },
    children: [
      { external_id: 'out', path: 'yes' },
      { external_id: 'out', path: 'no' },
    ],
  },
})

const USES: [string, 'list' | 'campaign', (ids: Things) => { steps: object; settings?: object }][] = [
  ['an entrance', 'list', ({ list }) => ({ steps: { ...READY, start: { ...READY.start, data: { trigger: 'list', list_id: list } } } })],
  ['a rule', 'list', ({ list }) => ({ steps: withGate({ not: { list } }) })],
  ['the settings', 'list', ({ list }) => ({ steps: READY, settings: { exclusion_list_ids: [list] } })],
  ['a rule', 'campaign', ({ campaign }) => ({ steps: withGate({ campaign, did: 'opened' }) })],
]

test.each(USES)('%s of a live journey stops the deletion of its %s, unless it is forced', async (_, kind, make) => {
  await using w = await world()
  const ids = await things(w)
  const { steps, settings } = make(ids)
  const journey = await createJourney(w, { name: 'Onboarding' }, steps)
  if (settings) await w.patch(journey.path, { settings })
  const path = `/api/client/${kind}s/${ids[kind]}`
  expect((await journey.post('publish')).status).toBe(200)
  const refused = await w.delete(path)
  expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
  expect(refused.body.message).toContain('the journey “Onboarding”')
  expect(await w.delete(`${path}?force=false`)).toMatchObject({ status: 422 })
  expect(await w.delete(`${path}?force=maybe`)).toMatchObject({ status: 400, body: { error: { param: 'force' } } })
  expect((await w.get(path)).status).toBe(200)
  expect((await w.delete(`${path}?force=true`)).status).toBe(204)
})

test('a step that sends stops the deletion of its campaign', async () => {
  await using w = await world()
  const { campaign } = await things(w)
  await w.patch(`/api/client/campaigns/${campaign}`, { state: 'running' })
  const send = { type: 'action', x: 0, y: 0, data: { campaign_id: campaign } }
  const steps = { start: { ...READY.start, children: [{ external_id: 'send' }] }, send }
  const journey = await createJourney(w, { name: 'Onboarding', status: 'live' }, steps)
  expect((await w.delete(`/api/client/campaigns/${campaign}`)).body.message).toContain('the journey “Onboarding”')
  await w.patch(journey.path, { status: 'off' })
  expect((await w.delete(`/api/client/campaigns/${campaign}`)).status).toBe(204)
})

test('a draft stops no deletion', async () => {
  await using w = await world()
  const { list } = await things(w)
  await createJourney(w, {}, withGate({ list }))
  expect((await w.delete(`/api/client/lists/${list}`)).status).toBe(204)
})

test('a step cannot change a dynamic list', async () => {
  await using w = await world()
  const rule = { attribute: 'data.plan', is: 'pro' }
  const { id } = (await w.post('/api/client/lists', { name: 'Pro', type: 'dynamic', rule })).body
  const journey = await createJourney(w)
  const reply = await journey.put({ add: { type: 'list', x: 0, y: 0, data: { list_id: id, change: 'add' } } })
  expect(reply).toMatchObject({ status: 422, body: { error: { param: 'add.data.list_id' } } })
})

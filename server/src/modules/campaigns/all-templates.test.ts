/** The list of all templates (D-CAMP-9). */
import { expect, test } from 'vitest'
import { blastTo, listOf, pathOf, subscriptionTo } from '../../../test/blasts.ts'
import { createJourney, READY } from '../../../test/journeys.ts'
import { type World, world } from '../../../test/world.ts'

test('lists the templates of all campaigns by what they say, in pages, without those of archived campaigns and other projects', async () => {
  await using w = await world()
  const list = await listOf(w, 'ana')
  const spring = await blastTo(w, [list], { name: 'Spring' })
  const winter = await blastTo(w, [list], { name: 'Winter' })
  await w.put(`${pathOf(spring)}/templates/de`, { from: 'Shop <shop@example.com>', subject: 'Hallo 100 %', html: '<p>Hallo</p>' })
  const find = async (query: string, more: Parameters<World['get']>[1] = { key: w.keys.support }) => {
    const reply = await w.get(`/api/client/templates?${query}`, more)
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }
  const all = await find('sort=id&direction=asc')
  expect(all.results.map(({ campaign_name, locale, variant, summary }: any) => [campaign_name, locale, variant, summary])).toEqual([
    ['Spring', 'en', 'A', 'Hi'],
    ['Winter', 'en', 'A', 'Hi'],
    ['Spring', 'de', 'A', 'Hallo 100 %'],
  ])
  const ids = async (query: string) => (await find(query)).results.map(({ id }: any) => id).sort()
  const of = (...wanted: number[]) => wanted.map((index) => all.results[index].id).sort()
  expect(await ids('q=spring')).toEqual(of(0, 2))
  expect(await ids('q=hallo')).toEqual(of(2))
  expect(await ids('locale=en&channel=email')).toEqual(of(0, 1))
  expect(await ids('channel=text')).toEqual([])
  const first = await find('limit=2')
  expect((await find(`limit=2&cursor=${first.nextCursor}`)).results).toHaveLength(1)
  await w.delete(pathOf(winter))
  expect(await ids('')).toEqual(of(0, 2))
  const other = await w.other()
  expect((await find('', { key: other.keys.secret })).results).toEqual([])
})

test('says which live journeys send the campaign of a template', async () => {
  await using w = await world()
  const subscription_id = await subscriptionTo(w)
  const { id } = (await w.post('/api/client/campaigns', { name: 'Hi', type: 'trigger', subscription_id })).body
  await w.put(`/api/client/campaigns/${id}/templates/en`, { from: 'Shop <shop@example.com>', subject: 'Hi', html: '<p>Hi</p>' })
  await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })
  const send = { type: 'action', x: 0, y: 2, data: { campaign_id: id } }
  const steps = { api: { ...READY.api, children: [{ external_id: 'send' }] }, send }
  const live = await createJourney(w, { status: 'live', name: 'Greeting' }, steps)
  await createJourney(w, { name: 'Only a draft' }, steps)
  const journeys = async () => (await w.get('/api/client/templates')).body.results.map(({ journeys }: any) => journeys)
  expect(await journeys()).toEqual([[{ id: live.id, name: 'Greeting' }]])
  await w.delete(live.path)
  expect(await journeys()).toEqual([[]])
})

import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import * as kinds from './steps/index.ts'
import type { StepKind } from './steps/step.ts'

/** One of each thing that a step can refer to. */
async function things(w: World, key?: string) {
  const make = async (path: string, body: object) => {
    const reply = await w.post(`/api/client/${path}`, body, key === undefined ? {} : { key })
    expect(reply.status, reply.text).toBe(201)
    return reply.body.id as number
  }
  const subscription = await make('subscriptions', { name: 'News', channel: 'email' })
  return {
    subscription,
    campaign: await make('campaigns', { name: 'Hi', type: 'trigger', channel: 'email', subscription_id: subscription }),
    list: await make('lists', { name: 'All', type: 'static' }),
    journey: await make('journeys', { name: 'Other' }),
  }
}

type Things = Awaited<ReturnType<typeof things>>

/** Every member of a step that contains an id, with the path of the id. */
const PLACES: [type: string, data: (ids: Things) => object, path: string][] = [
  ['action', ({ campaign }) => ({ campaign_id: campaign }), 'campaign_id'],
  ['link', ({ journey }) => ({ journey_id: journey }), 'journey_id'],
  ['entrance', ({ list }) => ({ trigger: 'list', list_id: list }), 'list_id'],
  ['entrance', ({ list }) => ({ rule: { list } }), 'rule.list'],
  ['gate', ({ list }) => ({ rule: { all: [{ attribute: 'data.plan', is: 'pro' }, { not: { list } }] } }), 'rule.all[1].not.list'],
  ['gate', ({ subscription }) => ({ rule: { subscription, state: 'subscribed' } }), 'rule.subscription'],
  ['gate', ({ campaign }) => ({ rule: { any: [{ campaign, has: 'opened' }] } }), 'rule.any[0].campaign'],
  ['gate', ({ list }) => ({ rule: { event: 'list_entered', where: [{ attribute: 'data.list_id', is: list }] } }), 'rule.where[0].is'],
  // An unfinished rule is stored as it is, but not with an id of another project.
  ['gate', ({ list }) => ({ rule: { user: { list, other: true } } }), 'rule.user.list'],
]

async function put(w: World, type: string, data: object) {
  const { body } = await w.post('/api/client/journeys', { name: 'Welcome' })
  return w.put(`/api/client/journeys/${body.id}/steps`, { one: { type, x: 0, y: 0, data } })
}

describe.each(PLACES)('a step of the type %s', (type, data, path) => {
  test(`may have an id of the project at ${path}`, async () => {
    await using w = await world()
    const reply = await put(w, type, data(await things(w)))
    expect(reply.status, reply.text).toBe(200)
  })

  test(`is refused with an id of another project or of nothing at ${path}`, async () => {
    await using w = await world()
    const other = await w.other()
    const foreign = await things(w, other.keys.secret)
    const nothing = { campaign: 999_999_999, journey: 999_999_999, list: 999_999_999, subscription: 999_999_999 }
    for (const ids of [foreign, nothing]) {
      const { status, body } = await put(w, type, data(ids))
      expect(status).toBe(422)
      expect(body.error).toMatchObject({ code: 'validation_failed', param: `one.data.${path}` })
    }
  })

  test(`is refused with an archived thing at ${path}`, async () => {
    await using w = await world()
    const ids = await things(w)
    for (const [name, id] of Object.entries(ids)) await w.delete(`/api/client/${name}s/${id}`)
    // Subscription types are not archived.
    if (!path.endsWith('subscription')) expect((await put(w, type, data(ids))).status).toBe(422)
  })
})

test('every id and rule in the settings of a step is declared as a reference', () => {
  for (const [type, { settings, refersTo = {} }] of Object.entries(kinds as Record<string, StepKind>)) {
    const members = Object.keys((settings as unknown as { properties: object }).properties)
    expect([type, members.filter((name) => /_ids?$|^rule$/.test(name))]).toEqual([type, Object.keys(refersTo)])
  }
})

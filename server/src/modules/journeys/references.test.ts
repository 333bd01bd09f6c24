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
  ['gate', ({ list }) => ({ branches: [{ path: 'a', rule: { not: { list } } }] }), 'branches[0].rule.not.list'],
  ['wait_until', ({ list }) => ({ conditions: [{ path: 'a', list_id: list }] }), 'conditions[0].list_id'],
  ['wait_until', ({ list }) => ({ conditions: [{ path: 'a', rule: { all: [{ list }] } }] }), 'conditions[0].rule.all[0].list'],
  ['exit', ({ list }) => ({ when: [{ list_id: list, change: 'left' }] }), 'when[0].list_id'],
  ['exit', ({ subscription }) => ({ when: [{ rule: { subscription, is: 'subscribed' } }] }), 'when[0].rule.subscription'],
  ['list', ({ list }) => ({ list_id: list, change: 'add' }), 'list_id'],
  ['subscription', ({ subscription }) => ({ subscription_id: subscription, state: 0 }), 'subscription_id'],
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
    if (!/subscription(_id)?$/.test(path)) expect((await put(w, type, data(ids))).status).toBe(422)
  })
})

type Schema = { type?: string; properties?: Record<string, Schema>; items?: Schema }

type Place = { param: string; settings: object }

/** The members of settings that contain an id or a rule, also in lists of settings, each with settings that have it. */
function placesIn({ properties = {} }: Schema): Place[] {
  return Object.entries(properties).flatMap(([name, schema]): Place[] => {
    if (/_id$|^rule$/.test(name)) return [{ param: name, settings: { [name]: name === 'rule' ? { list: 1 } : 1 } }]
    if (schema.items?.properties === undefined) return []
    return placesIn(schema.items).map(({ param, settings }) => ({ param: `${name}[0].${param}`, settings: { [name]: [settings] } }))
  })
}

const places = Object.entries(kinds as Record<string, StepKind>).flatMap(([type, { settings, references }]) =>
  placesIn(settings as unknown as Schema).map((place) => ({ type, references, ...place })),
)

test.each(places)('the references of a step of the type $type have $param', ({ references, param, settings }) => {
  const found = references?.(settings)
  expect([...(found?.ids ?? []), ...(found?.rules ?? [])].map((one) => one.param)).toEqual([param])
})

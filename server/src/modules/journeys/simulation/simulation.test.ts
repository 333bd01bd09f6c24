import { expect, test } from 'vitest'
import { createJourney } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'

const at = (y: number) => ({ x: 0, y })
const to = (external_id: string, path?: string) => ({ external_id, ...(path !== undefined && { path }) })

/** A running trigger campaign without an event, and its subscription type. */
async function mail(w: World, subject = 'Hello {{ user.data.name }}', type: object = {}) {
  const subscription = (await w.post('/api/client/subscriptions', { name: `News ${subject}`, channel: 'email', ...type })).body
  const campaign = { type: 'trigger', name: subject, event_name: 'unused', subscription_id: subscription.id }
  const { id } = (await w.post('/api/client/campaigns', campaign)).body
  await w.put(`/api/client/campaigns/${id}/templates/en`, { from: 'shop@example.com', subject, html: '<p>Hi {{ event.data.cart }}</p>' })
  const started = await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })
  expect(started.status, started.text).toBe(200)
  return { campaign: id as number, subscription: subscription.id as number }
}

const graph = (campaign: number) => ({
  start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart', multiple: true }, children: [to('wait')] },
  wait: {
    type: 'wait_until',
    ...at(1),
    data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '3d' },
    children: [to('thanks', 'bought'), to('mail', 'timeout')],
  },
  mail: { type: 'action', ...at(2), data: { campaign_id: campaign }, children: [to('mark')] },
  mark: { type: 'update', ...at(3), data: { attributes: { reminded: '{{ event.data.cart }}' } }, children: [to('check')] },
  check: {
    type: 'gate',
    ...at(4),
    data: { rule: { attribute: 'data.reminded', is: 'c-1' } },
    children: [to('out', 'yes'), to('thanks', 'no')],
  },
  thanks: { type: 'exit', ...at(5), data: { reason: 'bought' } },
  out: { type: 'exit', ...at(6), data: { as: 'exited', reason: 'gave_up' } },
})

const cart = { at: '2026-11-24T09:00:00.000Z', event: { name: 'cart', data: { cart: 'c-1' } } }
const stepsOf = ({ visits }: { visits: { step: string }[] }) => visits.map(({ step }) => step)

test('a made-up user goes the whole way, with the message rendered, and nothing is stored', async () => {
  await using w = await world()
  const { campaign } = await mail(w)
  const journey = await createJourney(w, {}, graph(campaign))
  const before = await everything(w)
  const user = { profile: { email: 'ana@example.com', data: { name: 'Ana' } } }
  const { status, body, text } = await journey.post('simulate', { user, inputs: [cart] })
  expect(status, text).toBe(200)
  expect(stepsOf(body)).toEqual(['start', 'wait', 'mail', 'mark', 'check', 'out'])
  expect(body.visits[1]).toMatchObject({
    arrived_at: '2026-11-24T09:00:00.000Z',
    left_at: '2026-11-27T09:00:00.000Z',
    path: 'timeout',
    sentence: expect.any(String),
  })
  expect(body.messages).toMatchObject([
    { step: 'mail', at: '2026-11-27T09:00:00.000Z', eligible: true, reason: null, rendered: { subject: 'Hello Ana' } },
  ])
  expect(body.messages[0].rendered.html).toContain('Hi c-1')
  expect(body).toMatchObject({ outcome: { as: 'exited', reason: 'gave_up' }, next_due: null, refused: [] })
  expect(await everything(w)).toEqual(before)
})

test('inputs decide, and the next instant is shown while the user waits', async () => {
  await using w = await world()
  const { campaign } = await mail(w)
  const journey = await createJourney(w, {}, graph(campaign))
  const user = { profile: { email: 'ana@example.com' } }
  const purchase = { at: '2026-11-25T09:00:00.000Z', event: { name: 'purchase' } }
  const bought = (await journey.post('simulate', { user, inputs: [purchase, cart] })).body
  expect(stepsOf(bought)).toEqual(['start', 'wait', 'thanks'])
  expect(bought.outcome).toMatchObject({ as: 'completed', at: '2026-11-25T09:00:00.000Z' })
  const waiting = (await journey.post('simulate', { user, inputs: [cart], until: '2026-11-25T00:00:00.000Z' })).body
  expect(waiting).toMatchObject({ outcome: null, next_due: '2026-11-27T09:00:00.000Z' })
})

test('a user of the project is as now, and gets nothing after unsubscribing', async () => {
  await using w = await world()
  const { campaign, subscription } = await mail(w)
  await w.users('ana')
  await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id: subscription, state: 0 }])
  await w.drain()
  const journey = await createJourney(w, {}, graph(campaign))
  const { body, text } = await journey.post('simulate', { user: { external_id: 'ana' }, inputs: [cart] })
  expect(body.messages, text).toMatchObject([{ eligible: false, reason: 'not_subscribed' }])
  expect((await journey.post('simulate', { user: { external_id: 'lee' }, inputs: [cart] })).status).toBe(404)
  const changed = { at: '2026-11-27T08:00:00.000Z', profile: { data: { reminded: 'c-1' } } }
  expect(stepsOf((await journey.post('simulate', { user: { external_id: 'ana' }, inputs: [cart, changed] })).body)).toContain('out')
})

test('answers of webhooks and outcomes of messages are given', async () => {
  await using w = await world()
  const { campaign } = await mail(w)
  const steps = {
    start: { type: 'entrance', ...at(0), data: { trigger: 'api' }, children: [to('mail')] },
    mail: { type: 'action', ...at(1), data: { campaign_id: campaign, wait: 'delivered' }, children: [to('call', 'delivered'), to('bad')] },
    call: {
      type: 'webhook',
      ...at(2),
      data: { url: 'https://example.com/{{ user.data.name }}' },
      children: [to('score', 'success'), to('bad')],
    },
    score: {
      type: 'gate',
      ...at(3),
      data: {
        branches: [
          { path: 'high', where: [{ attribute: 'journey.call.body.score', greater_than: 5 }] },
          { path: 'low', where: [{ attribute: 'journey.call.body.score', greater_than: 0 }] },
        ],
      },
      children: [to('good', 'high'), to('bad', 'low'), to('bad', 'else')],
    },
    good: { type: 'exit', ...at(4) },
    bad: { type: 'exit', ...at(5) },
  }
  const journey = await createJourney(w, {})
  const user = { profile: { email: 'ana@example.com', data: { name: 'ana' } } }
  const given = { user, steps, outcomes: { mail: 'delivered' }, answers: { call: { status: 200, body: { score: 7 } } } }
  const good = await journey.post('simulate', given)
  expect(good.status, good.text).toBe(200)
  expect(stepsOf(good.body)).toEqual(['start', 'mail', 'call', 'score', 'good'])
  const failed = (await journey.post('simulate', { ...given, answers: { call: { status: 404 } } })).body
  expect(stepsOf(failed)).toEqual(['start', 'mail', 'call', 'bad'])
  expect(stepsOf((await journey.post('simulate', { ...given, outcomes: { mail: 'bounced' } })).body)).toEqual(['start', 'mail', 'bad'])
})

test.each(['action', 'webhook'])('a step that has the name of a member of all objects is simulated as others are: %s', async (type) => {
  await using w = await world()
  const { campaign } = await mail(w)
  const data = type === 'action' ? { campaign_id: campaign } : { url: 'https://example.com' }
  const steps = {
    start: { type: 'entrance', ...at(0), data: { trigger: 'api' }, children: [to('constructor')] },
    constructor: { type, ...at(1), data, children: [to('good', type === 'action' ? 'sent' : 'success'), to('bad')] },
    good: { type: 'exit', ...at(2) },
    bad: { type: 'exit', ...at(3) },
  }
  const journey = await createJourney(w, {})
  const { body, text } = await journey.post('simulate', { user: { profile: { email: 'ana@example.com' } }, steps })
  expect(body.visits, text).toMatchObject([{ step: 'start' }, { step: 'constructor' }, { step: 'good' }])
})

test('lists follow the attributes of the user, and a list can be given', async () => {
  await using w = await world()
  const list = (await w.post('/api/client/lists', { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })).body.id
  await w.drain()
  const steps = {
    start: { type: 'entrance', ...at(0), data: { trigger: 'list', list_id: list }, children: [to('wait')] },
    wait: { type: 'delay', ...at(1), data: { format: 'duration', days: 1 }, children: [to('out')] },
    gone: { type: 'exit', ...at(2), data: { as: 'exited', when: [{ list_id: list, change: 'left' }] } },
    out: { type: 'exit', ...at(3) },
  }
  const journey = await createJourney(w, {}, steps)
  const user = { profile: { data: { plan: 'free' } } }
  const pro = { at: '2026-11-24T09:00:00.000Z', profile: { data: { plan: 'pro' } } }
  const free = { at: '2026-11-24T19:00:00.000Z', profile: { data: { plan: 'free' } } }
  const followed = await journey.post('simulate', { user, inputs: [pro, free, { ...pro, at: '2026-11-24T20:00:00.000Z' }] })
  expect(followed.body, followed.text).toMatchObject({ outcome: { as: 'exited' }, refused: [{ reason: 'once_only' }] })
  const given = await journey.post('simulate', { user, inputs: [{ at: pro.at, list_entered: list }] })
  expect(given.body.outcome).toMatchObject({ as: 'completed', at: '2026-11-25T09:00:00.000Z' })
})

test.each([
  ['neither a user nor a profile', { user: {} }, 'user'],
  ['an entrance that does not exist', { user: { profile: {} }, entrance: 'other' }, 'entrance'],
  ['an end before the beginning', { user: { profile: {} }, until: '2020-01-01T00:00:00Z' }, 'until'],
  ['more than five years', { user: { profile: {} }, until: '2040-01-01T00:00:00Z' }, 'until'],
  [
    'a graph that cannot be published',
    { user: { profile: {} }, steps: { lonely: { type: 'delay', ...at(0), data: {} } } },
    'lonely.data.days',
  ],
])('%s is refused', async (_, body, param) => {
  await using w = await world()
  const journey = await createJourney(w, {}, {})
  expect(await journey.post('simulate', body)).toMatchObject({ status: 422, body: { error: { param } } })
})

test('the rule of an entrance decides who enters', async () => {
  await using w = await world()
  const data = { trigger: 'event', event_name: 'cart', rule: { not: { attribute: 'data.plan', is: 'free' } } }
  const journey = await createJourney(
    w,
    {},
    { start: { type: 'entrance', ...at(0), data, children: [to('out')] }, out: { type: 'exit', ...at(1) } },
  )
  const run = async (plan: string) => (await journey.post('simulate', { user: { profile: { data: { plan } } }, inputs: [cart] })).body
  expect(stepsOf(await run('pro'))).toEqual(['start', 'out'])
  expect(await run('free')).toMatchObject({ visits: [], refused: [{ reason: 'rule' }] })
})

test('a loop ends at 500 visits', async () => {
  await using w = await world()
  const steps = {
    start: { type: 'entrance', ...at(0), data: { trigger: 'api' }, children: [to('wait')] },
    wait: { type: 'delay', ...at(1), data: { format: 'duration', minutes: 1 }, children: [to('again')] },
    again: { type: 'update', ...at(2), data: { attributes: { times: '1' } }, children: [to('wait')] },
  }
  const journey = await createJourney(w, {})
  const { body, text } = await journey.post('simulate', { user: { profile: {} }, steps })
  expect(body.stopped, text).toBe('visits')
  expect(body.visits.length).toBe(500)
})

/** The number of rows of every table that a live journey writes to. */
async function everything(w: World) {
  const tables = [
    'users',
    'events',
    'messages',
    'journey_entrances',
    'journey_users',
    'journey_timers',
    'journey_counts',
    'journey_calls',
    'queue_entries',
  ]
  return Object.fromEntries(
    await Promise.all(
      tables.map(async (table) => [
        table,
        (await select(w, `select count(*) as rows from ${table} where project_id = $1`, [w.projectId]))[0]?.rows,
      ]),
    ),
  )
}

/** A journey with a link to `other`, and a wait after it. */
const linking = (other: number) => ({
  start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart', multiple: true }, children: [to('go')] },
  go: { type: 'link', ...at(1), data: { journey_id: other }, children: [to('wait'), to('out', 'refused')] },
  wait: { type: 'delay', ...at(2), data: { format: 'duration', days: 3 }, children: [to('out')] },
  out: { type: 'exit', ...at(3), data: { as: 'exited' } },
})
const later = { wait: { type: 'delay', ...at(9), data: { format: 'duration', days: 9 } } }

test('a link does not end the entrance, and what happens in the other journey is not shown', async () => {
  await using w = await world()
  const none = { type: 'entrance', ...at(0), data: { trigger: 'none' }, children: [to('wait')] }
  const other = await createJourney(w, { status: 'live' }, { start: none, ...later })
  const journey = await createJourney(w, {}, linking(other.id))
  const user = { profile: { email: 'ana@example.com' } }
  const inside = (await journey.post('simulate', { user, inputs: [cart], until: '2026-11-25T09:00:00.000Z' })).body
  expect(stepsOf(inside)).toEqual(['start', 'go', 'wait'])
  expect(inside).toMatchObject({ outcome: null, next_due: '2026-11-27T09:00:00.000Z', refused: [] })
  const ended = (await journey.post('simulate', { user, inputs: [cart] })).body
  expect(ended).toMatchObject({ outcome: { as: 'exited' }, next_due: null })
})

test('a link leads to the entrance that it leads to in a live journey', async () => {
  await using w = await world()
  const pro = { attribute: 'data.plan', is: 'pro' }
  const entrance = (data: object) => ({ type: 'entrance', ...at(0), data, children: [to('wait')] })
  const entrances = { a: entrance({ trigger: 'event', event_name: 'signed_up' }), z: entrance({ trigger: 'none', rule: pro }) }
  const other = await createJourney(w, { status: 'live' }, { ...entrances, ...later })
  const journey = await createJourney(w, { status: 'live' }, linking(other.id))
  await w.users('ana')
  await w.post('/api/client/events', [{ ...cart.event, external_id: 'ana' }])
  await w.drain()
  const [{ visits }] = (await journey.get('users/ana')).entrances
  const simulated = (await journey.post('simulate', { user: { external_id: 'ana' }, inputs: [cart] })).body
  expect(simulated.visits[1]).toMatchObject({ step: 'go', path: 'refused', reason: 'rule' })
  expect(visits[1]).toMatchObject({ step: 'go', path: 'refused', reason: 'rule' })
  expect(simulated.refused).toEqual([])
  const named = linking(other.id)
  const steps = { ...named, go: { ...named.go, data: { ...named.go.data, entrance: 'a' } } }
  expect(stepsOf((await journey.post('simulate', { user: { external_id: 'ana' }, steps, inputs: [cart] })).body)).toContain('wait')
})

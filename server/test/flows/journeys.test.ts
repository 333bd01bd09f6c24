/** Journeys live: users enter, move through each kind of step, and leave, observed at the sandbox and at receivers. */

import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { type StoredTrail, trailOf } from '../../src/modules/positions/index.ts'
import { type World, world } from '../world.ts'

type Steps = Record<string, { type: string; data?: object; children?: (string | [string, string])[] }>

/** A live journey with these steps. Children are keys, or a path and a key. */
async function live(w: World, steps: Steps, settings: object = {}): Promise<number> {
  const journey = await w.post('/api/client/journeys', { name: 'Welcome', status: 'live' })
  expect(journey.status, journey.text).toBe(201)
  const { id } = journey.body
  const map = Object.fromEntries(
    Object.entries(steps).map(([key, { type, data = {}, children = [] }]) => [
      key,
      {
        type,
        x: 0,
        y: 0,
        data,
        children: children.map((child) => (typeof child === 'string' ? { external_id: child } : { path: child[0], external_id: child[1] })),
      },
    ]),
  )
  const put = await w.put(`/api/client/journeys/${id}/steps`, map)
  expect(put.status, put.text).toBe(200)
  if (Object.keys(settings).length > 0) expect((await w.patch(`/api/client/journeys/${id}`, { settings })).status).toBe(200)
  return id
}

/** A trigger campaign that no event triggers, on the sandbox. */
async function campaign(w: World, subject = 'Hello'): Promise<number> {
  const subscription = await w.post('/api/client/subscriptions', { name: subject, channel: 'email' })
  const created = await w.post('/api/client/campaigns', {
    name: subject,
    type: 'trigger',
    channel: 'email',
    event_name: `never-${subject}`,
    subscription_id: subscription.body.id,
  })
  expect(created.status, created.text).toBe(201)
  const template = await w.put(`/api/client/campaigns/${created.body.id}/templates/en`, {
    subject,
    from: 'hello@example.com',
    text: 'Hi {{ user.external_id }}, {{ event.data.total }}, {{ journey.key }}',
    html: '<p>Hi</p>',
  })
  expect(template.status, template.text).toBeLessThan(300)
  const running = await w.patch(`/api/client/campaigns/${created.body.id}`, { state: 'running' })
  expect(running.status, running.text).toBe(200)
  return created.body.id
}

const event = (w: World, name: string, user: string, more: object = {}) =>
  w.post('/api/client/events', [{ name, external_id: user, ...more }])

const Inside = Type.Object({
  step: Type.String(),
  due_at: Type.Unsafe<Date | null>({}),
  waits: Type.Array(Type.String()),
  parked: Type.Unsafe<string | null>({}),
})
const inside = (w: World) =>
  w.db.many(
    Inside,
    sql`select s.external_id as step, e.due_at, e.waits, e.parked from journey_entrances e
        join journey_steps s on s.project_id = e.project_id and s.journey_id = e.journey_id and s.id = e.step_id
        where e.project_id = ${w.projectId} order by e.user_id, e.entrance_id`,
  )
const Past = Type.Object({
  outcome: Type.String(),
  reason: Type.String(),
  trail: Type.Unsafe<StoredTrail>({}),
})
const past = async (w: World) =>
  (
    await w.db.many(
      Past,
      sql`select outcome, reason, trail from journey_past where project_id = ${w.projectId} order by ended_at, entrance_id`,
    )
  ).map((row) => ({ ...row, trail: trailOf(row.trail) }))
const trail = async (w: World) =>
  (await past(w)).map(({ trail }) => trail.map(({ step, path }) => (path === null ? step : `${step}:${path}`)))
const sent = async (w: World) => (await w.get('/api/client/sandbox/messages')).body.results

const entrance = (event_name: string, more: object = {}) => ({
  type: 'entrance',
  data: { trigger: 'event', event_name, multiple: true, ...more },
})

test('an event makes a user enter, who waits, gets a message and leaves', async () => {
  await using w = await world()
  await w.users('ana')
  const send = await campaign(w)
  await live(w, {
    start: { ...entrance('cart'), children: ['wait'] },
    wait: { type: 'delay', data: { hours: 1 }, children: ['send'] },
    send: { type: 'action', data: { campaign_id: send } },
  })
  await event(w, 'cart', 'ana', { data: { total: 5 } })
  await w.drain()
  expect(await inside(w)).toMatchObject([{ step: 'wait', due_at: new Date(w.clock.now().getTime() + 3_600_000), parked: null }])
  expect(await sent(w)).toEqual([])
  w.advance('59 minutes')
  await w.drain()
  expect(await sent(w)).toEqual([])
  w.advance('1 minute')
  await w.drain('ingest.apply')
  // Neither a password reset nor a campaign waits with it, nor does it wait for them.
  await w.drain('messages.send', 'messages.send-bulk')
  expect(await sent(w)).toEqual([])
  await w.drain('messages.send-timed')
  expect(await sent(w)).toHaveLength(1)
  await w.drain()
  expect(await inside(w)).toEqual([])
  expect(await trail(w)).toEqual([['start:default', 'wait:default', 'send:delivered']])
  await w.drain()
  expect(await sent(w)).toHaveLength(1)
})

test.each(['entrances', 'users/ana/skip'])('a message that follows from a request is transactional: %s', async (request) => {
  await using w = await world()
  await w.users('ana')
  const send = await campaign(w)
  const id = await live(w, {
    api: { type: 'entrance', data: { trigger: 'api' }, children: ['send'] },
    start: { ...entrance('cart'), children: ['wait'] },
    wait: { type: 'delay', data: { hours: 1 }, children: ['send'] },
    send: { type: 'action', data: { campaign_id: send } },
  })
  if (request !== 'entrances') await event(w, 'cart', 'ana')
  await w.drain()
  const body = request === 'entrances' ? { external_id: 'ana' } : {}
  expect((await w.post(`/api/client/journeys/${id}/${request}`, body)).status).toBe(202)
  await w.drain('ingest.apply')
  await w.drain('messages.send')
  expect(await sent(w)).toHaveLength(1)
})

test('a message that follows from a list which users enter because time passes waits for no one, and delays no password reset', async () => {
  await using w = await world()
  await w.users('ana')
  const rule = { event: 'login', within: '1h', exactly: 0 }
  const list = (await w.post('/api/client/lists', { name: 'Away', type: 'dynamic', rule })).body.id
  await event(w, 'login', 'ana')
  await w.drain()
  const send = await campaign(w)
  await live(w, {
    start: { type: 'entrance', data: { trigger: 'list', list_id: list }, children: ['send'] },
    send: { type: 'action', data: { campaign_id: send } },
  })
  w.advance('61 minutes')
  await w.drain('timers.apply')
  await w.drain('ingest.apply')
  await w.drain('messages.send', 'messages.send-bulk')
  expect(await sent(w)).toEqual([])
  await w.drain('messages.send-timed')
  expect(await sent(w)).toHaveLength(1)
})

test('a template reads the entry event, the key and the answers of the journey', async () => {
  await using w = await world()
  await w.users('ana')
  const send = await campaign(w)
  await live(w, {
    start: { ...entrance('cart', { entry_key: 'data.cart' }), children: ['send'] },
    send: { type: 'action', data: { campaign_id: send } },
  })
  await event(w, 'cart', 'ana', { data: { total: 5, cart: 'c-1' } })
  await w.drain()
  const [{ id }] = await sent(w)
  expect((await w.get(`/api/client/sandbox/messages/${id}`)).text).toContain('Hi ana, 5, c-1')
})

test('a wait ends by the event that the user waits for, and by its timeout for others', async () => {
  await using w = await world()
  await w.users('ana', 'lee')
  await live(w, {
    start: { ...entrance('cart'), children: ['wait'] },
    wait: {
      type: 'wait_until',
      data: { conditions: [{ path: 'bought', event_name: 'purchase', where: [{ attribute: 'data.total', at_least: 10 }] }], timeout: '3d' },
      children: [
        ['bought', 'yes'],
        ['timeout', 'no'],
      ],
    },
    yes: { type: 'exit' },
    no: { type: 'exit', data: { as: 'exited', reason: 'gave_up' } },
  })
  await event(w, 'cart', 'ana')
  await event(w, 'cart', 'lee')
  await w.drain()
  w.advance('1 hour')
  await event(w, 'purchase', 'ana', { data: { total: 5 } })
  await w.drain()
  expect(await inside(w)).toHaveLength(2)
  await event(w, 'purchase', 'ana', { data: { total: 50 } })
  await w.drain()
  expect(await inside(w)).toHaveLength(1)
  w.advance('3 days')
  await w.drain()
  expect(await past(w)).toMatchObject([
    { outcome: 'completed', reason: 'exit', trail: [{}, { path: 'bought', reason: 'event' }, {}] },
    { outcome: 'exited', reason: 'gave_up', trail: [{}, { path: 'timeout' }, {}] },
  ])
})

test('a purchase during an earlier delay counts for a later wait', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, {
    start: { ...entrance('cart'), children: ['delay'] },
    delay: { type: 'delay', data: { hours: 1 }, children: ['wait'] },
    wait: {
      type: 'wait_until',
      data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '3d' },
      children: [
        ['bought', 'yes'],
        ['timeout', 'no'],
      ],
    },
    yes: { type: 'exit' },
    no: { type: 'exit' },
  })
  await event(w, 'cart', 'ana')
  await w.drain()
  w.advance('10 minutes')
  await event(w, 'purchase', 'ana')
  await w.drain()
  w.advance('1 hour')
  await w.drain()
  expect(await trail(w)).toEqual([['start:default', 'delay:default', 'wait:bought', 'yes']])
})

test('an exit criterion ends the journey at once, and the waiting message is not sent', async () => {
  await using w = await world()
  await w.users('ana')
  const send = await campaign(w)
  await w.patch('/api/client/sending-policy', { quiet_hours: null })
  await live(w, {
    start: { ...entrance('cart'), children: ['send'] },
    send: { type: 'action', data: { campaign_id: send }, children: ['end'] },
    end: { type: 'exit' },
    bought: { type: 'exit', data: { as: 'completed', reason: 'bought', when: [{ event_name: 'purchase' }] } },
  })
  expect((await w.post(`/api/client/campaigns/${send}/pause`)).status).toBeLessThan(300)
  await event(w, 'cart', 'ana')
  await w.drain()
  expect(await inside(w)).toMatchObject([{ step: 'send' }])
  await event(w, 'purchase', 'ana')
  await w.drain()
  expect(await past(w)).toMatchObject([{ outcome: 'completed', reason: 'bought' }])
  expect((await w.post(`/api/client/campaigns/${send}/resume`)).status).toBeLessThan(300)
  await w.drain()
  expect(await sent(w)).toEqual([])
  const state = Type.Object({ state: Type.String(), reason: Type.String() })
  expect(await w.db.many(state, sql`select state, reason from messages where project_id = ${w.projectId}`)).toEqual([
    { state: 'aborted', reason: 'journey_left' },
  ])
})

test('what a journey has queued without waiting for it is not sent after an exit, and is sent to users who finish or are moved', async () => {
  await using w = await world()
  await w.users('ana')
  const send = await campaign(w)
  expect((await w.post(`/api/client/campaigns/${send}/pause`)).status).toBeLessThan(300)
  const journey = (start: string) =>
    live(w, {
      start: { ...entrance(start), children: ['send'] },
      send: { type: 'action', data: { campaign_id: send, wait: 'none' }, children: ['wait'] },
      wait: { type: 'delay', data: { hours: start === 'finished' ? 0 : 48 }, children: ['again'] },
      again: { type: 'delay', data: { hours: start === 'finished' ? 0 : 48 }, children: ['end'] },
      end: { type: 'exit', data: { as: 'exited' } },
      bought: { type: 'exit', data: { reason: 'bought', when: [{ event_name: `purchase_${start}` }] } },
    }).then((id) => `/api/client/journeys/${id}`)
  const names = ['stopped', 'drained', 'archived', 'removed', 'bought', 'finished', 'moved']
  const [stopped, drained, archived, removed, , , moved] = await Promise.all(names.map(journey))
  for (const name of names) await event(w, name, 'ana', { data: { total: name } })
  await w.drain()
  expect((await w.post(`${stopped}/stop`)).status).toBe(202)
  expect((await w.post(`${drained}/drain`, { within: '1h' })).status).toBe(202)
  expect((await w.delete(`${archived}`)).status).toBe(204)
  expect((await w.delete(`${removed}/users/ana`)).status).toBe(202)
  expect((await w.post(`${moved}/users/ana/move`, { to: 'again' })).status).toBe(202)
  await event(w, 'purchase_bought', 'ana')
  w.advance('1 hour')
  await w.drain()
  expect((await w.post(`/api/client/campaigns/${send}/resume`)).status).toBeLessThan(300)
  await w.drain()
  const texts = await Promise.all((await sent(w)).map(({ id }: { id: number }) => w.get(`/api/client/sandbox/messages/${id}`)))
  expect(texts.map(({ body }) => body.content.text).sort()).toEqual(['Hi ana, finished, ', 'Hi ana, moved, '])
})

test('a gate sees what an update before it wrote, and the list that follows from it', async () => {
  await using w = await world()
  await w.users('ana')
  const list = await w.post('/api/client/lists', { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })
  expect(list.status, list.text).toBe(201)
  await w.drain()
  await live(w, {
    start: { ...entrance('cart'), children: ['set'] },
    set: { type: 'update', data: { attributes: { plan: '{{ event.data.plan }}' } }, children: ['gate'] },
    gate: {
      type: 'gate',
      data: { rule: { all: [{ attribute: 'data.plan', is: 'pro' }, { list: list.body.id }] } },
      children: [
        ['yes', 'good'],
        ['no', 'bad'],
      ],
    },
    good: { type: 'exit' },
    bad: { type: 'exit' },
  })
  await event(w, 'cart', 'ana', { data: { plan: 'pro' } })
  await w.drain()
  expect(await trail(w)).toEqual([['start:default', 'set:default', 'gate:yes', 'good']])
  expect((await w.get('/api/client/users/ana')).body.data).toEqual({ plan: 'pro' })
})

test('rendered text that the database cannot store loses neither the event nor the user who takes the steps', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await w.post('/api/client/users/batch', [{ external_id: 'ana', data: { name: '🎉Kim' } }])
  // Half of a character, as the usual way to an initial makes it, and U+0000.
  const text = '{{ user.data.name | split: "" | first }}{{ event.data.q | url_decode }}'
  await live(w, {
    start: { ...entrance('cart'), children: ['set'] },
    set: { type: 'update', data: { attributes: { initial: text } }, children: ['tell'] },
    tell: { type: 'event', data: { event_name: 'greeted', event_data: { initial: text } }, children: ['call'] },
    call: { type: 'webhook', data: { url: receiver.url, body: `{"initial": "${text}"}` }, children: [['success', 'end']] },
    end: { type: 'exit' },
  })
  await live(w, { start: { ...entrance('greeted'), children: ['end'] }, end: { type: 'exit' } })
  await event(w, 'cart', 'ana', { data: { q: '%00' } })
  await w.drain()
  expect((await trail(w)).toSorted((one, other) => one.length - other.length)).toEqual([
    ['start:default', 'end'],
    ['start:default', 'set:default', 'tell:default', 'call:success', 'end'],
  ])
  expect((await w.get('/api/client/users/ana')).body.data.initial).toBe('\ufffd\ufffd')
  expect(receiver.requests.map(({ json }) => json)).toEqual([{ initial: '\ufffd\ufffd' }])
})

test('a step adds the user to a list, which starts another journey, and emits an event, which starts a third', async () => {
  await using w = await world()
  await w.users('ana')
  const list = (await w.post('/api/client/lists', { name: 'VIP', type: 'static' })).body.id
  await w.drain()
  await live(w, {
    start: { ...entrance('cart'), children: ['add'] },
    add: { type: 'list', data: { list_id: list, change: 'add' }, children: ['tell'] },
    tell: { type: 'event', data: { event_name: 'became_vip', event_data: { by: 'journey' } }, children: ['end'] },
    end: { type: 'exit' },
  })
  await live(w, {
    start: { type: 'entrance', data: { trigger: 'list', list_id: list, multiple: true }, children: ['end'] },
    end: { type: 'exit', data: { reason: 'listed' } },
  })
  await live(w, { start: { ...entrance('became_vip'), children: ['end'] }, end: { type: 'exit', data: { reason: 'told' } } })
  await event(w, 'cart', 'ana')
  await w.drain()
  expect((await past(w)).map(({ reason }) => reason).sort()).toEqual(['exit', 'listed', 'told'])
  const events = (await w.get('/api/client/users/ana/events')).body.results.map(({ name }: { name: string }) => name)
  expect(events).toEqual(expect.arrayContaining(['became_vip', 'list_entered']))
})

test('a subscription step keeps the consent of the user', async () => {
  await using w = await world()
  await w.users('ana', 'lee')
  const id = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', default_state: 0 })).body.id
  const consent = await w.patch('/api/client/users/lee/subscriptions', [{ subscription_id: id, state: 0 }])
  await live(w, {
    start: { ...entrance('cart'), children: ['sub'] },
    sub: { type: 'subscription', data: { subscription_id: id, state: 1 }, children: ['done', ['failed', 'failed']] },
    done: { type: 'exit' },
    failed: { type: 'exit' },
  })
  await event(w, 'cart', 'ana')
  await event(w, 'cart', 'lee')
  await w.drain()
  expect(consent.status).toBeLessThan(300)
  const way = ['start:default', 'sub:default', 'done']
  expect(await trail(w)).toEqual([way, way])
  expect((await past(w)).map(({ trail }) => trail[1]?.reason).sort()).toEqual(['applied', 'consent_kept'])
  const { results } = (await w.get('/api/client/users/ana/consents')).body
  expect(results).toMatchObject([{ state: 1, source: 'journey' }])
})

test('a webhook step calls once, and its answer leads on', async () => {
  await using w = await world()
  await using receiver = await w.receiver()
  await w.users('ana')
  await live(w, {
    start: { ...entrance('cart'), children: ['call'] },
    call: {
      type: 'webhook',
      data: { method: 'POST', url: receiver.url, body: '{"user":"{{ user.external_id }}"}' },
      children: [
        ['success', 'good'],
        ['failed', 'bad'],
      ],
    },
    good: { type: 'exit' },
    bad: { type: 'exit' },
  })
  await event(w, 'cart', 'ana')
  await w.drain()
  expect(receiver.requests).toHaveLength(1)
  expect(receiver.requests[0]?.headers['idempotency-key']).toMatch(/^\d+-2$/)
  expect(await trail(w)).toEqual([['start:default', 'call:success', 'good']])
})

test('a balancer lets users pass at its rate', async () => {
  await using w = await world()
  const names = Array.from({ length: 6 }, (_, at) => `user${at}`)
  await w.users(...names)
  await live(w, {
    start: { ...entrance('cart'), children: ['rate'] },
    rate: { type: 'balancer', data: { rate_limit: 2, rate_interval: 'hour' }, children: ['end'] },
    end: { type: 'exit' },
  })
  for (const name of names) await event(w, 'cart', name)
  await w.drain()
  const counts = [(await past(w)).length]
  for (let half = 0; half < 4; half++) {
    w.advance('30 minutes')
    await w.drain()
    counts.push((await past(w)).length)
  }
  expect(counts).toEqual([2, 3, 4, 5, 6])
})

test('users who find no place at a balancer leave it to the next ones', async () => {
  await using w = await world()
  const names = Array.from({ length: 30 }, (_, at) => `user${at}`)
  await w.users(...names)
  await live(w, {
    start: { ...entrance('cart'), children: ['rate'] },
    rate: {
      type: 'balancer',
      data: { rate_limit: 1, rate_interval: 'hour', max_wait_hours: 2 },
      children: ['end', ['over_limit', 'over']],
    },
    end: { type: 'exit' },
    over: { type: 'exit', data: { reason: 'over_limit' } },
  })
  const passed = async () => (await trail(w)).filter((steps) => steps.at(-1) === 'end').length
  for (const name of names.slice(0, 20)) await event(w, 'cart', name)
  await w.drain()
  w.advance('3 hours')
  await w.drain()
  expect(await passed()).toBe(3)
  // The seventeen others have taken nothing.
  for (const name of names.slice(20)) await event(w, 'cart', name)
  await w.drain()
  w.advance('3 hours')
  await w.drain()
  expect(await passed()).toBe(6)
})

test('an experiment keeps its arm over entrances, and a link goes on to another journey', async () => {
  await using w = await world()
  await w.users('ana')
  const other = await live(w, {
    start: { type: 'entrance', data: { trigger: 'none', multiple: true }, children: ['end'] },
    end: { type: 'exit', data: { reason: 'linked' } },
  })
  await live(w, {
    start: { ...entrance('cart'), children: ['arms'] },
    arms: {
      type: 'experiment',
      data: {
        branches: [
          { path: 'a', weight: 1 },
          { path: 'b', weight: 1 },
        ],
      },
      children: [
        ['a', 'go'],
        ['b', 'go'],
      ],
    },
    go: { type: 'link', data: { journey_id: other } },
  })
  for (let time = 0; time < 3; time++) {
    await event(w, 'cart', 'ana')
    await w.drain()
  }
  const all = await past(w)
  expect(all.filter(({ reason }) => reason === 'linked')).toHaveLength(3)
  const arms = all.flatMap(({ trail }) => trail.filter(({ step }) => step === 'arms').map(({ path }) => path))
  expect(arms).toHaveLength(3)
  expect(new Set(arms).size).toBe(1)
})

test('a user who may enter the other journey goes on, and one who may not takes the path for that', async () => {
  await using w = await world()
  await w.users('ana')
  const other = await live(w, {
    start: { type: 'entrance', data: { trigger: 'none' }, children: ['wait'] },
    wait: { type: 'delay', data: { days: 30 }, children: ['end'] },
    end: { type: 'exit' },
  })
  await live(w, {
    start: { ...entrance('cart'), children: ['go'] },
    go: {
      type: 'link',
      data: { journey_id: other },
      children: [
        ['default', 'on'],
        ['refused', 'off'],
      ],
    },
    on: { type: 'exit', data: { reason: 'entered' } },
    off: { type: 'exit', data: { reason: 'refused' } },
  })
  for (let time = 0; time < 2; time++) {
    await event(w, 'cart', 'ana')
    await w.drain()
    w.advance('1 minute')
  }
  expect((await past(w)).map(({ reason, trail }) => [reason, trail[1]?.path, trail[1]?.reason])).toEqual([
    ['entered', 'default', 'entered'],
    ['refused', 'refused', 'already_inside'],
  ])
})

const leaving = { start: { ...entrance('cart'), children: ['end'] }, end: { type: 'exit' } }

test('the most entrances in a day count for a link too, though the event that leads to it is a goal of the journey', async () => {
  await using w = await world()
  await w.users('ana')
  const settings = { max_entries_per_day: 1, goals: [{ name: 'bought', event_name: 'purchase', within_days: 7 }] }
  const journey_id = await live(w, leaving, settings)
  expect((await w.post(`/api/client/journeys/${journey_id}/publish`)).status).toBe(200)
  const go = { type: 'link', data: { journey_id, entrance: 'start' }, children: ['end'] }
  await live(w, { start: { ...entrance('purchase'), children: ['go'] }, go, end: { type: 'exit' } })
  await event(w, 'cart', 'ana')
  await w.drain()
  w.advance('1 hour')
  await event(w, 'purchase', 'ana')
  await w.drain()
  const { entered, refused } = (await w.get(`/api/client/journeys/${journey_id}/stats`)).body
  expect({ entered, refused }).toEqual({ entered: 1, refused: { daily_maximum: 1 } })
})

test('of the most entrances in a day, those of one request count too', async () => {
  await using w = await world()
  await w.users('ana')
  const id = await live(w, leaving, { max_entries_per_day: 2 })
  expect((await w.post(`/api/client/journeys/${id}/publish`)).status).toBe(200)
  await event(w, 'cart', 'ana')
  await w.drain()
  w.advance('1 hour')
  const both = { ...entrance('cart'), children: ['one'] }
  const link = (next: string) => ({ type: 'link', data: { journey_id: id, entrance: 'start' }, children: [next] })
  await live(w, {
    start: { ...both, data: { ...both.data, event_name: 'twice' } },
    one: link('two'),
    two: link('end'),
    end: { type: 'exit' },
  })
  await event(w, 'twice', 'ana')
  await w.drain()
  const { entered, refused } = (await w.get(`/api/client/journeys/${id}/stats`)).body
  expect({ entered, refused }).toEqual({ entered: 2, refused: { daily_maximum: 1 } })
})

test('a user enters once, by one cause, however often the event is sent', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, { start: { type: 'entrance', data: { trigger: 'event', event_name: 'cart' }, children: ['end'] }, end: { type: 'exit' } })
  await event(w, 'cart', 'ana', { event_id: 'e-1' })
  await event(w, 'cart', 'ana', { event_id: 'e-1' })
  await event(w, 'cart', 'ana', { event_id: 'e-2' })
  await w.drain()
  expect(await past(w)).toHaveLength(1)
})

test('several events of a user are applied one after the other, as if each had come alone', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, {
    start: { ...entrance('cart'), children: ['wait'] },
    wait: {
      type: 'wait_until',
      data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '3d' },
      children: [
        ['bought', 'end'],
        ['timeout', 'end'],
      ],
    },
    end: { type: 'exit' },
  })
  const request = ['cart', 'purchase', 'purchase', 'cart', 'purchase', 'cart'].map((name) => ({ name, external_id: 'ana' }))
  await w.post('/api/client/events', request)
  await w.drain()
  expect(await past(w)).toHaveLength(2)
  expect(await inside(w)).toMatchObject([{ step: 'wait' }])
})

test('an event by the token of a merged user and one of the user who remains are applied one after the other', async () => {
  await using w = await world()
  await w.post('/api/client/users/batch', [{ anonymous_id: 'v' }, { external_id: 'ana' }])
  await live(w, {
    start: { ...entrance('cart'), children: ['wait'] },
    wait: {
      type: 'wait_until',
      data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '3d' },
      children: [
        ['bought', 'yes'],
        ['timeout', 'no'],
      ],
    },
    yes: { type: 'exit' },
    no: { type: 'exit' },
  })
  await w.drain()
  const headers = { 'x-service-user-token': await w.token('v') }
  expect((await w.post('/api/client/events', [{ name: 'cart' }], { key: w.keys.public, headers })).status).toBe(204)
  await event(w, 'purchase', 'ana')
  await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'v' }])
  await w.drain()
  expect(await trail(w)).toEqual([['start:default', 'wait:bought', 'yes']])
})

test('a timer fires before a later event of its user', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, {
    start: { ...entrance('cart'), children: ['wait'] },
    wait: {
      type: 'wait_until',
      data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '10m' },
      children: [
        ['bought', 'end'],
        ['timeout', 'end'],
      ],
    },
    end: { type: 'exit' },
  })
  await event(w, 'cart', 'ana')
  await w.drain()
  w.advance('10 minutes')
  await event(w, 'other', 'ana')
  w.advance(1)
  await event(w, 'purchase', 'ana')
  await w.drain()
  expect(await trail(w)).toEqual([['start:default', 'wait:timeout', 'end']])
})

test('all timers of a user fire before a later event, however many entrances the user has', async () => {
  await using w = await world()
  await w.users('ana')
  const steps: Steps = {
    start: { ...entrance('cart', { concurrent: true }), children: ['wait'] },
    wait: {
      type: 'wait_until',
      data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '10m' },
      children: [
        ['bought', 'end'],
        ['timeout', 'end'],
      ],
    },
    end: { type: 'exit' },
  }
  for (let journeys = 0; journeys < 2; journeys++) await live(w, steps)
  await w.post('/api/client/events', Array(30).fill({ name: 'cart', external_id: 'ana' }))
  await w.drain()
  w.advance('10 minutes')
  w.advance(1)
  await event(w, 'purchase', 'ana')
  await w.drain()
  expect((await trail(w)).map((steps) => steps[1])).toEqual(Array(60).fill('wait:timeout'))
})

test('the event wins over a timeout at the same instant', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, {
    start: { ...entrance('cart'), children: ['wait'] },
    wait: {
      type: 'wait_until',
      data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '10m' },
      children: [
        ['bought', 'end'],
        ['timeout', 'end'],
      ],
    },
    end: { type: 'exit' },
  })
  await event(w, 'cart', 'ana')
  await w.drain()
  w.advance('10 minutes')
  await event(w, 'purchase', 'ana')
  await w.drain()
  expect(await trail(w)).toEqual([['start:default', 'wait:bought', 'end']])
})

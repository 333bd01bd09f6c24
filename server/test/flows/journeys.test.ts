/** Journeys live: users enter, move through each kind of step, and leave, observed at the sandbox and at receivers. */

import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
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
    text: 'Hi {{ user.external_id }}, {{ event.total }}, {{ journey.key }}',
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
  trail: Type.Unsafe<{ step: string; path: string | null; reason: string | null }[]>({}),
})
const past = (w: World) =>
  w.db.many(Past, sql`select outcome, reason, trail from journey_past where project_id = ${w.projectId} order by ended_at, entrance_id`)
const sent = async (w: World) => (await w.get('/api/client/sandbox/messages')).body.results

test('an event makes a user enter, who waits, gets a message and leaves', async () => {
  await using w = await world()
  await w.users('ana')
  const send = await campaign(w)
  await live(w, {
    start: { type: 'entrance', data: { trigger: 'event', event_name: 'cart', multiple: true }, children: ['wait'] },
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
  await w.drain()
  expect(await sent(w)).toHaveLength(1)
  expect(await inside(w)).toEqual([])
  expect(await past(w)).toMatchObject([
    {
      outcome: 'completed',
      trail: [{ step: 'start' }, { step: 'wait', path: 'default', reason: 'elapsed' }, { step: 'send', path: 'delivered' }],
    },
  ])
})

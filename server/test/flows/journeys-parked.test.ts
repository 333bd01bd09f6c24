/** A decision of a journey that failed, and is made again at a request. */
import { expect, test } from 'vitest'
import { createJourney, putInside, READY } from '../journeys.ts'
import { answerOrders, sendOver } from '../mailing.ts'
import { openRelay } from '../relay.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

/** Parks the user of an entrance, as a decision that failed for the last time does. */
async function parkAll(w: World, parked: string): Promise<void> {
  await select(w, 'delete from journey_timers where project_id = $1', [w.projectId])
  await select(w, 'update journey_entrances set parked = $2, due_at = null, attempts = 5 where project_id = $1', [w.projectId, parked])
}

test('a decision that failed on arrival is made again: the user waits', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, READY)
  const entrance_id = await putInside(w, journey, { user: 'ana' })
  const parked = 'arrived: a bug'
  await select(w, 'update journey_entrances set parked = $1, due_at = null where entrance_id = $2 returning entrance_id', [
    parked,
    entrance_id,
  ])
  await w.drain()
  expect(await select(w, 'select parked from journey_entrances where entrance_id = $1', [entrance_id])).toEqual([{ parked }])
  expect((await journey.post('users/ana/retry', { entrance_id })).status).toBe(202)
  await w.drain()
  const { entrances } = await journey.get('users/ana')
  expect(entrances).toMatchObject([{ step: 'w1', outcome: null, due_at: expect.any(String) }])
  expect(entrances[0].parked).toBeUndefined()
})

test.each(['retry', 'publish'])('while a journey is held, no call is made because a decision is made again: %s', async (how) => {
  await using w = await world()
  const receiver = await w.receiver()
  await w.users('ana')
  const call = { type: 'webhook', x: 0, y: 9, data: { url: receiver.url }, children: [{ external_id: 'w1' }] }
  const steps = { ...READY, api: { ...READY.api, children: [{ external_id: 'call' }] }, call }
  const journey = await createJourney(w, { status: 'live' }, steps)
  await putInside(w, journey, { user: 'ana', step: 'call' })
  await parkAll(w, 'arrived: a bug')
  expect((await journey.post('hold')).status).toBe(200)
  if (how === 'retry') expect((await journey.post('users/ana/retry')).status).toBe(202)
  else {
    expect((await journey.put({ ...steps, extra: { type: 'exit', x: 9, y: 9, data: { when: [{ event_name: 'cancel' }] } } })).status).toBe(
      200,
    )
    expect((await journey.post('publish', { plan: { default: 'move' } })).status).toBe(200)
  }
  await w.drain()
  expect(receiver.requests).toEqual([])
  expect((await journey.get('users')).results).toMatchObject([{ step: 'call', held: true }])
  expect((await journey.post('resume')).status).toBe(200)
  await w.drain()
  expect(receiver.requests).toHaveLength(1)
  expect((await journey.get('users')).results).toMatchObject([{ step: 'w1' }])
})

test('a user whose timer failed at a message takes the path of the message, once it has an outcome', async () => {
  await using w = await world()
  await w.users('ana')
  const { id: subscription_id } = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })).body
  const campaign = { name: 'Hello', type: 'trigger', channel: 'email', event_name: 'never', subscription_id }
  const { id } = (await w.post('/api/client/campaigns', campaign)).body
  await w.put(`/api/client/campaigns/${id}/templates/en`, { subject: 'Hello', from: 'a@example.com', html: '<p>Hi</p>' })
  await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })
  await w.post(`/api/client/campaigns/${id}/pause`)
  const send = {
    type: 'action',
    x: 0,
    y: 9,
    data: { campaign_id: id },
    children: ['sent', 'delivered'].map((path) => ({ external_id: 'w1', path })),
  }
  const journey = await createJourney(
    w,
    { status: 'live' },
    { ...READY, start: { ...READY.start, children: [{ external_id: 'send' }] }, send },
  )
  await w.post('/api/client/events', [{ name: 'cart', external_id: 'ana' }])
  await w.drain()
  await parkAll(w, 'timer: a statement failed')
  expect((await journey.post('users/ana/retry')).status).toBe(202)
  await w.drain()
  expect((await journey.get('users')).results).toMatchObject([{ step: 'send', due_at: expect.any(String) }])
  expect((await w.post(`/api/client/campaigns/${id}/resume`)).status).toBe(200)
  await w.drain()
  expect((await w.get('/api/client/sandbox/messages')).body.results).toHaveLength(1)
  expect((await journey.get('users')).results).toMatchObject([{ step: 'w1' }])
})

test('a user at a call whose timer failed before the time for an answer is over still waits for it', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  receiver.answer(503)
  await w.users('ana')
  const call = { type: 'webhook', x: 0, y: 9, data: { url: receiver.url }, children: [{ external_id: 'w1', path: 'success' }] }
  const steps = { ...READY, api: { ...READY.api, children: [{ external_id: 'call' }] }, call }
  const journey = await createJourney(w, { status: 'live' }, steps)
  await journey.post('entrances', { external_id: 'ana' })
  await w.drain()
  expect(receiver.requests).toHaveLength(1)
  // As the timer of an exit criterion leaves them, which comes earlier.
  await parkAll(w, 'timer: a statement failed')
  expect((await journey.post('users/ana/retry')).status).toBe(202)
  await w.drain()
  const arrived = w.clock.now().getTime()
  expect((await journey.get('users')).results).toMatchObject([{ step: 'call', due_at: new Date(arrived + 25 * 3_600_000).toISOString() }])
  receiver.answer(200)
  w.advance('10 seconds')
  await w.drain()
  expect((await journey.get('users')).results).toMatchObject([{ step: 'w1' }])
})

test('a user whose call was made long after the arrival still waits for it when a timer that failed is tried again', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  receiver.answer(503)
  await w.users('ana')
  const call = { type: 'webhook', x: 0, y: 9, data: { url: receiver.url }, children: [{ external_id: 'w1', path: 'success' }] }
  const steps = { ...READY, api: { ...READY.api, children: [{ external_id: 'call' }] }, call }
  const journey = await createJourney(w, { status: 'live' }, steps)
  await journey.post('hold')
  await journey.post('entrances', { external_id: 'ana' })
  await w.drain()
  w.advance('30 hours')
  await journey.post('resume')
  await w.drain()
  expect(receiver.requests).toHaveLength(1)
  const called = w.clock.now().getTime()
  // As the timer of an exit criterion leaves them, which comes earlier.
  await parkAll(w, 'timer: a statement failed')
  expect((await journey.post('users/ana/retry')).status).toBe(202)
  await w.drain()
  expect((await journey.get('users')).results).toMatchObject([{ step: 'call', due_at: new Date(called + 25 * 3_600_000).toISOString() }])
  receiver.answer(200)
  w.advance('10 seconds')
  await w.drain()
  expect((await journey.get('users')).results).toMatchObject([{ step: 'w1' }])
})

test('a message that follows from a retry at another message is transactional', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana')
  const { id: campaign_id } = await answerOrders(w)
  const send = { type: 'action', x: 0, y: 9, data: { campaign_id, wait: 'delivered', wait_hours: 1 }, children: [{ external_id: 'next' }] }
  const next = { type: 'action', x: 0, y: 18, data: { campaign_id } }
  const start = { ...READY.start, children: [{ external_id: 'send' }] }
  const journey = await createJourney(w, { status: 'live' }, { start, send, next })
  await w.post('/api/client/events', [{ name: 'cart', external_id: 'ana' }])
  await w.drain()
  await parkAll(w, 'timer: a statement failed')
  w.advance('2 hours')
  expect((await journey.post('users/ana/retry')).status).toBe(202)
  await w.drain('ingest.apply')
  await w.drain('messages.send')
  expect(relay.mails).toHaveLength(2)
})

test.each(['entrance', 'arrival'])('an event that came while its user was parked at a wait counts, since %s', async (since) => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(
    w,
    { status: 'live' },
    {
      start: { ...READY.start, children: [{ external_id: 'wait' }] },
      wait: {
        type: 'wait_until',
        x: 0,
        y: 9,
        data: { conditions: [{ path: 'bought', event_name: 'purchase', since }], timeout: '1d' },
        children: [
          { external_id: 'bought', path: 'bought' },
          { external_id: 'out', path: 'timeout' },
        ],
      },
      bought: { type: 'exit', x: 0, y: 18, data: { reason: 'bought' } },
      out: { type: 'exit', x: 9, y: 18, data: { reason: 'reminded' } },
    },
  )
  await w.post('/api/client/events', [{ name: 'cart', external_id: 'ana' }])
  await w.drain()
  await parkAll(w, 'timer: a statement failed')
  await w.post('/api/client/events', [{ name: 'purchase', external_id: 'ana' }])
  await w.drain()
  expect((await journey.get('users')).results).toMatchObject([{ step: 'wait', parked: 'timer: a statement failed' }])
  w.advance('2 days')
  expect((await journey.post('users/ana/retry')).status).toBe(202)
  await w.drain()
  expect((await journey.get('users/ana')).entrances).toMatchObject([{ outcome: 'completed', reason: 'bought' }])
})

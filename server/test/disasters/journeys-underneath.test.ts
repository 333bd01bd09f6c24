/** Journeys of which something is deleted while users are inside: the journey itself, a campaign, a list. */
import { expect, test } from 'vitest'
import { type StoredTrail, trailOf } from '../../src/modules/positions/index.ts'
import { createJourney } from '../journeys.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

const at = { x: 0, y: 0 }
const to = (external_id: string, path?: string) => ({ external_id, ...(path !== undefined && { path }) })
const exit = (reason: string) => ({ type: 'exit', ...at, data: { reason } })
const cart = (next: string) => ({
  type: 'entrance',
  ...at,
  data: { trigger: 'event', event_name: 'cart', multiple: true },
  children: [to(next)],
})

const enter = async (w: World, ...names: string[]) => {
  await w.post(
    '/api/client/events',
    names.map((external_id) => ({ name: 'cart', external_id })),
  )
  await w.drain()
}

/** How users left, by external id. */
async function ends(w: World): Promise<Record<string, string>> {
  const rows = await select(
    w,
    `select u.external_id, p.reason from journey_past p join users u on u.project_id = p.project_id and u.id = p.user_id
     where p.project_id = $1 order by 1`,
    [w.projectId],
  )
  return Object.fromEntries(rows.map(({ external_id, reason }) => [external_id, reason]))
}

/** No entrance, timer or call is left, and the counts add up. */
async function expectNothingLeft(w: World): Promise<void> {
  for (const table of ['journey_entrances', 'journey_timers', 'journey_calls'])
    expect(await select(w, `select * from ${table} where project_id = $1`, [w.projectId]), table).toEqual([])
  const [sums] = await select(
    w,
    `select sum(case what when 'entered' then users when 'completed' then -users when 'exited' then -users when 'arrived' then users
                          when 'left' then -users else 0 end)::int as left
     from journey_counts where project_id = $1 and what in ('entered', 'completed', 'exited')`,
    [w.projectId],
  )
  expect(sums).toEqual({ left: 0 })
}

async function campaign(w: World): Promise<number> {
  const { id: subscription_id } = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })).body
  const body = { name: 'Hello', type: 'trigger', channel: 'email', event_name: 'never', subscription_id }
  const { id } = (await w.post('/api/client/campaigns', body)).body
  await w.put(`/api/client/campaigns/${id}/templates/en`, { subject: 'Hello', from: 'a@example.com', html: '<p>Hi</p>' })
  expect((await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })).status).toBe(200)
  return id
}

const sent = async (w: World) => (await w.get('/api/client/sandbox/messages')).body.results.length

test('a journey is archived with users at a delay, a message and a call: all exit, and nothing is sent or called afterwards', async () => {
  await using w = await world()
  await using receiver = await w.receiver()
  await w.users('delay', 'message', 'call')
  const id = await campaign(w)
  expect((await w.post(`/api/client/campaigns/${id}/pause`)).status).toBeLessThan(300)
  const journey = await createJourney(
    w,
    { status: 'live' },
    {
      start: cart('who'),
      who: {
        type: 'gate',
        ...at,
        data: {
          branches: [
            { path: 'delay', rule: { attribute: 'external_id', is: 'delay' } },
            { path: 'message', rule: { attribute: 'external_id', is: 'message' } },
          ],
        },
        children: [to('wait', 'delay'), to('send', 'message'), to('call', 'else')],
      },
      wait: { type: 'delay', ...at, data: { hours: 1 }, children: [to('end')] },
      send: { type: 'action', ...at, data: { campaign_id: id }, children: [to('end')] },
      call: { type: 'webhook', ...at, data: { url: receiver.url, retries: 3 }, children: [to('end')] },
      end: exit('end'),
    },
  )
  receiver.answer(503)
  await enter(w, 'delay', 'message', 'call')
  const called = receiver.requests.length
  expect(await select(w, 'select 1 from journey_entrances where project_id = $1', [w.projectId])).toHaveLength(3)
  expect((await w.delete(journey.path)).status).toBe(204)
  await w.drain()
  expect(await ends(w)).toEqual({ call: 'archived', delay: 'archived', message: 'archived' })
  await expectNothingLeft(w)
  expect((await w.post(`/api/client/campaigns/${id}/resume`)).status).toBeLessThan(300)
  receiver.answer(200)
  w.advance('2 days')
  await enter(w, 'delay')
  expect(await sent(w)).toBe(0)
  expect(receiver.requests).toHaveLength(called)
  await expectNothingLeft(w)
})

test('a campaign is deleted with a message waiting: users who wait for it and users who come later go on', async () => {
  await using w = await world()
  await w.users('first', 'later')
  const id = await campaign(w)
  await createJourney(
    w,
    { status: 'live' },
    {
      start: cart('send'),
      send: { type: 'action', ...at, data: { campaign_id: id }, children: [to('end'), to('skipped', 'skipped'), to('aborted', 'aborted')] },
      skipped: exit('skipped'),
      aborted: exit('aborted'),
      end: exit('end'),
    },
  )
  expect((await w.post(`/api/client/campaigns/${id}/pause`)).status).toBeLessThan(300)
  await enter(w, 'first')
  expect(await select(w, 'select state from messages where project_id = $1', [w.projectId])).toEqual([{ state: 'queued' }])
  expect((await w.delete(`/api/client/campaigns/${id}?force=true`)).status).toBe(204)
  await enter(w, 'later')
  expect(await ends(w)).toEqual({ first: 'aborted', later: 'skipped' })
  expect(await sent(w)).toBe(0)
  await expectNothingLeft(w)
})

test('a list is deleted underneath: waits for it end or time out, gates say no, steps fail, and no user enters by it', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const list_id = (await w.post('/api/client/lists', { name: 'VIP', type: 'static' })).body.id
  await w.post(`/api/client/lists/${list_id}/users`, { external_ids: ['ana'] })
  await w.drain()
  const wait = (is: string, met: string) => ({
    type: 'wait_until',
    ...at,
    data: { conditions: [{ path: 'met', list_id, is }], timeout: '1d' },
    children: [to(met, 'met'), to('late', 'timeout')],
  })
  const entered = { type: 'entrance', ...at, data: { trigger: 'list', list_id, multiple: true }, children: [to('gone')] }
  const daily = {
    ...entered,
    data: { trigger: 'schedule', list_id, schedule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0', multiple: true, concurrent: true },
  }
  await createJourney(
    w,
    { status: 'live' },
    {
      start: cart('pause'),
      entered,
      daily,
      pause: { type: 'delay', ...at, data: { hours: 1 }, children: [to('gate')] },
      gate: { type: 'gate', ...at, data: { rule: { list: list_id } }, children: [to('bad', 'yes'), to('add', 'no')] },
      add: { type: 'list', ...at, data: { list_id, change: 'add' }, children: [to('bad'), to('out', 'failed')] },
      out: wait('not_in', 'in'),
      in: wait('in', 'bad'),
      bad: exit('bad'),
      late: exit('late'),
      gone: exit('gone'),
    },
  )
  await enter(w, 'ana')
  expect((await w.delete(`/api/client/lists/${list_id}?force=true`)).status).toBe(204)
  w.advance('1 hour')
  await w.drain()
  const [row] = await select(w, 'select trail from journey_entrances where project_id = $1', [w.projectId])
  const trail = trailOf(row?.trail as StoredTrail).map(({ step, path, reason }) => [step, path, reason])
  expect(trail).toEqual([
    ['start', 'default', 'entered'],
    ['pause', 'default', 'elapsed'],
    ['gate', 'no', 'rule'],
    ['add', 'failed', 'list_gone'],
    ['out', 'met', 'list_gone'],
    ['in', null, null],
  ])
  w.advance('1 day')
  await w.drain()
  w.advance('1 day')
  await w.drain()
  expect(await ends(w)).toEqual({ ana: 'late' })
  await expectNothingLeft(w)
})

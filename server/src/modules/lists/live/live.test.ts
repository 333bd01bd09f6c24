/** Memberships follow changes at once and exactly. */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { appendUserChanges } from '../../users/index.ts'

async function listOf(w: World, rule: unknown): Promise<number> {
  const { status, body, text } = await w.post('/api/client/lists', { name: 'List', type: 'dynamic', rule })
  expect(status, text).toBe(201)
  await w.drain()
  return body.id
}

const members = async (w: World, id: number): Promise<string[]> =>
  (await w.get(`/api/client/lists/${id}/users?limit=100`)).body.results.map((user: { external_id: string }) => user.external_id).sort()

async function did(w: World, ...events: [user: string, name: string, daysAgo?: number, data?: object][]): Promise<void> {
  const now = w.clock.now().getTime()
  const items = events.map(([external_id, name, daysAgo = 0, data = {}]) => ({
    external_id,
    name,
    data,
    created_at: new Date(now - daysAgo * DAY_MS).toISOString(),
  }))
  expect((await w.post('/api/client/events', items)).status).toBe(204)
  await w.drain()
}

/** Has an event of a message be dated ahead. Only the server writes such events. */
async function saveOpened(w: World, campaignId: number, daysAhead: number): Promise<void> {
  const { body: kim } = await w.get('/api/client/users/kim')
  const at = new Date(w.clock.now().getTime() + daysAhead * DAY_MS).toISOString()
  const event = { name: 'email_opened', data: { campaign_id: campaignId }, created_at: at }
  const ctx = w.ctx
  await inTx(ctx, (ctx) => appendUserChanges(ctx, [{ user_id: kim.id, what: [], event }]))
  await w.drain()
}

const changesOf = async (w: World, user: string): Promise<string[]> =>
  (await w.get(`/api/client/users/${user}/events?direction=asc&limit=100`)).body.results
    .filter(({ name }: { name: string }) => name.startsWith('list_'))
    .map(({ name, data }: { name: string; data: { list_id: number } }) => `${name} ${data.list_id}`)

describe('changes of a user', () => {
  test('a user enters and leaves a list when an attribute changes, and each membership change is one event', async () => {
    await using w = await world()
    const id = await listOf(w, { attribute: 'data.plan', is: 'pro' })
    await w.post('/api/client/users/batch', [
      { external_id: 'kim', data: { plan: 'pro' } },
      { external_id: 'lee', data: { plan: 'free' } },
    ])
    await w.drain()
    expect(await members(w, id)).toEqual(['kim'])
    await w.patch('/api/client/users', [
      { external_id: 'kim', data: { plan: 'free' } },
      { external_id: 'lee', data: { plan: 'pro' } },
    ])
    await w.drain()
    expect(await members(w, id)).toEqual(['lee'])
    await w.patch('/api/client/users', [{ external_id: 'lee', data: { other: 1 } }])
    await w.drain()
    expect(await changesOf(w, 'kim')).toEqual([`list_entered ${id}`, `list_left ${id}`])
    expect(await changesOf(w, 'lee')).toEqual([`list_entered ${id}`])
    expect((await w.get(`/api/client/lists/${id}`)).body.users_count).toBe(1)
  })

  test.each<[string, object, boolean]>([
    ['a count', { event: 'purchase', at_least: 2 }, true],
    ['a limit', { event: 'purchase', at_most: 1 }, false],
    ['a count in a window', { event: 'purchase', exactly: 2, within: '30d' }, true],
    ['the first event', { event: 'login', first: { after: '2026-01-01' } }, true],
    ['the last event', { event: 'purchase', last: { after: '2026-11-22' } }, true],
    ['the last event before a time', { event: 'purchase', last: { before: '2026-11-22' } }, false],
    ['a recent last event', { event: 'purchase', last: { within_last: '1h' } }, true],
    ['a campaign', { campaign: 9, did: 'opened' }, true],
  ])('%s counts an event that is dated in the near future from its instant', async (_, condition, after) => {
    await using w = await world()
    const { body: types } = await w.get('/api/client/subscriptions')
    const campaign = await w.post('/api/client/campaigns', { type: 'blast', name: 'Spring', subscription_id: types.results[0].id })
    const rule = 'campaign' in condition ? { ...condition, campaign: campaign.body.id } : condition
    const before = await listOf(w, rule)
    await did(w, ['kim', 'purchase', 2])
    const ahead = 3 / (24 * 60)
    await did(w, ['kim', 'purchase', -ahead], ['kim', 'login', -ahead])
    if ('campaign' in condition) await saveOpened(w, campaign.body.id, ahead)
    // One list was kept up to date, the other one is built while the event lies ahead.
    const lists = [before, await listOf(w, rule)]
    const isIn = async () => Promise.all(lists.map(async (id) => (await members(w, id)).includes('kim')))
    expect(await isIn()).toEqual([!after, !after])
    w.advance(3 * 60_000 - 1)
    await w.drain()
    expect(await isIn()).toEqual([!after, !after])
    w.advance(1)
    await w.drain()
    expect(await isIn()).toEqual([after, after])
    const explained = (await w.get(`/api/client/lists/${before}/users/kim/explain`)).body
    expect(JSON.stringify(explained)).toContain(w.clock.now().toISOString())
  })

  test('a count in a window rises with events and falls when the window closes, to the millisecond', async () => {
    await using w = await world()
    const id = await listOf(w, { event: 'purchase', at_least: 2, within: '30d' })
    await did(w, ['kim', 'purchase', 29], ['kim', 'purchase', 10])
    expect(await members(w, id)).toEqual(['kim'])
    w.advance(DAY_MS - 1)
    await w.drain()
    expect(await members(w, id)).toEqual(['kim'])
    w.advance(1)
    await w.drain()
    expect(await members(w, id)).toEqual([])
    await did(w, ['kim', 'purchase', 0])
    expect(await members(w, id)).toEqual(['kim'])
    expect(await changesOf(w, 'kim')).toEqual([`list_entered ${id}`, `list_left ${id}`, `list_entered ${id}`])
  })

  test('a late event counts at its own time, and a repeated event id does not count', async () => {
    await using w = await world()
    const id = await listOf(w, { event: 'purchase', exactly: 2, within: '30d' })
    const repeated = { external_id: 'kim', name: 'purchase', event_id: 'one' }
    await w.post('/api/client/events', [repeated, repeated])
    await did(w, ['kim', 'purchase', 31])
    expect(await members(w, id)).toEqual([])
    await did(w, ['kim', 'purchase', 29])
    expect(await members(w, id)).toEqual(['kim'])
    await did(w, ['kim', 'purchase', 28])
    expect(await members(w, id)).toEqual([])
  })

  test('events that arrived while the tracker was full count when the first ones have left the window', async () => {
    await using w = await world()
    const twice = await listOf(w, { event: 'purchase', at_least: 2, within: '30d' })
    const atMost = await listOf(w, { event: 'purchase', at_most: 2, within: '30d' })
    await did(w, ['kim', 'purchase'], ['kim', 'purchase'], ['kim', 'purchase'])
    expect([await members(w, twice), await members(w, atMost)]).toEqual([['kim'], []])
    w.advance('10 days')
    await did(w, ['kim', 'purchase'], ['kim', 'purchase'])
    await did(w, ['kim', 'purchase', 5])
    w.advance('20 days')
    await w.drain()
    expect([await members(w, twice), await members(w, atMost)]).toEqual([['kim'], []])
    w.advance('5 days')
    await w.drain()
    expect([await members(w, twice), await members(w, atMost)]).toEqual([['kim'], ['kim']])
    w.advance('5 days')
    await w.drain()
    expect([await members(w, twice), await members(w, atMost)]).toEqual([[], ['kim']])
    expect(await changesOf(w, 'kim')).toEqual([`list_entered ${twice}`, `list_entered ${atMost}`, `list_left ${twice}`])
  })

  test('a new user enters the lists whose rules hold without data', async () => {
    await using w = await world()
    const not = await listOf(w, { attribute: 'data.plan', is_not: 'pro' })
    const never = await listOf(w, { event: 'purchase', at_most: 0 })
    await w.users('kim')
    await w.drain()
    expect([await members(w, not), await members(w, never)]).toEqual([['kim'], ['kim']])
    await did(w, ['kim', 'purchase'])
    expect([await members(w, not), await members(w, never)]).toEqual([['kim'], []])
  })

  test('subscriptions and devices change memberships', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const [type] = (await w.get('/api/client/subscriptions')).body.results
    const subscribed = await listOf(w, { subscription: type.id, is: 'subscribed' })
    const phones = await listOf(w, { device: 'os', is: 'ios' })
    expect([await members(w, subscribed), await members(w, phones)]).toEqual([['kim', 'lee'], []])
    await w.patch('/api/client/users/kim/subscriptions', [{ subscription_id: type.id, state: 0 }])
    await w.post('/api/client/devices', { external_id: 'lee', device_id: 'one', os: 'ios' })
    await w.drain()
    expect([await members(w, subscribed), await members(w, phones)]).toEqual([['lee'], ['lee']])
    await w.post('/api/client/devices', { external_id: 'kim', device_id: 'one', os: 'ios' })
    await w.drain()
    expect(await members(w, phones)).toEqual(['kim'])
    await w.patch(`/api/client/subscriptions/${type.id}`, { default_state: 0 })
    await w.drain()
    expect(await members(w, subscribed)).toEqual([])
  })

  test('a sent campaign changes the list about it, and its system event triggers no campaign', async () => {
    await using w = await world()
    await w.users('kim')
    const [type] = (await w.get('/api/client/subscriptions?q=email')).body.results
    const campaign = async (event_name: string) => {
      const { body } = await w.post('/api/client/campaigns', { type: 'trigger', name: event_name, subscription_id: type.id, event_name })
      await w.put(`/api/client/campaigns/${body.id}/templates/en`, { subject: 'Hello', html: '<p>Hello</p>' })
      await w.patch(`/api/client/campaigns/${body.id}`, { state: 'running' })
      return body.id
    }
    const welcome = await campaign('signed_up')
    await campaign('email_sent')
    const reached = await listOf(w, { campaign: welcome, did: 'sent', within: '7d' })
    await did(w, ['kim', 'signed_up'])
    expect(await members(w, reached)).toEqual(['kim'])
    expect((await w.get('/api/client/sandbox/messages')).body.results).toHaveLength(1)
    w.advance('7 days')
    await w.drain()
    expect(await members(w, reached)).toEqual([])
  })
})

describe('a list about a campaign', () => {
  test('counts no event that a caller made up, however it is evaluated', async () => {
    await using w = await world()
    await w.users('kim')
    const [type] = (await w.get('/api/client/subscriptions?q=email')).body.results
    const { body: campaign } = await w.post('/api/client/campaigns', { type: 'blast', name: 'News', subscription_id: type.id })
    const rule = { campaign: campaign.id, did: 'opened' }
    const kept = await listOf(w, rule)
    await did(w, ['kim', 'email_opened', 0, { campaign_id: campaign.id }])
    const built = await listOf(w, rule)
    expect([await members(w, kept), await members(w, built)]).toEqual([[], []])
    expect((await w.post('/api/client/lists/preview', { rule })).body.count).toBe(0)
    expect((await w.get(`/api/client/lists/${kept}/users/kim/explain`)).body.holds).toBe(false)
    const byName = await listOf(w, { event: 'email_opened' })
    expect(await members(w, byName)).toEqual(['kim'])
  })
})

describe('lists that depend on lists', () => {
  test('a list follows the lists that its rule refers to, in order', async () => {
    await using w = await world()
    const buyers = await listOf(w, { event: 'purchase' })
    const quiet = await listOf(w, { all: [{ list: buyers }, { event: 'purchase', at_most: 0, within: '7d' }] })
    const back = await listOf(w, { event: 'list_left', at_least: 1, where: [{ attribute: 'data.list_id', is: quiet }] })
    await did(w, ['kim', 'purchase', 6])
    expect([await members(w, buyers), await members(w, quiet), await members(w, back)]).toEqual([['kim'], [], []])
    w.advance('1 day')
    await w.drain()
    expect(await members(w, quiet)).toEqual(['kim'])
    await did(w, ['kim', 'purchase'])
    expect([await members(w, buyers), await members(w, quiet), await members(w, back)]).toEqual([['kim'], [], ['kim']])
  })

  test('a list follows the members of a static list that its rule refers to', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const { body: vip } = await w.post('/api/client/lists', { name: 'VIP', type: 'static' })
    const others = await listOf(w, { not: { list: vip.id } })
    expect(await members(w, others)).toEqual(['kim', 'lee'])
    await w.post(`/api/client/lists/${vip.id}/users`, { external_ids: ['kim'] })
    await w.drain()
    expect([await members(w, vip.id), await members(w, others)]).toEqual([['kim'], ['lee']])
    expect(await changesOf(w, 'kim')).toEqual([`list_entered ${vip.id}`, `list_left ${others}`])
  })

  test('a new rule replaces the old one when it is built, and dependent lists follow', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [
      { external_id: 'kim', data: { plan: 'pro' } },
      { external_id: 'lee', data: { plan: 'free' } },
    ])
    const plan = await listOf(w, { attribute: 'data.plan', is: 'pro' })
    const others = await listOf(w, { not: { list: plan } })
    await w.patch(`/api/client/lists/${plan}`, { rule: { attribute: 'data.plan', is: 'free' } })
    expect((await w.get(`/api/client/lists/${plan}`)).body.state).toBe('building')
    expect(await members(w, plan)).toEqual(['kim'])
    await w.drain()
    expect([await members(w, plan), await members(w, others)]).toEqual([['lee'], ['kim']])
    expect(await changesOf(w, 'kim')).toEqual([])
  })
})

/** Starts a campaign that is sent to users who enter a list. */
const sendToNewMembers = (w: World): Promise<void> => sendTo(w, 'list_entered')

/** Starts a campaign that is sent to users who enter a list, or leave one. */
async function sendTo(w: World, event_name: 'list_entered' | 'list_left'): Promise<void> {
  const [type] = (await w.get('/api/client/subscriptions?q=email')).body.results
  const { body: campaign } = await w.post('/api/client/campaigns', {
    type: 'trigger',
    name: 'Changed',
    subscription_id: type.id,
    event_name,
  })
  await w.put(`/api/client/campaigns/${campaign.id}/templates/en`, { subject: 'Hello', html: '<p>Hello</p>' })
  await w.patch(`/api/client/campaigns/${campaign.id}`, { state: 'running' })
}

describe('merged and erased users', () => {
  test('the events of both users count, static lists are inherited, and inherited changes trigger nothing', async () => {
    await using w = await world()
    await sendToNewMembers(w)
    await w.users('kim')
    const often = await listOf(w, { event: 'viewed', exactly: 3, within: '30d' })
    const { body: vip } = await w.post('/api/client/lists', { name: 'VIP', type: 'static' })
    await w.post('/api/client/events', [
      { anonymous_id: 'visitor', name: 'viewed' },
      { anonymous_id: 'visitor', name: 'viewed' },
      { external_id: 'kim', name: 'viewed' },
    ])
    await w.drain()
    const anonymous = (await w.get('/api/client/users/visitor')).body
    await w.post(`/api/client/lists/${vip.id}/users`, { user_ids: [anonymous.id] })
    await w.drain()
    const sent = (await w.get('/api/client/sandbox/messages')).body.results.length
    await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'visitor' }])
    await w.drain()
    expect([await members(w, often), await members(w, vip.id)]).toEqual([['kim'], ['kim']])
    expect((await w.get(`/api/client/lists/${vip.id}`)).body.users_count).toBe(1)
    expect(await changesOf(w, 'kim')).toContain(`list_entered ${often}`)
    expect((await w.get('/api/client/sandbox/messages')).body.results).toHaveLength(sent)
  })

  const both = { external_id: 'kim', anonymous_id: 'visitor' }
  const purchase = { ...both, name: 'purchase' }
  const pro = { ...both, data: { plan: 'pro' } }

  test.each([
    ['by an event', { event: 'purchase' }, (w: World) => w.post('/api/client/events', [purchase])],
    ['by a change', { attribute: 'data.plan', is: 'pro' }, (w: World) => w.patch('/api/client/users', [pro])],
    ['by a change that is saved at once', { attribute: 'data.plan', is: 'pro' }, (w: World) => w.post('/api/client/users/batch', [pro])],
  ])('a user who enters a list %s that also merges another user into it gets the message', async (_, rule, write) => {
    await using w = await world()
    await sendToNewMembers(w)
    await w.users('kim')
    await w.post('/api/client/events', [{ anonymous_id: 'visitor', name: 'viewed' }])
    const list = await listOf(w, { all: [rule, { event: 'viewed' }] })
    expect((await write(w)).status).toBeLessThan(300)
    await w.drain()
    expect(await members(w, list)).toEqual(['kim'])
    expect((await w.get('/api/client/sandbox/messages')).body.results).toHaveLength(1)
  })

  test('a user does not get the message of a list that the merged user was in already', async () => {
    await using w = await world()
    await sendToNewMembers(w)
    await w.users('kim')
    const buyers = await listOf(w, { event: 'purchase' })
    const payers = await listOf(w, { attribute: 'data.plan', is: 'pro' })
    await w.post('/api/client/events', [{ anonymous_id: 'visitor', name: 'purchase' }])
    await w.patch('/api/client/users', [{ anonymous_id: 'visitor', data: { plan: 'pro' } }])
    await w.drain()
    await w.patch('/api/client/users', [pro])
    await w.post('/api/client/events', [purchase])
    await w.drain()
    expect([await members(w, buyers), await members(w, payers)]).toEqual([['kim'], ['kim']])
    expect((await w.get('/api/client/sandbox/messages')).body.results).toHaveLength(0)
  })

  test('a list that counts the entrances of one that the merged user was in already triggers nothing either', async () => {
    await using w = await world()
    await w.users('kim')
    const payers = await listOf(w, { attribute: 'data.plan', is: 'pro' })
    await w.patch('/api/client/users', [
      { external_id: 'kim', data: { plan: 'free' } },
      { anonymous_id: 'visitor', data: { plan: 'pro' } },
    ])
    await w.drain()
    w.advance('30 days')
    await sendToNewMembers(w)
    const entered = await listOf(w, { event: 'list_entered', within: '7d', where: [{ attribute: 'data.list_id', is: payers }] })
    const third = await listOf(w, { list: entered })
    await w.patch('/api/client/users', [pro])
    await w.drain()
    expect(await Promise.all([payers, entered, third].map((list) => members(w, list)))).toEqual([['kim'], ['kim'], ['kim']])
    expect((await w.get('/api/client/sandbox/messages')).body.results).toEqual([])
  })

  test('a user whose own change decides a list with a merge enters no list that depends on it, not even for an instant', async () => {
    await using w = await world()
    await sendTo(w, 'list_left')
    await w.users('kim')
    await did(w, ['kim', 'login'])
    await w.post('/api/client/events', [{ anonymous_id: 'visitor', name: 'viewed' }])
    const payers = await listOf(w, { attribute: 'data.plan', is: 'pro' })
    const others = await listOf(w, { all: [{ event: 'viewed' }, { event: 'login' }, { not: { list: payers } }] })
    const third = await listOf(w, { list: others })
    await w.patch('/api/client/users', [pro])
    await w.drain()
    expect([await members(w, payers), await members(w, others), await members(w, third)]).toEqual([['kim'], [], []])
    expect(await changesOf(w, 'kim')).toEqual([`list_entered ${payers}`])
    expect((await w.get('/api/client/sandbox/messages')).body.results).toEqual([])
  })

  test('a merge decides a list that depends on one which the own change of the user leaves as it is, and triggers nothing', async () => {
    await using w = await world()
    await sendTo(w, 'list_entered')
    await w.users('kim')
    await did(w, ['kim', 'login'])
    await w.post('/api/client/events', [{ anonymous_id: 'visitor', name: 'viewed' }])
    const payers = await listOf(w, { attribute: 'data.plan', is: 'gold' })
    const others = await listOf(w, { all: [{ event: 'viewed' }, { event: 'login' }, { not: { list: payers } }] })
    const third = await listOf(w, { list: others })
    const entered = await listOf(w, { event: 'list_entered', within: '7d', where: [{ attribute: 'data.list_id', is: others }] })
    await w.patch('/api/client/users', [pro])
    await w.drain()
    const lists = [payers, others, third, entered]
    expect(await Promise.all(lists.map((list) => members(w, list)))).toEqual([[], ['kim'], ['kim'], ['kim']])
    expect(await changesOf(w, 'kim')).toEqual([others, third, entered].map((list) => `list_entered ${list}`))
    expect((await w.get('/api/client/sandbox/messages')).body.results).toEqual([])
  })

  test('an erased user is in no list and is not counted', async () => {
    await using w = await world()
    const pro = await listOf(w, { attribute: 'data.plan', is: 'pro' })
    const { body: vip } = await w.post('/api/client/lists', { name: 'VIP', type: 'static' })
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { plan: 'pro' } }])
    await w.post(`/api/client/lists/${vip.id}/users`, { external_ids: ['kim'] })
    await w.drain()
    await w.delete('/api/client/users/kim')
    expect([await members(w, pro), await members(w, vip.id)]).toEqual([[], []])
    await w.drain()
    const counts = [
      (await w.get(`/api/client/lists/${pro}`)).body.users_count,
      (await w.get(`/api/client/lists/${vip.id}`)).body.users_count,
    ]
    expect(counts).toEqual([0, 0])
  })
})

describe('disasters', () => {
  test('when a clock that was ahead is set back, premature membership changes are undone without an event', async () => {
    await using w = await world()
    const id = await listOf(w, { event: 'purchase', at_least: 1, within: '1d' })
    await did(w, ['kim', 'purchase'])
    const right = w.clock.now()
    w.advance('2 days')
    await w.drain()
    expect(await members(w, id)).toEqual([])
    w.clock.set(right)
    await w.drain()
    expect(await members(w, id)).toEqual(['kim'])
    w.advance('1 day')
    await w.drain()
    expect(await members(w, id)).toEqual([])
    expect(await changesOf(w, 'kim')).toEqual([`list_entered ${id}`, `list_left ${id}`, `list_left ${id}`])
  })

  test('events of 1970, of tomorrow and on each side of a month boundary count at their own time', async () => {
    await using w = await world()
    const ever = await listOf(w, { event: 'purchase', exactly: 4 })
    const lately = await listOf(w, { event: 'purchase', exactly: 3, within: '60d' })
    const first = await listOf(w, { event: 'purchase', first: { before: '1971-01-01' } })
    w.clock.set(new Date('2026-12-01T00:00:00.500Z'))
    await w.post('/api/client/events', [
      { external_id: 'kim', name: 'purchase', created_at: '1970-01-01T00:00:00Z' },
      { external_id: 'kim', name: 'purchase', created_at: '2026-12-02T00:00:00Z' },
      { external_id: 'kim', name: 'purchase', created_at: '2026-11-30T23:59:59.999Z' },
      { external_id: 'kim', name: 'purchase', created_at: '2026-12-01T00:00:00.000Z' },
    ])
    await w.drain()
    expect([await members(w, ever), await members(w, lately), await members(w, first)]).toEqual([['kim'], ['kim'], ['kim']])
    const rebuilt = await listOf(w, { event: 'purchase', exactly: 3, within: '60d' })
    expect(await members(w, rebuilt)).toEqual(['kim'])
  })

  test('a poison item in a large batch is parked with its reason, and lists count the other items', async () => {
    await using w = await world()
    const id = await listOf(w, { event: 'clicked', exactly: 10 })
    await w.db.run(sql`alter table events add constraint no_poison check (name <> ${sql`'poison'`}) not valid`)
    try {
      const items = Array.from({ length: 100 }, (_, index) => ({ external_id: `person-${index}`, name: 'clicked' }))
      await w.post('/api/client/events', [
        { external_id: 'person-1', name: 'poison' },
        { external_id: 'person-1', name: 'clicked' },
      ])
      for (let at = 0; at < 10; at++) await w.post('/api/client/events', items)
      await w.drain()
    } finally {
      await w.db.run(sql`alter table events drop constraint no_poison`)
    }
    expect((await w.get(`/api/client/lists/${id}`)).body.users_count).toBe(99)
    const parked = await w.db.many(Parked, sql`select item->>'name' as name from parked_items where project_id = ${w.projectId}`)
    expect(parked).toEqual([{ name: 'poison' }])
  })
})

const Parked = Type.Object({ name: Type.String() })

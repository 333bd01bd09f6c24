import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  blastTo,
  CAMPAIGNS,
  countsOf,
  listOf,
  messagesIn,
  outcomes,
  pathOf,
  run,
  schedule,
  subscriptionTo,
  write,
} from '../../../../test/blasts.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { messageCountsOf } from '../../messages/index.ts'
import { launchDue, loadAudiences } from '../audience/load.ts'
import { chooseWinners, finishDone } from './finish.ts'
import { runPendingActions } from './pending-actions.ts'

/** More with `PROGRESS_RUNS`. */
const RUNS = Number(process.env.PROGRESS_RUNS ?? 5)

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${String(index).padStart(3, '0')}`)
const read = async (w: World, campaign: { id: number }) => (await w.get(pathOf(campaign))).body
const later = (w: World, minutes: number) => new Date(w.clock.now().getTime() + minutes * MINUTE_MS).toISOString()

async function loaded(w: World, users: string[], more: object = {}) {
  const campaign = await blastTo(w, [await listOf(w, ...users)], more)
  await schedule(w, campaign)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 2)
  expect((await read(w, campaign)).state).toBe('running')
  return campaign
}

describe('a pause', () => {
  test('holds unsent messages until the campaign is resumed', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(5))
    const paused = await w.post(`${pathOf(campaign)}/pause`)
    expect(paused.body).toMatchObject({ state: 'running', paused_at: w.clock.now().toISOString() })
    w.advance('1 hour')
    expect((await w.post(`${pathOf(campaign)}/pause`)).body).toEqual(paused.body)
    await w.drain()
    expect((await messagesIn(w, campaign)).every(({ state, is_held }) => state === 'queued' && is_held)).toBe(true)
    const resumed = await w.post(`${pathOf(campaign)}/resume`)
    expect(resumed.body).not.toHaveProperty('paused_at')
    expect((await w.post(`${pathOf(campaign)}/resume`)).body).toEqual(resumed.body)
    await w.drain()
    expect(await read(w, campaign)).toMatchObject({ state: 'finished', delivery: { total: 5, sent: 5 } })
  })

  test('stops loading too', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, ...names(6))])
    await schedule(w, campaign)
    await launchDue(w.ctx)
    await loadAudiences(w.ctx, 2)
    await w.post(`${pathOf(campaign)}/pause`)
    await w.drain()
    expect(await outcomes(w, campaign)).toHaveLength(2)
    expect((await read(w, campaign)).state).toBe('loading')
    await w.post(`${pathOf(campaign)}/resume`)
    await w.drain()
    expect(await read(w, campaign)).toMatchObject({ state: 'finished', delivery: { total: 6, sent: 6 } })
  })

  test('that outlasts the deadline makes messages expire', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(2), { expires_after_hours: 1 })
    await w.post(`${pathOf(campaign)}/pause`)
    await w.drain()
    w.advance('2 hours')
    await w.post(`${pathOf(campaign)}/resume`)
    await w.drain()
    expect(await outcomes(w, campaign)).toEqual(['p000: skipped deadline_passed', 'p001: skipped deadline_passed'])
    expect((await read(w, campaign)).state).toBe('finished')
  })
})

test('every pause begins at once, however many campaigns are paused', async () => {
  await using w = await world()
  const list = await listOf(w, 'ana', 'bo')
  const campaigns = []
  for (let made = 0; made < 21; made++) campaigns.push(await blastTo(w, [list]))
  for (const campaign of campaigns) await schedule(w, campaign)
  await run(w, 'campaigns.launch', 2)
  await run(w, 'campaigns.load', 4)
  for (const campaign of campaigns) expect((await w.post(`${pathOf(campaign)}/pause`)).status).toBe(200)
  expect(await runPendingActions(w.ctx, 1)).toBe(campaigns.length)
})

describe('a trigger that is finished while it is paused', () => {
  const heldTrigger = async (w: World) => {
    await w.users('kim')
    const trigger = (await w.post(CAMPAIGNS, { type: 'trigger', name: 'Thanks', subscription_id: await subscriptionTo(w) })).body
    await w.put(`${pathOf(trigger)}/templates/en`, { from: 'shop@example.com', subject: 'Thanks', html: '<p>Thanks</p>' })
    await write(w, trigger, { state: 'running' })
    const sent = await w.post(`${pathOf(trigger)}/trigger`, { external_id: 'kim' })
    expect(sent.status, sent.text).toBe(202)
    await w.post(`${pathOf(trigger)}/pause`)
    return trigger as { id: number }
  }

  test.each(['after', 'before'] as const)('sends nothing more, and its messages end, %s they were held', async (order) => {
    await using w = await world()
    const trigger = await heldTrigger(w)
    if (order === 'after') await w.drain()
    expect(await write(w, trigger, { state: 'finished' })).not.toHaveProperty('paused_at')
    await w.drain()
    expect(await outcomes(w, trigger)).toEqual(['kim: aborted campaign_stopped'])
    expect(await run(w, 'campaigns.pending-actions')).toBe(0)
  })
})

describe('an abort', () => {
  test('returns at once with the number of messages in flight, and withdraws the others in chunks', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(7))
    const aborted = await write(w, campaign, { state: 'aborted' })
    expect(aborted).toMatchObject({ state: 'aborted', in_flight: 0, delivery: { total: 7 } })
    expect(await read(w, campaign)).not.toHaveProperty('in_flight')
    expect(await runPendingActions(w.ctx, 3)).toBe(3)
    await w.drain()
    expect(countsOf(await messagesIn(w, campaign))).toEqual({ 'aborted campaign_stopped ': 7 })
    expect((await read(w, campaign)).delivery).toMatchObject({ total: 7, sent: 0 })
  })

  test('of a paused campaign withdraws its held messages', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(3))
    await w.post(`${pathOf(campaign)}/pause`)
    await w.drain()
    expect(await write(w, campaign, { state: 'aborted' })).not.toHaveProperty('paused_at')
    await w.drain()
    expect(countsOf(await messagesIn(w, campaign))).toEqual({ 'aborted campaign_stopped ': 3 })
  })

  test('during loading withdraws all messages loaded so far', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, ...names(6))])
    await schedule(w, campaign)
    await launchDue(w.ctx)
    await loadAudiences(w.ctx, 4)
    await write(w, campaign, { state: 'aborted' })
    await w.drain()
    expect(countsOf(await messagesIn(w, campaign))).toEqual({ 'aborted campaign_stopped ': 4 })
  })

  test('happens when an active campaign is archived', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(3))
    expect((await w.delete(pathOf(campaign))).status).toBe(204)
    await w.drain()
    expect(countsOf(await messagesIn(w, campaign))).toEqual({ 'aborted campaign_stopped ': 3 })
  })
})

describe('a new send_at', () => {
  test('withdraws unsent messages and sends them then, so that no user gets two', async () => {
    await using w = await world()
    const list = await listOf(w, 'ana', 'bo', 'cy')
    await w.post('/api/client/users/batch', [{ external_id: 'ana', timezone: 'Pacific/Auckland' }])
    const campaign = await blastTo(w, [list], { send_at: '2026-11-23T22:30', send_in_user_timezone: true })
    await schedule(w, campaign)
    w.advance('1 hour')
    await w.drain()
    expect(await outcomes(w, campaign)).toEqual(['ana: delivered', 'bo: queued', 'cy: queued'])
    const rescheduled = await write(w, campaign, { send_at: '2026-11-25T08:00', list_ids: [list, await listOf(w, 'di')] })
    expect(rescheduled.state).toBe('aborting')
    await run(w, 'campaigns.pending-actions', 2)
    expect(await outcomes(w, campaign)).toEqual(['ana: delivered', 'bo: aborted rescheduled', 'cy: aborted rescheduled'])
    const after = await read(w, campaign)
    expect(after).toMatchObject({ state: 'scheduled', send_at: '2026-11-25T08:00:00.000' })
    expect(after).not.toHaveProperty('started_at')
    w.advance('3 days')
    await w.drain()
    expect(await outcomes(w, campaign)).toEqual(['ana: delivered', 'bo: delivered', 'cy: delivered', 'di: delivered'])
    expect(await read(w, campaign)).toMatchObject({ state: 'finished', delivery: { total: 4, sent: 4 } })
    expect((await w.get('/api/client/sandbox/messages')).body.results).toHaveLength(4)
  })

  test('sends also to users who were skipped the first time, if they can get it now', async () => {
    await using w = await world()
    const spared = await listOf(w, 'ana')
    await w.users('cy', 'di')
    const subscription_id = await subscriptionTo(w)
    const setState = (user: string, state: number) => w.patch(`/api/client/users/${user}/subscriptions`, [{ subscription_id, state }])
    for (const user of ['cy', 'di']) await setState(user, 0)
    const campaign = await loaded(w, ['ana', 'bo', 'cy', 'di'], { exclusion_list_ids: [spared] })
    const first = ['ana: skipped excluded', 'bo: queued', 'cy: skipped not_subscribed', 'di: skipped not_subscribed']
    expect(await outcomes(w, campaign)).toEqual(first)
    await write(w, campaign, { send_at: later(w, 60), exclusion_list_ids: [] })
    await setState('cy', 1)
    w.advance('2 hours')
    await w.drain()
    expect(await outcomes(w, campaign)).toEqual(['ana: delivered', 'bo: delivered', 'cy: delivered', 'di: skipped not_subscribed'])
    expect(await read(w, campaign)).toMatchObject({ state: 'finished', delivery: { total: 4, sent: 3 } })
    const { states } = (await w.get(`${pathOf(campaign)}/delivery`)).body
    expect(states.map(({ state, reason, messages }: any) => [state, reason ?? null, messages])).toEqual(
      expect.arrayContaining([
        ['delivered', null, 3],
        ['skipped', 'not_subscribed', 1],
      ]),
    )
    expect(states).toHaveLength(2)
  })

  test('completes a message once more that was skipped when its time first came', async () => {
    await using w = await world()
    await using receiver = await w.receiver()
    await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: ['delivery.completed'] })
    const list = await listOf(w, 'ana', 'bo')
    await w.post('/api/client/users/batch', [{ external_id: 'ana', timezone: 'Pacific/Auckland' }])
    const campaign = await blastTo(w, [list], { send_at: '2026-11-23T22:30', send_in_user_timezone: true })
    await schedule(w, campaign)
    w.advance('1 hour')
    await run(w, 'campaigns.launch')
    await run(w, 'campaigns.load', 2)
    const { body: suppressed } = await w.post('/api/client/suppressions', [
      { channel: 'email', address: 'ana@example.com', reason: 'manual' },
    ])
    await w.drain()
    expect(await outcomes(w, campaign)).toEqual(['ana: skipped suppressed', 'bo: queued'])
    expect((await w.delete(`/api/client/suppressions/${suppressed.results[0].id}`)).status).toBe(204)
    await write(w, campaign, { send_at: '2026-11-25T08:00' })
    w.advance('3 days')
    await w.drain()
    expect(await outcomes(w, campaign)).toEqual(['ana: delivered', 'bo: delivered'])
    const events = receiver.requests.map(({ json }) => json.data as { user: { external_id: string }; delivered: number })
    expect(events.map((data) => [data.user?.external_id, data.delivered]).sort()).toEqual([
      ['ana', 0],
      ['ana', 1],
      ['bo', 1],
    ])
  })

  test('waits for messages in flight', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(3))
    await w.db.run(sql`update messages set state = 'claimed', lease_token = gen_random_uuid(), lease_until = ${new Date(later(w, 5))}
                       where campaign_id = ${campaign.id} and id = (select min(id) from messages where campaign_id = ${campaign.id})`)
    await write(w, campaign, { send_at: later(w, 60) })
    await run(w, 'campaigns.pending-actions', 5)
    expect((await read(w, campaign)).state).toBe('aborting')
    // The provider defers the message.
    await w.db.run(
      sql`update messages set state = 'deferred', lease_token = null, lease_until = null where campaign_id = ${campaign.id} and state = 'claimed'`,
    )
    await run(w, 'campaigns.pending-actions', 2)
    expect((await read(w, campaign)).state).toBe('scheduled')
    expect(countsOf(await messagesIn(w, campaign))).toEqual({ 'aborted rescheduled ': 3 })
  })

  test('reads no message while none waits', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(3))
    await w.db.run(sql`update messages set state = 'claimed', lease_token = gen_random_uuid(), lease_until = ${new Date(later(w, 5))}
                       where campaign_id = ${campaign.id} and id = (select min(id) from messages where campaign_id = ${campaign.id})`)
    await write(w, campaign, { send_at: later(w, 60) })
    await run(w, 'campaigns.pending-actions', 5)
    await w.db.transaction(async (db) => {
      await db.run(sql`lock table messages in access exclusive mode`)
      await run(w, 'campaigns.pending-actions')
    })
    expect((await read(w, campaign)).state).toBe('aborting')
  })

  test('of a paused campaign ends the pause', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(3))
    await w.post(`${pathOf(campaign)}/pause`)
    await w.drain()
    expect(await write(w, campaign, { send_at: later(w, 60) })).not.toHaveProperty('paused_at')
    w.advance('2 hours')
    await w.drain()
    expect(await read(w, campaign)).toMatchObject({ state: 'finished', delivery: { total: 3, sent: 3 } })
  })

  test('is refused once the campaign is finished, as are changes of fixed members during sending', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(2))
    const late = await w.patch(pathOf(campaign), { holdout_percent: 10 })
    expect(late).toMatchObject({ status: 422, body: { error: { param: 'holdout_percent' } } })
    await w.drain()
    expect(await w.patch(pathOf(campaign), { send_at: later(w, 60) })).toMatchObject({ status: 422, body: { error: { param: 'send_at' } } })
    expect((await w.patch(pathOf(campaign), { name: 'Autumn' })).status).toBe(200)
  })
})

describe('variants', () => {
  const variants = [
    { name: 'Short', weight: 1 },
    { name: 'Long', weight: 1 },
  ]

  test('divide the whole audience, and each needs a template', async () => {
    await using w = await world()
    const campaign = await loaded(w, names(60), { variants })
    const parts = countsOf(await messagesIn(w, campaign))
    expect(Object.keys(parts)).toEqual(expect.arrayContaining(['queued  0', 'queued  1']))
    expect((parts['queued  0'] ?? 0) + (parts['queued  1'] ?? 0)).toBe(60)
    const other = await blastTo(w, [await listOf(w)], { variants })
    await w.delete(`${pathOf(other)}/templates/en?variant=B`)
    expect(await w.patch(pathOf(other), { state: 'scheduled' })).toMatchObject({ status: 422, body: { error: { param: 'state' } } })
  })

  test('are tested on some users, and the others get the winner', async () => {
    await using w = await world()
    const winner = { metric: 'opens', test_percent: 50, after_minutes: 60 }
    const campaign = await loaded(w, names(80), { variants, winner })
    await w.drain()
    const before = countsOf(await messagesIn(w, campaign))
    const rest = before['queued  '] ?? 0
    expect(rest).toBeGreaterThan(20)
    expect((before['delivered  0'] ?? 0) + (before['delivered  1'] ?? 0)).toBe(80 - rest)
    await w.db.run(sql`update messages set opened_at = ${w.clock.now()} where campaign_id = ${campaign.id} and variant = 1`)
    w.advance('59 minutes')
    await w.drain()
    expect(await read(w, campaign)).not.toHaveProperty('winner_variant')
    w.advance('1 minute')
    await run(w, 'campaigns.winner')
    expect(await read(w, campaign)).toMatchObject({ state: 'running', winner_variant: 'B' })
    w.advance('1 minute')
    await w.drain()
    expect(await read(w, campaign)).toMatchObject({ state: 'finished', delivery: { total: 80, sent: 80 } })
    const after = countsOf(await messagesIn(w, campaign))
    expect(after['delivered  1']).toBe((before['delivered  1'] ?? 0) + rest)
    const { body } = await w.get(`${pathOf(campaign)}/delivery`)
    expect(body.winner).toEqual({
      variant: 'B',
      numbers: [
        { variant: 'A', sent: before['delivered  0'], opens: 0, clicks: 0 },
        { variant: 'B', sent: before['delivered  1'], opens: before['delivered  1'], clicks: 0 },
      ],
    })
  })

  test('have no winner while the test has not been sent', async () => {
    await using w = await world()
    const winner = { metric: 'opens', test_percent: 50, after_minutes: 10 }
    const campaign = await loaded(w, names(20), { variants, winner })
    w.advance('1 hour')
    await run(w, 'campaigns.winner')
    expect(await read(w, campaign)).not.toHaveProperty('winner_variant')
    await w.drain()
    w.advance('1 minute')
    await w.drain()
    expect(await read(w, campaign)).toMatchObject({ state: 'finished', winner_variant: 'A', delivery: { sent: 20 } })
  })
})

type Step =
  | 'load'
  | 'send'
  | 'actions'
  | 'finish'
  | 'winner'
  | 'begin'
  | 'pause'
  | 'resume'
  | 'reschedule'
  | 'abort'
  | 'advance'
  | 'exclude'

/** What jobs and callers may do, in any order. */
const STEPS: Record<Step, (w: World, campaign: { id: number }) => Promise<unknown>> = {
  begin: (w) => launchDue(w.ctx),
  load: (w) => loadAudiences(w.ctx, 4),
  send: (w) => run(w, 'messages.send'),
  actions: (w) => runPendingActions(w.ctx, 3),
  finish: (w) => finishDone(w.ctx),
  winner: (w) => chooseWinners(w.ctx),
  pause: (w, campaign) => w.post(`${pathOf(campaign)}/pause`),
  resume: (w, campaign) => w.post(`${pathOf(campaign)}/resume`),
  reschedule: (w, campaign) => w.patch(pathOf(campaign), { send_at: later(w, 1) }),
  abort: (w, campaign) => w.patch(pathOf(campaign), { state: 'aborted' }),
  advance: async (w) => w.advance('1 minute'),
  exclude: (w) => w.patch('/api/client/users/p003', { email: null }),
}

test('after any sequence of steps, totals match the messages, and every message reaches one final state', async () => {
  await using w = await world()
  const list = await listOf(w, ...names(14))
  const rare = fc.constantFrom<Step>('abort', 'reschedule', 'exclude')
  const common = fc.constantFrom<Step>(
    'load',
    'load',
    'send',
    'send',
    'actions',
    'actions',
    'begin',
    'finish',
    'winner',
    'pause',
    'resume',
    'advance',
  )
  const steps = fc.array(fc.oneof({ weight: 12, arbitrary: common }, { weight: 1, arbitrary: rare }), { minLength: 5, maxLength: 30 })
  const variants = [
    { name: 'A', weight: 1 },
    { name: 'B', weight: 2 },
  ]
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (steps, split) => {
      const winner = { metric: 'opens', test_percent: 50, after_minutes: 2 }
      const campaign = await blastTo(w, [list], split ? { variants, winner, holdout_percent: 20 } : {})
      await schedule(w, campaign)
      for (const step of ['begin' as const, ...steps]) {
        await STEPS[step](w, campaign)
        await reconciled(w, campaign)
      }
      await w.post(`${pathOf(campaign)}/resume`)
      for (let minute = 0; minute < 6; minute++) {
        await w.drain()
        w.advance('1 minute')
      }
      const { state, delivery } = await read(w, campaign)
      expect(['finished', 'aborted']).toContain(state)
      const rows = await messagesIn(w, campaign)
      expect(rows.filter(({ state }) => ['queued', 'claimed', 'deferred'].includes(state))).toEqual([])
      expect(new Set(rows.map(({ user }) => user)).size).toBe(rows.length)
      if (state === 'finished') expect(delivery.total).toBe(14)
    }),
    { numRuns: RUNS },
  )
}, 240_000)

/** Compares the counters with the rows. */
async function reconciled(w: World, campaign: { id: number }) {
  const rows = await messagesIn(w, campaign)
  const counts = (await messageCountsOf(w.ctx, [campaign.id as never])).get(campaign.id as never)
  const counted = Object.fromEntries((counts?.states ?? []).map((row) => [[row.state, row.reason, row.variant].join(' '), row.messages]))
  expect(counted).toEqual(countsOf(rows))
  expect(counts?.total ?? 0).toBe(rows.length)
  expect((await read(w, campaign)).delivery.total).toBe(rows.length)
}

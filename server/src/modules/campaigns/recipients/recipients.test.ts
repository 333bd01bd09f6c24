import { describe, expect, test } from 'vitest'
import { blastBeforeMerge, blastTo, CAMPAIGNS, listOf, pathOf, run, schedule, subscriptionTo, write } from '../../../../test/blasts.ts'
import { type World, world } from '../../../../test/world.ts'
import type { Reason } from '../../messages/index.ts'
import { loadChunk } from '../audience/load.ts'
import { explainInWords, type Facts } from './explain-in-words.ts'

const explain = async (w: World, campaign: { id: number }, user: string) =>
  (await w.get(`${pathOf(campaign)}/recipients/${user}/explain`, { key: w.keys.support })).body

async function halfSent(w: World) {
  const list = await listOf(w, 'ana', 'bo', 'cy')
  const spared = await listOf(w, 'bo')
  const campaign = await blastTo(w, [list], { exclusion_list_ids: [spared] })
  await w.post('/api/client/users/batch', [{ external_id: 'cy', email: null }])
  return { campaign, list, spared }
}

test('recipients are all users of the audience with the state of their messages, filtered by state and paged', async () => {
  await using w = await world()
  const { campaign } = await halfSent(w)
  const path = `${pathOf(campaign)}/recipients`
  expect((await w.get(path)).body.results).toEqual([])
  await schedule(w, campaign)
  await w.drain()
  const { body } = await w.get(path, { key: w.keys.support })
  expect(body.results.map((row: any) => [row.user.external_id, row.state, row.reason])).toEqual([
    ['ana', 'delivered', null],
    ['bo', 'skipped', 'excluded'],
    ['cy', 'skipped', 'no_address'],
  ])
  expect(body.results[0]).toMatchObject({ provider: 'sandbox', attempts: 1, variant: null, due_at: w.clock.now().toISOString() })
  const skipped = await w.get(`${path}?state=skipped&limit=1`)
  expect(skipped.body.results.map((row: any) => row.user.external_id)).toEqual(['bo'])
  expect((await w.get(`${path}?state=skipped&cursor=${skipped.body.nextCursor}`)).body.results[0].user.external_id).toBe('cy')
  expect((await w.get(`${path}?q=no_addr`)).body.results).toHaveLength(1)
  expect((await w.get(`${path}?state=lost`)).body).toMatchObject({ code: 'parameter_invalid_format', error: { param: 'state' } })
  expect((await w.get(path, { key: (await w.other()).keys.secret })).status).toBe(404)
  await w.delete('/api/client/users/ana')
  await w.drain()
  expect((await w.get(`${path}?state=delivered`)).body.results[0].user.external_id).toBeNull()
})

test('counts by state and reason add up to the totals', async () => {
  await using w = await world()
  const { campaign } = await halfSent(w)
  const path = `${pathOf(campaign)}/delivery`
  expect((await w.get(path)).body).toEqual({ total: 0, pending: 0, sent: 0, opens: 0, clicks: 0, bounced: 0, unsubscribed: 0, states: [] })
  await schedule(w, campaign)
  await w.drain()
  const row = (state: string, reason: string | null) => ({ state, reason, variant: null, messages: 1, opens: 0, clicks: 0 })
  expect((await w.get(path, { key: w.keys.support })).body).toEqual({
    total: 3,
    pending: 0,
    sent: 1,
    opens: 0,
    clicks: 0,
    bounced: 0,
    unsubscribed: 0,
    states: [row('delivered', null), row('skipped', 'excluded'), row('skipped', 'no_address')],
  })
  expect((await w.get(path, { key: (await w.other()).keys.secret })).status).toBe(404)
})

describe('an explanation', () => {
  test('is available before and after the campaign is sent', async () => {
    await using w = await world()
    const { campaign, list, spared } = await halfSent(w)
    await w.users('di')
    expect(await explain(w, campaign, 'ana')).toMatchObject({
      user: { external_id: 'ana' },
      summary: 'If the campaign were sent now, the user would get it.',
      in_audience: true,
      lists: [{ id: list, name: 'List of 3', member: true }],
      exclusion_lists: [{ id: spared, name: 'List of 1', member: false }],
      consent: { subscription_id: await subscriptionTo(w), state: 1, consent_id: null },
      suppression: null,
      now: { reason: null, variant: null },
      messages: [],
    })
    expect(await explain(w, campaign, 'bo')).toMatchObject({
      summary: 'If the campaign were sent now, the user would get no message, because the user is in an excluded list (“List of 1”).',
      now: { reason: 'excluded' },
    })
    expect(await explain(w, campaign, 'di')).toMatchObject({
      summary: 'The user is not in the audience, because the user is in none of its lists: “List of 3”.',
      in_audience: false,
    })
    await schedule(w, campaign)
    await w.drain()
    const ana = await explain(w, campaign, 'ana')
    expect(ana.summary).toBe(`The message was given to \`sandbox\` at ${w.clock.now().toISOString()} and was delivered.`)
    expect(ana.messages).toMatchObject([{ state: 'delivered', cause: `campaign:${campaign.id}`, attempts: 1 }])
    expect((await explain(w, campaign, 'cy')).summary).toBe('The user got no message, because the user has no address for this channel.')
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['di'] })
    expect((await explain(w, campaign, 'di')).summary).toMatch(/^The user is in a list of the campaign now, but was not when/)
  })

  test('says that a blast was stopped before its audience was loaded up to the user', async () => {
    await using w = await world()
    await w.users('aa')
    const list = await listOf(w, 'ana', 'bo', 'cy')
    const campaign = await blastTo(w, [list])
    await schedule(w, campaign)
    await run(w, 'campaigns.launch')
    await loadChunk(w.ctx, campaign.id, 2)
    const later = new Date(w.clock.now().getTime() + 86_400_000).toISOString()
    await write(w, campaign, { send_at: later })
    expect((await explain(w, campaign, 'cy')).summary).toBe('If the campaign were sent now, the user would get it.')
    await write(w, campaign, { state: 'aborted' })
    await w.drain()
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['aa'] })
    expect((await explain(w, campaign, 'aa')).summary).toMatch(/^The user is in a list of the campaign now, but was not when/)
    expect((await explain(w, campaign, 'bo')).summary).toBe('The message was not sent, because the campaign was stopped.')
    expect((await explain(w, campaign, 'cy')).summary).toBe(
      'The user got no message, because the campaign was stopped before its audience was loaded up to the user.',
    )
  })

  test('tells the message that a user got before another one was merged into it', async () => {
    await using w = await world()
    const campaign = await blastBeforeMerge(w)
    const { summary, messages } = await explain(w, campaign, 'ana')
    expect(summary).toMatch(/^The message was given to `sandbox` at .* and was delivered\.$/)
    expect(messages).toMatchObject([{ reason: 'duplicate_address' }, { state: 'delivered' }])
    const { body } = await w.get(`${pathOf(campaign)}/recipients`)
    expect(body.results.map(({ user, state }: any) => [user.external_id, state])).toEqual([
      ['ana', 'delivered'],
      ['ana', 'skipped'],
    ])
  })

  test('names the consent entry that it is based on', async () => {
    await using w = await world()
    const { campaign } = await halfSent(w)
    const subscription_id = await subscriptionTo(w)
    await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state: 0 }])
    expect(await explain(w, campaign, 'ana')).toMatchObject({
      summary: expect.stringContaining('because the user is not subscribed'),
      consent: { state: 0, consent_id: expect.any(Number) },
    })
  })

  test('is not available to other projects', async () => {
    await using w = await world()
    const { campaign } = await halfSent(w)
    const path = `${pathOf(campaign)}/recipients`
    expect((await w.get(`${path}/nobody/explain`)).status).toBe(404)
    expect((await w.get(`${path}/ana/explain`, { key: (await w.other()).keys.secret })).status).toBe(404)
  })
})

describe('a trigger campaign', () => {
  async function running(w: World, more: object = {}) {
    const body = { type: 'trigger', name: 'Code', subscription_id: await subscriptionTo(w), event_name: 'bought', ...more }
    const { body: made, ...reply } = await w.post(CAMPAIGNS, body)
    expect(reply.status, reply.text).toBe(201)
    await w.put(`${pathOf(made)}/templates/en`, { from: 'x@example.com', subject: 'Code {{ event.data.code }}', html: '<p>Hello</p>' })
    await write(w, made, { state: 'running' })
    return made as { id: number }
  }
  const sandboxMessages = async (w: World): Promise<[string, string][]> =>
    (await w.get('/api/client/sandbox/messages?direction=asc')).body.results.map((row: any) => [row.recipient, row.summary])

  test('is sent on request, once for each user and key', async () => {
    await using w = await world()
    await w.users('ana')
    const campaign = await running(w)
    const path = `${pathOf(campaign)}/trigger`
    const first = await w.post(path, { external_id: 'ana', data: { code: 7 }, key: 'login-1' }, { key: w.keys.publisher })
    expect(first).toMatchObject({ status: 202, body: { message_id: expect.any(Number) } })
    expect((await w.post(path, { external_id: 'ana', data: { code: 8 }, key: 'login-1' })).body).toEqual(first.body)
    const second = await w.post(path, { external_id: 'ana', data: { code: 9 } })
    expect(second.body.message_id).not.toBe(first.body.message_id)
    await w.drain()
    expect(await sandboxMessages(w)).toEqual([
      ['ana@example.com', 'Code 7'],
      ['ana@example.com', 'Code 9'],
    ])
    const { summary, in_audience } = await explain(w, campaign, 'ana')
    expect(summary).toMatch(/This is the newest of 2 messages of this campaign to the user\.$/)
    expect(in_audience).toBeNull()
  })

  test('is decided as of the instant of its event, when that is dated ahead', async () => {
    await using w = await world()
    await w.users('ana')
    await running(w, { event_rule: { user: { event: 'bought', at_least: 2, within: '1h' } } })
    const bought = (minutesAhead: number) => ({
      external_id: 'ana',
      name: 'bought',
      data: { code: minutesAhead },
      created_at: new Date(w.clock.now().getTime() + minutesAhead * 60_000).toISOString(),
    })
    await w.post('/api/client/events', [bought(-1)])
    await w.drain()
    await w.post('/api/client/events', [bought(3)])
    await w.drain()
    expect(await sandboxMessages(w)).toEqual([['ana@example.com', 'Code 3']])
  })

  test.each([
    [{}, 'external_id', 400],
    [{ external_id: 'ana', anonymous_id: 'x' }, 'anonymous_id', 422],
    [{ external_id: 'nobody' }, 'external_id', 422],
    [{ anonymous_id: 'nobody' }, 'anonymous_id', 422],
    [{ external_id: 'ana', key: ' ' }, 'key', 400],
    [{ external_id: 'ana', to: 'x' }, 'to', 400],
  ])('is not sent for %j', async (body, param, status) => {
    await using w = await world()
    await w.users('ana')
    expect(await w.post(`${pathOf(await running(w))}/trigger`, body)).toMatchObject({ status, body: { error: { param } } })
  })

  test('is sent on request only while it is running, and a blast never is', async () => {
    await using w = await world()
    await w.users('ana')
    const campaign = await running(w)
    await write(w, campaign, { state: 'finished' })
    const refused = await w.post(`${pathOf(campaign)}/trigger`, { external_id: 'ana' })
    expect(refused).toMatchObject({ status: 422, body: { error: { param: 'state' } } })
    const blast = await blastTo(w, [await listOf(w)])
    expect(await w.post(`${pathOf(blast)}/trigger`, { external_id: 'ana' })).toMatchObject({
      status: 422,
      body: { error: { param: 'type' } },
    })
  })

  test('is sent on the events and to the users that its rule matches', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [
      { external_id: 'ana', email: 'ana@example.com', data: { plan: 'pro' } },
      { external_id: 'bo', email: 'bo@example.com', data: { plan: 'free' } },
    ])
    await running(w, { event_rule: { where: [{ attribute: 'data.code', greater_than: 5 }], user: { attribute: 'data.plan', is: 'pro' } } })
    const event = (external_id: string, code: number, more: object = {}) => ({ external_id, name: 'bought', data: { code }, ...more })
    await w.post('/api/client/events', [event('ana', 5), event('ana', 6), event('bo', 7)])
    await w.drain()
    expect(await sandboxMessages(w)).toEqual([['ana@example.com', 'Code 6']])
    // The event itself may make the user match.
    await w.post('/api/client/events', [event('bo', 8, { user: { data: { plan: 'pro' } } })])
    await w.drain()
    expect((await sandboxMessages(w)).at(-1)).toEqual(['bo@example.com', 'Code 8'])
  })

  test('that is paused sends its waiting messages when it is resumed', async () => {
    await using w = await world()
    await w.users('ana', 'bo')
    const campaign = await running(w)
    await w.post(`${pathOf(campaign)}/pause`)
    for (const external_id of ['ana', 'bo']) await w.post('/api/client/events', [{ external_id, name: 'bought', data: { code: 1 } }])
    await w.drain()
    expect(await sandboxMessages(w)).toEqual([])
    await w.post(`${pathOf(campaign)}/resume`)
    w.advance('1 minute')
    await w.drain()
    expect(await sandboxMessages(w)).toHaveLength(2)
  })

  test('skips messages that expired during a pause', async () => {
    await using w = await world()
    await w.users('ana')
    const campaign = await running(w, { expires_after_hours: 1 })
    await w.post(`${pathOf(campaign)}/pause`)
    await w.post(`${pathOf(campaign)}/trigger`, { external_id: 'ana' })
    await run(w, 'campaigns.pending-actions', 2)
    w.advance('2 hours')
    await w.post(`${pathOf(campaign)}/resume`)
    await w.drain()
    expect((await explain(w, campaign, 'ana')).messages).toMatchObject([{ state: 'skipped', reason: 'deadline_passed' }])
  })
})

describe('the explanation in words', () => {
  const at = new Date('2026-11-23T09:00:00.000Z')
  const blast: Facts = {
    campaign: { type: 'blast', state: 'running', variants: [], paused_at: null, paused_reason: null, started_at: at, created_at: at },
    lists: [{ name: 'All', is_member: true }],
    exclusions: [{ name: 'VIP', is_member: true }],
    suppression: null,
    reason: null,
    variant: null,
    messages: [],
    removedBefore: null,
    isReached: true,
  }
  const later = new Date('2026-11-24T09:00:00.000Z')
  const message = (
    state: Facts['messages'][number]['state'],
    reason: Reason | null = null,
    detail: string | null = null,
  ): Partial<Facts> => ({
    messages: [{ state, reason, detail, provider: 'ses', due_at: at, settled_at: at, opened_at: null, clicked_at: null }],
  })
  const two = [
    { name: 'A', weight: 1 },
    { name: 'B', weight: 1 },
  ]
  const when = (state: Facts['campaign']['state'], more: Partial<Facts['campaign']> = {}) => ({
    campaign: { ...blast.campaign, state, ...more },
  })

  test.each<[Partial<Facts>, string]>([
    [message('queued'), 'The message is due at 2026-11-23T09:00:00.000Z.'],
    [
      { ...message('queued'), ...when('running', { paused_at: at }) },
      'The message is due at 2026-11-23T09:00:00.000Z, and the campaign is paused.',
    ],
    [
      { ...message('deferred'), ...when('running', { paused_at: at, paused_reason: 'render_budget' }) },
      'The message waits until 2026-11-23T09:00:00.000Z, and the campaign is paused, because its templates exceeded their limits for several users.',
    ],
    [message('claimed'), 'The message is being sent right now.'],
    [message('deferred', 'quiet_hours'), 'The message waits until 2026-11-23T09:00:00.000Z, because it is the user’s quiet hours.'],
    [message('sent'), 'The message was given to `ses` at 2026-11-23T09:00:00.000Z.'],
    [
      message('failed', 'provider_rejected', 'No such key'),
      'The message failed at 2026-11-23T09:00:00.000Z, because the provider rejected it: No such key',
    ],
    [message('bounced', 'hard_bounce'), 'The message bounced, because the address no longer exists.'],
    [message('complained', 'complaint'), 'The message was sent and led to a complaint, because the user reported it as spam.'],
    [message('skipped', 'excluded'), 'The user got no message, because the user is in an excluded list (“VIP”).'],
    [
      { ...message('skipped', 'suppressed'), suppression: 'hard_bounce' },
      'The user got no message, because the address is suppressed (`hard_bounce`).',
    ],
    [message('aborted', 'campaign_stopped'), 'The message was not sent, because the campaign was stopped.'],
    [message('aborted', 'journey_left'), 'The message was not sent, because the user left the journey first.'],
    [message('aborted', 'cancelled'), 'The message was not sent, because the email was cancelled while it waited for delivery.'],
    [
      message('unknown', 'sender_lost'),
      'It is unknown whether the message was sent, because the server stopped while it was giving the message to the provider.',
    ],
    [
      { ...when('draft'), reason: 'not_confirmed' },
      'If the campaign were sent now, the user would get no message, because the user has not confirmed the subscription.',
    ],
    [{ ...when('scheduled', { variants: two }), variant: 1 }, 'If the campaign were sent now, the user would get the variant `B`.'],
    [when('scheduled', { variants: two }), 'If the campaign were sent now, the user would get the winning variant once it is chosen.'],
    [when('loading'), 'The audience is loading and has not reached the user yet. When it does, the user would get it.'],
    [when('aborted', { started_at: null }), 'The user got no message, because the campaign was stopped before it started.'],
    [
      { ...when('aborted'), isReached: false },
      'The user got no message, because the campaign was stopped before its audience was loaded up to the user.',
    ],
    [when('aborted'), 'The user is in a list of the campaign now, but was not when the audience was loaded at 2026-11-23T09:00:00.000Z.'],
    [when('aborting'), 'If the campaign were sent now, the user would get it.'],
    [{ lists: [] }, 'The user is not in the audience, because the campaign has no lists.'],
    [when('running', { type: 'trigger' }), 'The user got no message from this campaign. If it were sent now, the user would get it.'],
    [
      { ...when('running', { type: 'trigger' }), removedBefore: later },
      'Messages that reached a final state before 2026-11-24T09:00:00.000Z have been deleted, so it is no longer known whether the user got one. If it were sent now, the user would get it.',
    ],
    [
      { ...when('finished'), removedBefore: later },
      'The campaign was sent at 2026-11-23T09:00:00.000Z. Messages that reached a final state before 2026-11-24T09:00:00.000Z have been deleted, so it is no longer known whether the user got one.',
    ],
    [
      { ...when('finished'), removedBefore: at },
      'The user is in a list of the campaign now, but was not when the audience was loaded at 2026-11-23T09:00:00.000Z.',
    ],
  ])('of %j is: %s', (more, sentence) => expect(explainInWords({ ...blast, ...more })).toBe(sentence))
})

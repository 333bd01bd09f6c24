/** What the console shows across modules (D-CON-24 to D-CON-28). */
import { describe, expect, test } from 'vitest'
import { blastTo, listOf, schedule, subscriptionTo } from '../../../test/blasts.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { type Known, problemsOf } from './problems.ts'

const overview = async (w: World) => (await w.get('/api/client/overview', { key: w.keys.support })).body

describe('GET /overview', () => {
  test('has the sends of the last seven days beside those before, by channel', async () => {
    await using w = await world()
    await schedule(w, await blastTo(w, [await listOf(w, 'ana')]))
    await w.drain()
    w.advance('7 days')
    await schedule(w, await blastTo(w, [await listOf(w, 'ana', 'bo')]))
    await w.drain()
    expect(await overview(w)).toMatchObject({
      problems: [],
      sending: [],
      processing: { waiting_since: null, parked: 0 },
      channels: [{ channel: 'email', last_7_days: { delivered: 2, bounced: 0 }, previous_7_days: { delivered: 1 } }],
    })
  })

  test('counts no events that apps send under the names of system events', async () => {
    await using w = await world()
    await w.post('/api/client/events', [{ name: 'email_bounced', anonymous_id: 'x' }], { key: w.keys.public })
    await w.drain()
    expect((await overview(w)).channels).toEqual([])
  })

  test('counts a message that the provider refused in its reply as sent and bounced', async () => {
    await using w = await world()
    const list = await listOf(w, 'ana')
    await w.post('/api/client/users/batch', [{ external_id: 'bo', email: 'bounce@simulator.carillon.example' }])
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['bo'] })
    await schedule(w, await blastTo(w, [list]))
    await w.drain()
    expect((await overview(w)).channels).toMatchObject([{ last_7_days: { sent: 2, delivered: 1, bounced: 1, failed: 0 } }])
  })

  test('has paused campaigns as problems, and is at most five seconds old', async () => {
    await using w = await world()
    expect((await overview(w)).problems).toEqual([])
    const { id } = await blastTo(w, [await listOf(w, 'ana')])
    await w.patch(`/api/client/campaigns/${id}`, { state: 'scheduled', send_at: '2027-01-01' })
    await w.post(`/api/client/campaigns/${id}/pause`)
    await w.post('/api/client/mail-queue/pause', {})
    w.advance('6 seconds')
    const { problems, sending } = await overview(w)
    expect(problems).toMatchObject([{ kind: 'mail_paused' }, { kind: 'campaign_paused', object: { type: 'campaign', id: String(id) } }])
    expect(sending).toMatchObject([{ campaign_id: id, state: 'scheduled', is_paused: true }])
  })
})

test('a pause of the email of a campaign is a problem until the campaign is aborted or archived', async () => {
  await using w = await world()
  const ids: number[] = []
  for (const name of ['ana', 'bo']) {
    const { id } = await blastTo(w, [await listOf(w, name)])
    ids.push(id)
    await w.patch(`/api/client/campaigns/${id}`, { state: 'scheduled', send_at: '2027-01-01' })
    await w.post('/api/client/mail-queue/pause', { campaign_id: id })
  }
  const problems = async () => {
    w.advance('6 seconds')
    return (await overview(w)).problems.map(({ message }: { message: string }) => message)
  }
  expect(await problems()).toEqual([expect.stringContaining(`\`${ids[0]}\`, \`${ids[1]}\``)])
  await w.patch(`/api/client/campaigns/${ids[0]}`, { state: 'aborted' })
  expect(await problems()).toEqual([expect.stringContaining(`the campaign \`${ids[1]}\``)])
  await w.delete(`/api/client/campaigns/${ids[1]}`)
  expect(await problems()).toEqual([])
})

test('a disabled endpoint and a paused campaign are problems however many others there are', async () => {
  await using w = await world()
  const endpoint = { name: 'Log', url: 'https://hooks.example.com', event_types: ['delivery.completed'] }
  const disabled = (await w.post('/api/client/webhooks', endpoint)).body.id
  await w.db.run(sql`insert into webhook_endpoints (project_id, name, url, status, event_types, api_version, created_at, updated_at)
                     select project_id, name, url, status, event_types, api_version, created_at, updated_at
                     from webhook_endpoints, generate_series(1, 101) where project_id = ${w.projectId}`)
  await w.db.run(sql`update webhook_endpoints set status = 'disabled' where project_id = ${w.projectId} and id = ${disabled}`)
  const list = await listOf(w, 'ana')
  const paused = await blastTo(w, [list])
  await w.patch(`/api/client/campaigns/${paused.id}`, { state: 'scheduled', send_at: '2027-01-01' })
  await w.post(`/api/client/campaigns/${paused.id}/pause`)
  w.advance('1 minute')
  const running = (await blastTo(w, [list])).id
  await w.db.run(sql`insert into campaigns overriding system value
                     select (jsonb_populate_record(c, jsonb_build_object('id', nextval(pg_get_serial_sequence('campaigns', 'id')), 'slug', null,
                                                                         'state', 'running', 'updated_at', ${w.clock.now()}::timestamptz))).*
                     from campaigns c, generate_series(1, 20) where c.project_id = ${w.projectId} and c.id = ${running}`)
  expect((await overview(w)).problems).toMatchObject([
    { kind: 'campaign_paused', object: { type: 'campaign', id: String(paused.id) } },
    { kind: 'webhook_disabled', object: { type: 'webhook', id: String(disabled) } },
  ])
})

const NOTHING: Known = {
  processing: { waiting_since: null, parked: 0 },
  channels: [],
  campaigns: [],
  endpoints: [],
  domains: [],
  pauses: [],
  now: new Date('2026-12-01T00:00:00Z'),
}
const counts = { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 0, failed: 0 }
const email = (of: Partial<typeof counts>) => [{ channel: 'email' as const, last_7_days: { ...counts, ...of }, previous_7_days: counts }]

test.each<[string, Partial<Known>, string[]]>([
  ['nothing', {}, []],
  ['a bounce rate over 5 %', { channels: email({ sent: 1000, bounced: 51 }) }, ['bounces_high']],
  ['a bounce rate of 5 %', { channels: email({ sent: 1000, bounced: 50 }) }, []],
  ['few messages', { channels: email({ sent: 99, bounced: 99 }) }, []],
  ['a failure rate over 10 %', { channels: email({ sent: 100, failed: 20 }) }, ['failures_high']],
  ['requests that wait for a minute', { processing: { waiting_since: new Date('2026-11-30T23:58:59Z'), parked: 0 } }, ['processing_late']],
  ['requests that wait for a second', { processing: { waiting_since: new Date('2026-11-30T23:59:59Z'), parked: 0 } }, []],
  ['parked items', { processing: { waiting_since: null, parked: 2 } }, ['items_parked']],
  ['a disabled endpoint', { endpoints: [{ id: 5, name: 'Log', status: 'disabled' } as Known['endpoints'][number]] }, ['webhook_disabled']],
  [
    'a domain',
    { domains: [{ id: 2, host: 'a.example', problem: 'No CNAME.', sending: null } as Known['domains'][number]] },
    ['domain_problem'],
  ],
])('the problems of %s', (_, known, expected) => {
  expect(problemsOf({ ...NOTHING, ...known }).map(({ kind }) => kind)).toEqual(expected)
})

test.each<[Known['pauses'], string[]]>([
  [
    [
      { scope: 'project', value: '' },
      { scope: 'site', value: 'gmail.com' },
    ],
    ['Email delivery is paused.'],
  ],
  [[{ scope: 'site', value: 'gmail.com' }], ['Email delivery to the site `gmail.com` is paused.']],
  [
    [...['a', 'b', 'c', 'd'].map((value) => ({ scope: 'site' as const, value })), { scope: 'campaign', value: '7' }],
    ['Email delivery to the sites `a`, `b`, `c` and 1 other is paused.', 'Email delivery for the campaign `7` is paused.'],
  ],
])('pauses of email %j are problems', (pauses, expected) => {
  const problems = problemsOf({ ...NOTHING, pauses })
  expect(problems.map(({ kind }) => kind)).toEqual(expected.map(() => 'mail_paused'))
  expect(problems.map(({ message }) => message)).toEqual(expected.map((text) => `${text} Resume it when you are ready.`))
})

test('GET /search finds users and objects by a part of the name, of this project only', async () => {
  await using w = await world()
  const other = await w.other()
  await w.users('spring')
  await w.post('/api/client/lists', { name: 'Spring buyers', type: 'static' })
  await w.post('/api/client/lists', { name: 'Spring theirs', type: 'static' }, { key: other.keys.secret })
  await w.post('/api/client/journeys', { name: 'Welcome in spring' })
  await w.post('/api/client/campaigns', { type: 'blast', name: 'SPRING sale', subscription_id: await subscriptionTo(w) })
  await w.post('/api/client/campaigns', { type: 'blast', name: 'Winter', subscription_id: await subscriptionTo(w) })
  const { results } = (await w.get('/api/client/search?q=spring')).body
  expect(results).toMatchObject([
    { type: 'user', id: 'spring', detail: expect.stringContaining('@') },
    { type: 'campaign', name: 'SPRING sale', detail: 'draft' },
    { type: 'journey', name: 'Welcome in spring' },
    { type: 'list', name: 'Spring buyers', detail: 'static' },
  ])
  expect(results).toHaveLength(4)
  expect((await w.get('/api/client/search')).status).toBe(400)
})

test('GET /users/{id}/reachability has the first reason of each channel', async () => {
  await using w = await world()
  await w.post('/api/client/users/batch', [{ external_id: 'ana', email: 'ana@example.com' }])
  const read = async () => {
    const { results } = (await w.get('/api/client/users/ana/reachability')).body
    return Object.fromEntries(results.map(({ channel, reason, detail }: any) => [channel, detail ?? reason]))
  }
  expect(await read()).toMatchObject({ email: null, text: 'no_address', push: 'no_push_device' })
  const subscription_id = await subscriptionTo(w)
  await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state: 0 }])
  expect(await read()).toMatchObject({ email: 'not_subscribed' })
  await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ana@example.com' }])
  expect(await read()).toMatchObject({ email: 'manual' })
  expect((await w.get('/api/client/users/nobody/reachability')).status).toBe(404)
})

test('GET /users/{id}/reachability says that a subscription is not confirmed', async () => {
  await using w = await world()
  await w.users('ana')
  for (const { id, channel } of (await w.get('/api/client/subscriptions')).body.results)
    if (channel === 'email') await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id: id, state: 0 }])
  const { id } = (await w.post('/api/client/subscriptions', { name: 'Tips', channel: 'email', requires_confirmation: true })).body
  const reasons = []
  for (const state of [1, 2]) {
    await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id: id, state }])
    const { results } = (await w.get('/api/client/users/ana/reachability')).body
    reasons.push(results.find(({ channel }: any) => channel === 'email').reason)
  }
  expect(reasons).toEqual(['not_confirmed', null])
})

test('GET /users/{id}/reachability counts every type, also those that a suppression does not stop', async () => {
  await using w = await world()
  await w.users('ana')
  const before = (await w.get('/api/client/subscriptions')).body.results.filter(({ channel }: any) => channel === 'email').length
  for (let at = 0; at < 100; at++) await w.post('/api/client/subscriptions', { name: `News ${at}`, channel: 'email' })
  await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true })
  const read = async () => {
    const { results } = (await w.get('/api/client/users/ana/reachability')).body
    return results.find(({ channel }: any) => channel === 'email')
  }
  const subscriptions = before + 101
  expect(await read()).toMatchObject({ is_reachable: true, subscribed: subscriptions, subscriptions })
  await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ana@example.com' }])
  expect(await read()).toMatchObject({ is_reachable: false, reason: 'suppressed', detail: 'manual', subscribed: 0, subscriptions })
  await w.db.run(sql`update suppressions set stops_transactional = false where project_id = ${w.projectId}`)
  expect(await read()).toMatchObject({ is_reachable: true, reason: null, detail: null, subscribed: 1, subscriptions })
})

describe('GET /users/{id}/timeline', () => {
  const path = '/api/client/users/ana/timeline'

  test('has events, messages, subscriptions and journeys in one stream, once each over its pages', async () => {
    await using w = await world()
    await w.users('ana')
    const steps = { start: { type: 'entrance', name: '', x: 0, y: 0, data: { trigger: 'event', event_name: 'signed_up' }, children: [] } }
    const { id } = (await w.post('/api/client/journeys', { name: 'Welcome' })).body
    await w.put(`/api/client/journeys/${id}/steps`, steps)
    expect((await w.post(`/api/client/journeys/${id}/publish`, {})).status).toBe(200)
    for (const name of ['visited', 'signed_up']) {
      w.advance('1 minute')
      await w.post('/api/client/events', [{ name, external_id: 'ana' }])
      await w.drain()
    }
    w.advance('1 minute')
    await schedule(w, await blastTo(w, [await listOf(w, 'ana')]))
    await w.drain()
    w.advance('1 minute')
    await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id: await subscriptionTo(w), state: 0 }])
    await w.drain()
    const all = (await w.get(path)).body.results
    const kinds = new Map<string, string>(all.map(({ name, kind }: any) => [name, kind]))
    expect(Object.fromEntries(kinds)).toMatchObject({
      visited: 'event',
      journey_entered: 'journey',
      journey_ended: 'journey',
      email_delivered: 'message',
      unsubscribed: 'subscription',
    })
    const sources = new Map<string, string>(all.map(({ name, source }: any) => [name, source]))
    expect(Object.fromEntries(sources)).toMatchObject({ visited: 'api', journey_entered: 'system', email_delivered: 'system' })
    const times = all.map(({ created_at }: any) => Date.parse(created_at))
    expect(times).toEqual([...times].sort((a, b) => b - a))
    const read: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: any = (await w.get(`${path}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)).body
      read.push(...page.results)
      cursor = page.nextCursor
    }
    const names = (items: any[]) => items.map(({ name }) => name).sort()
    expect(names(read)).toEqual(names(all))
  })
})

test('the sandbox is filtered by recipient, subject, channel, campaign and attachments; messages by provider', async () => {
  await using w = await world()
  const send = (user: string, subject: string, attachments?: object[]) =>
    subscriptionTo(w).then((subscription_id) =>
      w.post('/api/client/messages', {
        subscription_id,
        content: {
          from: 'app@example.com',
          subject,
          html:
            subject === 'Goodbye'
              ? '<p><a href="https://example.com">Hi</a></p>'
              : '<p>Hi <img src="https://example.com/a.png" alt=""></p>',
        },
        user: { external_id: user, email: `${user}@example.com` },
        ...(attachments && { attachments }),
      }),
    )
  const { campaign_id } = (await send('ana', 'Welcome')).body
  await send('bo', 'Goodbye', [{ name: 'a.txt', content_type: 'text/plain', content: 'aGk=' }])
  await w.drain()
  const find = async (query: string) => {
    const reply = await w.get(`/api/client/sandbox/messages?${query}`)
    expect(reply.status, reply.text).toBe(200)
    return reply.body.results.map(({ summary }: any) => summary)
  }
  expect(await find('to=ANA')).toEqual(['Welcome'])
  expect(await find('subject=good')).toEqual(['Goodbye'])
  expect(await find('channel=text')).toEqual([])
  expect(await find('campaign_id=999999')).toEqual([])
  if (campaign_id !== undefined) expect(await find(`campaign_id=${campaign_id}`)).toHaveLength(2)
  expect(await find('has_attachment=true')).toEqual(['Goodbye'])
  expect(await find('has_attachment=false')).toEqual(['Welcome'])
  expect(await find('has_link=true')).toEqual(['Goodbye'])
  expect(await find('has_link=false')).toEqual(['Welcome'])
  expect((await w.get('/api/client/messages?provider=sandbox')).body.results).toHaveLength(2)
  expect((await w.get('/api/client/messages?provider=smtp')).body.results).toEqual([])
})

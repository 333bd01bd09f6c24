/** The faults that a sandbox acts out (D-SBX-3): states, webhook events and retries are those of real ones, and no address is suppressed. */
import { expect, test } from 'vitest'
import { subscriptionTo } from '../../../../test/blasts.ts'
import { sendOver } from '../../../../test/mailing.ts'
import { member } from '../../../../test/members.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'

const FAULTS = '/api/client/sandbox/fault-policy'
const NONE = { bounce_percent: 0, complaint_percent: 0, soft_fail_percent: 0, delay_seconds: 0 }

const set = async (w: World, faults: object) => {
  const reply = await w.put(FAULTS, { ...NONE, ...faults })
  expect(reply.status, reply.text).toBe(200)
}

async function send(w: World, name: string, channel: 'email' | 'webhook' = 'email') {
  const user = { external_id: name, email: `${name}@example.com` }
  const content =
    channel === 'email'
      ? { from: 'app@example.com', subject: 'Hi', html: '<p>Hi</p>' }
      : { endpoint: 'https://example.com/hook', body: '{}' }
  const sent = await w.post('/api/client/messages', { subscription_id: await subscriptionTo(w, channel as never), content, user })
  expect(sent.status, sent.text).toBe(202)
  await w.drain()
  return async () => (await w.get(`/api/client/messages/${sent.body.id}`)).body
}

test('bounces and complaints have their states and webhook events, and suppress nothing', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const event_types = ['delivery.dsn-perm-fail', 'incoming-report.abuse-report']
  await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types })
  await set(w, { bounce_percent: 100 })
  const bounced = await send(w, 'ana')
  expect(await bounced()).toMatchObject({ state: 'bounced', reason: 'hard_bounce' })
  await set(w, { complaint_percent: 100 })
  const complained = await send(w, 'bo')
  expect(await complained()).toMatchObject({ state: 'complained', reason: 'complaint' })
  expect(receiver.requests.map(({ json }) => json.type)).toEqual(event_types)
  expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
  const kept = (await w.get('/api/client/sandbox/messages')).body.results
  expect(kept.map(({ recipient }: { recipient: string }) => recipient)).toEqual(['bo@example.com'])
})

test('a soft failure is accepted at the next attempt, on every channel', async () => {
  await using w = await world()
  await set(w, { soft_fail_percent: 100 })
  const [email, webhook] = [await send(w, 'ana'), await send(w, 'ana', 'webhook')]
  for (const message of [email, webhook]) expect(await message()).toMatchObject({ state: 'deferred', attempts: 1 })
  w.advance('5 minutes')
  await w.drain()
  for (const message of [email, webhook]) expect(await message()).toMatchObject({ state: 'delivered', attempts: 2 })
})

test('other providers and other projects are not affected, nor messages once all shares are 0', async () => {
  await using relay = await openRelay()
  await using w = await world()
  const other = await w.other()
  await w.put(FAULTS, { ...NONE, bounce_percent: 100 }, { key: other.keys.secret })
  expect((await w.get(FAULTS)).body).toEqual(NONE)
  expect(await (await send(w, 'ana'))()).toMatchObject({ state: 'delivered' })
  await set(w, { bounce_percent: 100 })
  await set(w, {})
  expect(await (await send(w, 'bo'))()).toMatchObject({ state: 'delivered' })
  await set(w, { bounce_percent: 100 })
  await sendOver(w, relay)
  expect(await (await send(w, 'cy'))()).toMatchObject({ state: 'sent' })
  expect(relay.mails).toHaveLength(1)
})

test('they are set by admins, add up to 100 at most, are in the audit log, and the session says that there are some', async () => {
  await using w = await world()
  const one = await member(w, 'admin')
  const hasFaults = async () =>
    (await w.get('/api/console/session', { key: null, headers: one.headers })).body.projects.map(({ has_faults }: any) => has_faults)
  expect(await hasFaults()).toEqual([false])
  expect((await w.put(FAULTS, { ...NONE, bounce_percent: 60, complaint_percent: 41 })).body.error.param).toBe('bounce_percent')
  expect((await w.put(FAULTS, { ...NONE, delay_seconds: 11 })).status).toBe(422)
  expect((await w.put(FAULTS, NONE, { key: w.keys.publisher })).status).toBe(403)
  await set(w, { delay_seconds: 1 })
  expect(await hasFaults()).toEqual([true])
  const { results } = (await w.get('/api/client/audit?limit=1&direction=desc')).body
  expect(results[0].action).toBe('sandbox_faults.updated')
})

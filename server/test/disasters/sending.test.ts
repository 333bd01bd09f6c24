/** Failures between the server and its providers. */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { HOUR_MS } from '../../src/lib/times.ts'
import { blastTo, listOf, schedule, subscriptionTo } from '../blasts.ts'
import { openRelay, type Relay } from '../relay.ts'
import { type World, world } from '../world.ts'

const Row = Type.Object({ user: Type.String(), state: Type.String(), reason: Type.Unsafe<string | null>({}), attempts: Type.Integer() })

const messagesOf = (w: World) =>
  w.db.many(
    Row,
    sql`select u.external_id as user, m.state, m.reason, m.attempts from messages m join users u on u.id = m.user_id
        where m.project_id = ${w.projectId} order by m.id`,
  )

const statesOf = async (w: World) =>
  Object.fromEntries(
    Map.groupBy(await messagesOf(w), ({ state }) => state)
      .entries()
      .map(([state, rows]) => [state, rows.length]),
  )

const USERS = 40
const names = Array.from({ length: USERS }, (_, at) => `person-${at}`)

/** Schedules a blast to a list of forty users over an SMTP relay. */
async function blastOver(w: World, { host, port }: Pick<Relay, 'host' | 'port'>, rule?: object): Promise<number> {
  const all = await listOf(w, ...names)
  const list = rule ? (await w.post('/api/client/lists', { name: 'With an address', type: 'dynamic', rule })).body.id : all
  await w.drain()
  const settings = { host, port, tls: 'none', connections: 5 }
  expect((await w.post('/api/client/providers', { name: 'Relay', kind: 'smtp', channel: 'email', settings })).status).toBe(201)
  const campaign = await blastTo(w, [list])
  expect(await schedule(w, campaign)).toMatchObject({ state: 'scheduled' })
  return campaign.id
}

const campaignOf = async (w: World, id: number) => (await w.get(`/api/client/campaigns/${id}`)).body

const recipientsOf = ({ mails }: Relay) => mails.flatMap(({ to }) => to).sort()

const addresses = names.map((name) => `${name}@example.com`).sort()

test('a provider that is down for an hour delays all messages and loses none', async () => {
  await using w = await world()
  const down = await openRelay()
  const { host, port } = down
  await down[Symbol.asyncDispose]()
  const id = await blastOver(w, { host, port })
  for (let minutes = 0; minutes < 60; minutes += 5) {
    await w.drain()
    expect(await statesOf(w)).toEqual({ deferred: USERS })
    w.advance('5 minutes')
  }
  await using up = await openRelay()
  const [provider] = (await w.get('/api/client/providers')).body.results
  const settings = { ...provider.settings, port: up.port }
  expect((await w.patch(`/api/client/providers/${provider.id}`, { settings })).status).toBe(200)
  w.advance('6 hours')
  await w.drain()
  expect(await statesOf(w)).toEqual({ sent: USERS })
  expect(recipientsOf(up)).toEqual(addresses)
  expect(await campaignOf(w, id)).toMatchObject({ state: 'finished', delivery: { total: USERS, sent: USERS } })
})

test('a slow provider does not delay other channels', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await blastOver(w, relay)
  const subscription_id = await subscriptionTo(w, 'in_app')
  const quick = (await w.post('/api/client/campaigns', { type: 'trigger', name: 'Quick', subscription_id, event_name: 'order' })).body
  await w.put(`/api/client/campaigns/${quick.id}/templates/en`, { title: 'Thanks', body: 'Thanks' })
  await w.patch(`/api/client/campaigns/${quick.id}`, { state: 'running' })
  const held = relay.hold()
  const slow = w.drain()
  await held.reached()
  await w.post('/api/client/events', [{ name: 'order', external_id: 'person-1' }])
  await w.drain('ingest.apply', 'messages.send')
  expect((await w.get('/api/client/users/person-1/messages')).body.results).toMatchObject([{ title: 'Thanks' }])
  held.release()
  await slow
  await w.drain()
  expect(recipientsOf(relay)).toEqual(addresses)
})

test('several workers share a blast and send no message twice', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const id = await blastOver(w, relay)
  await Promise.all([w.drain(), w.drain(), w.drain()])
  await w.drain()
  expect(recipientsOf(relay)).toEqual(addresses)
  expect(await campaignOf(w, id)).toMatchObject({ state: 'finished', delivery: { total: USERS, sent: USERS } })
})

describe('an aborted blast', () => {
  test('sends no more than the messages in flight, and reports their number', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const id = await blastOver(w, relay)
    const held = relay.hold()
    const sending = w.drain()
    await held.reached()
    const aborted = (await w.patch(`/api/client/campaigns/${id}`, { state: 'aborted' })).body
    expect(aborted.state).toBe('aborted')
    held.release()
    await sending
    await w.drain()
    const states = await statesOf(w)
    expect(relay.mails.length).toBeLessThanOrEqual(aborted.in_flight)
    expect(states.sent ?? 0).toBe(relay.mails.length)
    expect((states.sent ?? 0) + (states.aborted ?? 0)).toBe(USERS)
    expect(await campaignOf(w, id)).toMatchObject({ state: 'aborted', delivery: { total: USERS, sent: relay.mails.length } })
  })

  test('sends nothing if no attempt was started', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const id = await blastOver(w, relay)
    await w.drain('campaigns.launch', 'campaigns.load')
    const aborted = (await w.patch(`/api/client/campaigns/${id}`, { state: 'aborted' })).body
    expect(aborted.in_flight ?? 0).toBe(0)
    await w.drain()
    expect(relay.mails).toEqual([])
    expect(await statesOf(w)).toEqual({ aborted: USERS })
  })
})

test('a list that is rebuilt while its blast is sent leads to no missing and no duplicate messages', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const rule = { attribute: 'email', is_set: true }
  const id = await blastOver(w, relay, rule)
  const [list] = (await w.get('/api/client/lists?q=With')).body.results
  await w.drain('campaigns.launch')
  await w.patch(`/api/client/lists/${list.id}`, { rule: { any: [rule, { attribute: 'data.never', is_set: true }] } })
  await w.drain()
  expect(recipientsOf(relay)).toEqual(addresses)
  expect(await campaignOf(w, id)).toMatchObject({ state: 'finished', delivery: { total: USERS, sent: USERS } })
})

test('if the clock jumps forwards or back, each user gets exactly one message', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const id = await blastOver(w, relay)
  const before = w.clock.now()
  await w.drain('campaigns.launch', 'campaigns.load')
  w.advance('2 hours')
  await w.drain('messages.send-bulk')
  w.clock.set(new Date(before.getTime() - HOUR_MS))
  await w.drain()
  w.clock.set(new Date(before.getTime() + HOUR_MS))
  await w.drain()
  expect(recipientsOf(relay)).toEqual(addresses)
  expect(await campaignOf(w, id)).toMatchObject({ state: 'finished' })
})

test('if a connection breaks after the last byte of an email, that message is unknown and the others are sent', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await blastOver(w, relay)
  relay.answer({ at: 'BODY', cut: true })
  await w.drain()
  const rows = await messagesOf(w)
  const unknown = rows.filter(({ state }) => state === 'unknown')
  expect(unknown).toMatchObject([{ reason: 'uncertain' }])
  expect(relay.mails).toHaveLength(USERS - 1)
  expect(rows.filter(({ state }) => state === 'sent')).toHaveLength(USERS - 1)
})

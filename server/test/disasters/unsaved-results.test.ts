/**
 * Results of what left the server that cannot be saved: for a while, because the database is away, or at all. What left is counted at mail hosts, a
 * relay and receivers.
 */
import { describe, expect, test } from 'vitest'
import { blastTo, listOf, outcomes, schedule } from '../blasts.ts'
import { AWAY, failSaves, whileTimePasses } from '../failing-saves.ts'
import { createJourney, READY } from '../journeys.ts'
import { mailWorld } from '../mail-queue.ts'
import { recipientsOf, sendOver } from '../mailing.ts'
import { queueMail } from '../queued-mail.ts'
import type { Receiver } from '../receiver.ts'
import { openRelay } from '../relay.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

const NAMES = ['ana', 'bo', 'cy']
const TRIES = 3
/** Longer than any lease. */
const LEASES_END = '10 minutes'

describe('an email that this server delivered', () => {
  const DOMAIN = 'kept.example.org'
  async function open() {
    const w = await mailWorld()
    w.internet.domain(DOMAIN, `mx.${DOMAIN}`)
    const addresses = [await w.mailTo(DOMAIN), await w.mailTo(DOMAIN), await w.mailTo(DOMAIN)]
    const accepted = () => (w.internet.mx.hosts.get(`mx.${DOMAIN}`)?.mails ?? []).flatMap(({ to }) => to)
    const states = async () =>
      (await select(w, 'select address, state from mail_recipients where project_id = $1 order by mail_id', [w.projectId])).map(
        ({ address, state }) => `${address}: ${state}`,
      )
    return { w, addresses, accepted, states }
  }
  const DELIVERED = "new.state = 'delivered'"

  test('is saved when the database is back, and not delivered again', async () => {
    const { w, addresses, accepted, states } = await open()
    await using _ = w
    await using __ = await failSaves(w, { table: 'mail_recipients', when: DELIVERED, code: AWAY, times: TRIES })
    await whileTimePasses(w.clock, w.drain())
    w.advance(LEASES_END)
    await w.drain()
    expect(accepted().toSorted()).toEqual(addresses.toSorted())
    expect(await states()).toEqual(addresses.map((address) => `${address}: delivered`))
    expect((await w.events()).filter(({ type }) => type === 'delivery.delivered')).toHaveLength(addresses.length)
  })

  test('whose result cannot be saved ends as uncertain, is not delivered again, and takes no other with it', async () => {
    const { w, addresses, accepted, states } = await open()
    await using _ = w
    await using __ = await failSaves(w, { table: 'mail_recipients', when: `new.address = '${addresses[1]}' and ${DELIVERED}` })
    await w.drain()
    w.advance(LEASES_END)
    await w.drain()
    expect(await states()).toEqual(addresses.map((address, at) => `${address}: ${at === 1 ? 'failed' : 'delivered'}`))
    expect(accepted().toSorted()).toEqual(addresses.toSorted())
    const [message] = await select(w, `select id, reason, state from messages where project_id = $1 and recipient = '${addresses[1]}'`, [
      w.projectId,
    ])
    expect(message).toMatchObject({ state: 'unknown', reason: 'uncertain' })
    const found = await w.get(`/api/client/messages/${message?.id}`)
    expect(found.body.deliveries).toMatchObject([{ state: 'failed', attempts: [{ outcome: 'uncertain' }] }])
    const types = (await w.events(addresses[1])).map(({ type }) => type)
    expect(types).toEqual(['delivery.attempt-start', 'delivery.failed', 'delivery.completed', 'delivery.attempt-end'])
  })

  test('to several recipients whose rows can never be saved is delivered once to each by a process', async () => {
    const { w, accepted, states } = await open()
    await using _ = w
    await w.drain()
    const before = accepted().length
    const to = NAMES.map((name) => `${name}@${DOMAIN}`)
    await queueMail(w, { to })
    {
      await using __ = await failSaves(w, { table: 'mail_recipients', when: `new.state not in ('queued', 'claimed')` })
      for (let lease = 0; lease < 3; lease++) {
        await expect(w.drain()).rejects.toThrow('It fails.')
        w.advance(LEASES_END)
      }
    }
    await w.drain()
    expect(accepted().slice(before).toSorted()).toEqual(to)
    expect((await states()).filter((state) => state.endsWith('failed'))).toHaveLength(to.length)
  })

  test.each([0, 1, 2])('to three recipients of whom number %i cannot be saved has each step of its connection once', async (no) => {
    await using w = await mailWorld()
    w.internet.host(`mx.${DOMAIN}`, { tls: 'none' })
    w.internet.domain(DOMAIN, `mx.${DOMAIN}`)
    const to = NAMES.map((name) => `${name}@${DOMAIN}`)
    await queueMail(w, { to })
    await using _ = await failSaves(w, { table: 'mail_recipients', when: `new.address = '${to[no]}' and ${DELIVERED}` })
    const events = await w.events()
    const recipientsIn = (type: string) => events.flatMap((one) => (one.type === `delivery.${type}` ? [one.data.to] : [])).toSorted()
    const saved = to.toSpliced(no, 1)
    expect(recipientsIn('start-tls-unavailable')).toEqual([saved[0]])
    expect(recipientsIn('attempt-start')).toEqual(to)
    expect(recipientsIn('delivered')).toEqual(saved)
    expect(recipientsIn('failed')).toEqual([to[no]])
  })

  test('whose row can never be saved is delivered once by a process', async () => {
    const { w, addresses, accepted, states } = await open()
    await using _ = w
    const finished = `new.address = '${addresses[1]}' and new.state not in ('queued', 'claimed')`
    {
      await using __ = await failSaves(w, { table: 'mail_recipients', when: finished })
      for (let lease = 0; lease < 2; lease++) {
        await expect(w.drain()).rejects.toThrow('It fails.')
        w.advance(LEASES_END)
      }
    }
    await w.drain()
    expect(accepted().toSorted()).toEqual(addresses.toSorted())
    expect(await states()).toEqual(addresses.map((address, at) => `${address}: ${at === 1 ? 'failed' : 'delivered'}`))
  })
})

describe('a message that a relay accepted', () => {
  async function open() {
    const w = await world()
    const relay = await openRelay()
    await sendOver(w, relay)
    await w.users(...NAMES)
    const campaign = await blastTo(w, [await listOf(w, ...NAMES)])
    await schedule(w, campaign)
    return { w, relay, campaign }
  }
  const SENT = "new.state = 'sent'"
  const ADDRESSES = NAMES.map((name) => `${name}@example.com`)

  test('is saved when the database is back', async () => {
    const { w, relay, campaign } = await open()
    await using _ = relay
    await using __ = w
    await using ___ = await failSaves(w, { table: 'messages', when: SENT, code: AWAY, times: TRIES })
    await whileTimePasses(w.clock, w.drain())
    expect(await outcomes(w, campaign)).toEqual(NAMES.map((name) => `${name}: sent`))
    expect(recipientsOf(relay)).toEqual(ADDRESSES)
  })

  test('is saved although the result of another one cannot be, which becomes unknown', async () => {
    const { w, relay, campaign } = await open()
    await using _ = relay
    await using __ = w
    {
      await using ___ = await failSaves(w, { table: 'messages', when: `new.recipient = 'bo@example.com' and ${SENT}` })
      await expect(w.drain()).rejects.toThrow('It fails.')
      expect(await outcomes(w, campaign)).toEqual(['ana: sent', 'bo: claimed', 'cy: sent'])
    }
    w.advance(LEASES_END)
    await w.drain()
    expect(await outcomes(w, campaign)).toEqual(['ana: sent', 'bo: unknown sender_lost', 'cy: sent'])
    expect(recipientsOf(relay)).toEqual(ADDRESSES)
  })
})

describe('a webhook delivery', () => {
  async function open() {
    const w = await world()
    const endpoints: { id: number; receiver: Receiver }[] = []
    for (const name of NAMES) {
      const receiver = await w.receiver()
      const { body } = await w.post('/api/client/webhooks', { name, url: receiver.url, event_types: ['delivery.null-mx'] })
      await w.post(`/api/client/webhooks/${body.id}/test`)
      endpoints.push({ id: body.id, receiver })
    }
    const requests = () => endpoints.map(({ receiver }) => receiver.requests.length)
    return { w, endpoints, requests }
  }
  const RECORDED = 'new.attempts > old.attempts'
  /** They are in the time of the database. */
  const endLeases = (w: World) =>
    select(w, `update webhook_deliveries set lease_until = now() - interval '1 second' where project_id = $1 returning id`, [w.projectId])

  test('is recorded when the database is back', async () => {
    const { w, requests } = await open()
    await using _ = w
    await using __ = await failSaves(w, { table: 'webhook_deliveries', when: RECORDED, code: AWAY, times: TRIES })
    await whileTimePasses(w.clock, w.drain())
    await endLeases(w)
    await w.drain()
    expect(requests()).toEqual([1, 1, 1])
  })

  test('is recorded although another one cannot be', async () => {
    const { w, endpoints, requests } = await open()
    await using _ = w
    const statuses = async () =>
      (await select(w, 'select status from webhook_deliveries where project_id = $1 order by endpoint_id', [w.projectId])).map(
        ({ status }) => status,
      )
    {
      const when = `new.endpoint_id = ${endpoints[1]?.id} and ${RECORDED}`
      await using __ = await failSaves(w, { table: 'webhook_deliveries', when })
      await w.drain('webhooks.deliver')
      expect(await statuses()).toEqual(['succeeded', 'pending', 'succeeded'])
    }
    await endLeases(w)
    await w.drain()
    expect(requests()).toEqual([1, 2, 1])
  })
})

test('the answer to the call of a journey is saved when the database is back', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await w.users('ana')
  const children = [
    { external_id: 'w1', path: 'success' },
    { external_id: 'out', path: 'failed' },
  ]
  const call = { type: 'webhook', x: 0, y: 9, data: { url: receiver.url, body: '{}' }, children }
  const steps = { ...READY, api: { ...READY.api, children: [{ external_id: 'call' }] }, call }
  const journey = await createJourney(w, { status: 'live' }, steps)
  await journey.post('entrances', { external_id: 'ana' })
  await using _ = await failSaves(w, { table: 'journey_calls', on: 'delete', when: 'true', code: AWAY, times: TRIES })
  await whileTimePasses(w.clock, w.drain())
  expect(receiver.requests).toHaveLength(1)
  expect((await journey.get('users')).results).toMatchObject([{ step: 'w1' }])
})

/** An attempt counts only when the provider was called: else a message that waits long enough would fail without one. */
import { describe, expect, test } from 'vitest'
import { blastTo, listOf, pathOf, run, schedule } from '../../../../test/blasts.ts'
import { openFakeProvider } from '../../../../test/fake-provider.ts'
import { answerOrders, order, providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'

/** More than the attempts a message has. */
const ROUNDS = 10

type Recipient = { state: string; reason: string | null; attempts: number; settled_at: string | null }
const recipients = async (w: World, campaign: { id: number }): Promise<Recipient[]> =>
  (await w.get(`${pathOf(campaign)}/recipients?limit=100`)).body.results

const attemptsOf = async (w: World, campaign: { id: number }) => (await recipients(w, campaign)).map(({ attempts }) => attempts)

/** A blast that is planned and not sent. */
async function planned(w: World, names: string[], more: object = {}) {
  const blast = await blastTo(w, [await listOf(w, ...names)], { expires_after_hours: 720, ...more })
  await schedule(w, blast)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 2)
  return blast
}

const names = Array.from({ length: ROUNDS + 1 }, (_, at) => `u${at}`)
const addresses = names.map((name) => `${name}@example.com`).sort()

describe('a message uses up no attempts while it waits', () => {
  test.each(['provider', 'campaign'])('for the rate limit of its %s', async (whose) => {
    await using w = await world()
    await using relay = await openRelay()
    const id = await sendOver(w, relay)
    const rate = { limit: 1, interval_seconds: 60 }
    if (whose === 'provider') await w.patch(`/api/client/providers/${id}`, { rate })
    const blast = await planned(w, names, whose === 'campaign' ? { rate } : {})
    for (let round = 0; round <= ROUNDS; round++) {
      await run(w, 'messages.send-bulk')
      expect(relay.mails).toHaveLength(round + 1)
      // All other messages are due again, and the rate grants one.
      w.advance('20 minutes')
    }
    expect(recipientsOf(relay)).toEqual(addresses)
    expect(await attemptsOf(w, blast)).toEqual(names.map(() => 1))
  })

  test('for its paused campaign', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const blast = await planned(w, ['ana'])
    await w.post(`${pathOf(blast)}/pause`)
    for (let round = 0; round < ROUNDS; round++) {
      expect(await run(w, 'messages.send-bulk')).toBe(1)
      w.advance('30 seconds')
    }
    expect(await recipients(w, blast)).toMatchObject([{ state: 'deferred', attempts: 0, settled_at: null }])
    await w.post(`${pathOf(blast)}/resume`)
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test('for the end of quiet hours, night after night', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const blast = await planned(w, ['ana'])
    // It is nine in the morning in UTC, and eight in the evening in Sydney.
    await w.put('/api/client/sending-policy', { caps: [], quiet_hours: { channels: ['email'], from: '19:00', to: '08:00' } })
    for (let night = 0; night < ROUNDS; night++) {
      expect(await run(w, 'messages.send-bulk')).toBe(1)
      w.advance('24 hours')
    }
    expect(await recipients(w, blast)).toMatchObject([{ state: 'deferred', reason: 'quiet_hours', attempts: 0, settled_at: null }])
    w.advance('12 hours')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test('for a frequency cap', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await w.put('/api/client/sending-policy', { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
    const blasts = []
    for (let count = 0; count <= ROUNDS; count++) blasts.push(await planned(w, ['ana']))
    for (let day = 0; day <= ROUNDS; day++) {
      await run(w, 'messages.send-bulk')
      expect(relay.mails).toHaveLength(day + 1)
      w.advance('24 hours')
    }
    for (const blast of blasts) expect(await recipients(w, blast)).toMatchObject([{ state: 'sent', attempts: 1 }])
  })

  test('for the winning variant', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const winner = { metric: 'opens', test_percent: 1, after_minutes: 1 }
    const variants = [
      { name: 'One', weight: 1 },
      { name: 'Two', weight: 1 },
    ]
    const blast = await planned(w, names, { variants, winner })
    // One in a hundred gets a variant at once.
    await run(w, 'messages.send-bulk', 2)
    const waiting = names.length - relay.mails.length
    expect(waiting).toBeGreaterThan(0)
    w.advance('2 minutes')
    for (let round = 0; round < ROUNDS; round++) {
      expect(await run(w, 'messages.send-bulk')).toBe(waiting)
      w.advance('30 seconds')
    }
    const deferred = (await recipients(w, blast)).filter(({ reason }) => reason === 'waiting_for_winner')
    expect(deferred.map(({ state, attempts }) => [state, attempts])).toEqual(Array.from({ length: waiting }, () => ['deferred', 0]))
    await w.drain()
    w.advance('30 seconds')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(addresses)
  })
})

test('a message that ends without being given to its provider has no attempt', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const suppress = (address: string) => w.post('/api/client/suppressions', [{ channel: 'email', address, reason: 'complaint' }])
  const list = await listOf(w, 'early', 'late', 'ana', 'nameless')
  await w.post('/api/client/users/batch', [{ external_id: 'ana', data: { name: 'Ana' } }])
  await suppress('early@example.com')
  const blast = await blastTo(w, [list])
  const content = { from: 'Shop <shop@example.com>', subject: 'Hi', html: '<p>{{ user.data.name }}</p>', required: ['user.data.name'] }
  await w.put(`${pathOf(blast)}/templates/en`, content)
  await schedule(w, blast)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 2)
  await suppress('late@example.com')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  const ended = (await recipients(w, blast)).map(({ state, reason, attempts }) => `${state} ${reason}: ${attempts}`)
  expect(ended.sort()).toEqual(['failed render_failed: 0', 'sent null: 1', 'skipped suppressed: 0', 'skipped suppressed: 0'])
})

test.each([
  [null, 8],
  [{ after_minutes: [300], for_hours: 50 }, 11],
])('a message that its provider defers fails, with the retries %j, after %i attempts', async (mail_retries, attempts) => {
  await using w = await world()
  await using provider = await openFakeProvider()
  w.replaceFetch({ request: provider.fetch.request })
  provider.answer(...Array.from({ length: 20 }, () => ({ status: 503 })))
  await providerOf(w, { kind: 'resend', channel: 'email', settings: { api_key: 're_secret', default_from: 'shop@example.com' } })
  await w.users('ana')
  const campaign = await answerOrders(w)
  await w.patch(pathOf(campaign), { mail_retries })
  await order(w, 'ana')
  for (let round = 0; round < 2 * ROUNDS; round++) {
    await w.drain('ingest.apply', 'messages.send')
    w.advance('6 hours')
  }
  expect(provider.requests).toHaveLength(attempts)
  expect(await recipients(w, campaign)).toMatchObject([{ state: 'failed', reason: 'attempts_exhausted', attempts }])
})

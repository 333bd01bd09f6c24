/** Pauses and rates, observed at a relay. */
import { describe, expect, test } from 'vitest'
import { blastTo, CAMPAIGNS, listOf, pathOf, run, schedule, write } from '../../../../test/blasts.ts'
import { sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'

const later = (w: World, minutes: number) => new Date(w.clock.now().getTime() + minutes * 60_000).toISOString()

describe('a pause', () => {
  test('of a scheduled blast holds it until it is resumed', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await blastTo(w, [await listOf(w, 'ana')], { send_at: later(w, 60) })
    await schedule(w, campaign)
    const paused = await w.post(`${pathOf(campaign)}/pause`)
    expect(paused).toMatchObject({ status: 200, body: { state: 'scheduled', is_paused: true, paused_at: w.clock.now().toISOString() } })
    w.advance('2 hours')
    await w.drain()
    expect(relay.mails).toEqual([])
    expect((await w.get(pathOf(campaign))).body).toMatchObject({ state: 'scheduled', is_paused: true })
    // A new time does not end the pause.
    await write(w, campaign, { send_at: later(w, 60) })
    w.advance('2 hours')
    await w.drain()
    expect(relay.mails).toEqual([])
    await w.post(`${pathOf(campaign)}/resume`)
    await w.drain()
    expect(relay.mails).toHaveLength(1)
    expect((await w.get(pathOf(campaign))).body).toMatchObject({ state: 'finished' })
  })

  test('is said wherever the campaign is read, and only then', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, 'ana')])
    await schedule(w, campaign)
    await run(w, 'campaigns.launch')
    await w.post(`${pathOf(campaign)}/pause`)
    const reads = async () => [
      (await w.get(pathOf(campaign))).body,
      (await w.get(CAMPAIGNS)).body.results[0],
      await write(w, campaign, { name: 'Summer' }),
    ]
    for (const read of await reads()) expect(read).toMatchObject({ state: 'loading', is_paused: true, paused_at: expect.any(String) })
    expect((await w.get(`${pathOf(campaign)}/recipients/ana/explain`)).body.summary).toContain('the campaign is paused')
    await w.post(`${pathOf(campaign)}/resume`)
    for (const read of await reads()) expect(read).not.toHaveProperty('is_paused')
    await w.drain()
    expect((await w.get(pathOf(campaign))).body).not.toHaveProperty('is_paused')
  })
})

test.each([
  ['a campaign', 1, 100],
  ['a campaign', 3, 700],
  ['a provider', 1, 100],
])('%s with a rate of 20 a second sends at most 20 in any second, by %i processes that look every %i ms', async (of, processes, step) => {
  await using w = await world()
  await using relay = await openRelay()
  const rate = { limit: 20, interval_seconds: 1 }
  const provider = await sendOver(w, relay)
  if (of === 'a provider') expect((await w.patch(`/api/client/providers/${provider}`, { rate })).status).toBe(200)
  const names = Array.from({ length: 110 }, (_, at) => `user-${at}`)
  const campaign = await blastTo(w, [await listOf(w, ...names)], of === 'a provider' ? {} : { rate })
  await schedule(w, campaign)
  const start = w.clock.now().getTime()
  const sent: number[] = []
  while (sent.length < names.length && w.clock.now().getTime() - start < 60_000) {
    const drains = Array.from({ length: processes }, () => w.drain())
    await Promise.all(drains)
    const elapsed = w.clock.now().getTime() - start
    while (sent.length < relay.mails.length) sent.push(elapsed)
    w.advance(step)
  }
  expect(sent).toHaveLength(names.length)
  const most = Math.max(...sent.map((from) => sent.filter((at) => at >= from && at < from + 1000).length))
  expect(most).toBeLessThanOrEqual(20)
  // It is a limit that is reached, too.
  expect(sent.at(-1)).toBeLessThanOrEqual(8000)
})

test.each([
  ['a campaign', 20],
  ['a provider, with messages of another campaign', 10],
])('a lowered rate of %s holds at once, for what was sent before too', async (of, first) => {
  await using w = await world()
  await using relay = await openRelay()
  const provider = await sendOver(w, relay)
  const isCampaign = of === 'a campaign'
  const setRate = async (limit: number, campaign?: { id: number }) => {
    const rate = { limit, interval_seconds: 10 }
    if (isCampaign && campaign) await write(w, campaign, { rate })
    else expect((await w.patch(`/api/client/providers/${provider}`, { rate })).status).toBe(200)
  }
  const names = (count: number) => Array.from({ length: count }, (_, at) => `user-${at}`)
  const campaign = await blastTo(w, [await listOf(w, ...names(first))], isCampaign ? { rate: { limit: 10, interval_seconds: 10 } } : {})
  if (!isCampaign) await setRate(10)
  await schedule(w, campaign)
  await w.drain()
  expect(relay.mails).toHaveLength(10)
  w.advance('5 seconds')
  await setRate(2, campaign)
  if (!isCampaign) await schedule(w, await blastTo(w, [await listOf(w, ...names(10))]))
  const sent: number[] = []
  for (let second = 0; second < 60; second++) {
    await w.drain()
    while (sent.length < relay.mails.length - 10) sent.push(second)
    w.advance('1 second')
  }
  expect(sent).toHaveLength(10)
  expect(sent[0]).toBeGreaterThanOrEqual(5)
  for (const from of sent) expect(sent.filter((at) => at >= from && at < from + 10).length).toBeLessThanOrEqual(2)
})

test('mails that a slow relay takes long to accept count from when they were sent', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const names = Array.from({ length: 12 }, (_, at) => `user-${at}`)
  const campaign = await blastTo(w, [await listOf(w, ...names)], { rate: { limit: 5, interval_seconds: 10 } })
  await schedule(w, campaign)
  const held = relay.hold('BODY')
  const sending = w.drain()
  await held.reached()
  w.advance(2000)
  held.release()
  await sending
  expect(relay.mails).toHaveLength(5)
  // Ten seconds after they were granted, but not after they arrived.
  w.advance(8000)
  await w.drain()
  expect(relay.mails).toHaveLength(5)
  w.advance(2000)
  await w.drain()
  expect(relay.mails).toHaveLength(10)
})

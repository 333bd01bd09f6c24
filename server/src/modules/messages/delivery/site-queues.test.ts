/** Email that waits for a place at its site, with the real limits. Time only moves when the test moves it. */
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTestClock } from '../../../../test/test-clock.ts'
import { createScheduler, type MailPriority } from '../../mta/index.ts'
import { createSiteQueues } from './site-queues.ts'

const SITE = { key: 'mx-1', label: 'example.org' }

/** A site with one connection, which takes an email while the one before is under way. Both are. */
async function busySite() {
  const clock = createTestClock()
  const at = { ms: 0 }
  const now = () => clock.now().getTime()
  const limits = { connections: 1, mails_per_connection: 100, connections_per_minute: 100, mails_per_second: 1000 }
  const queues = createSiteQueues(createScheduler({ now, processes: () => 1, overrides: { 'mx-1': limits } }), clock, () => at.ms)
  const admitted: string[] = []
  const enter = (name: string, priority: MailPriority) =>
    queues.enter(SITE, priority).then((entry) => entry.is === 'admitted' && admitted.push(name))
  await enter('first', 1)
  await enter('second', 1)
  return { queues, at, clock, admitted, enter }
}

test('transactional email comes before that of timers, and this before bulk; each in its order', async () => {
  const { queues, admitted, enter } = await busySite()
  const waiting = [enter('bulk', 1), enter('timer', 2), enter('reset', 0), enter('timer 2', 2), enter('reset 2', 0), enter('bulk 2', 1)]
  for (let left = 0; left < waiting.length; left++) {
    queues.leave(SITE)
    await setImmediate()
  }
  expect(admitted).toEqual(['first', 'second', 'reset', 'reset 2', 'timer', 'timer 2', 'bulk', 'bulk 2'])
})

test('email for which there is no room is postponed as fast as the site takes it, by its last deliveries', async () => {
  const { queues, at, clock, enter } = await busySite()
  for (let delivered = 0; delivered < 60; delivered++) {
    const next = enter('next', 1)
    at.ms += 2000
    queues.leave(SITE)
    await next
  }
  for (let waiting = 0; waiting < 50; waiting++) void enter('waits', 1)
  const inMs = []
  for (let beyond = 0; beyond < 3; beyond++) {
    const entry = await queues.enter(SITE, 1)
    if (entry.is === 'postponed') inMs.push(entry.until.getTime() - clock.now().getTime())
  }
  expect(inMs[0]).toBe(100)
  expect(inMs.map((ms) => Math.round((ms - 100) / 1000))).toEqual([0, 4, 8])
})

test('email beyond the rate of a site is postponed to when the site takes more, each a little later than the one before', async () => {
  const clock = createTestClock()
  const now = () => clock.now().getTime()
  const limits = { connections: 10, mails_per_connection: 100, connections_per_minute: 100, mails_per_second: 0.1 }
  const queues = createSiteQueues(createScheduler({ now, processes: () => 1, overrides: { 'mx-1': limits } }), clock)
  expect(await queues.enter(SITE, 1)).toEqual({ is: 'admitted' })
  const entries = [await queues.enter(SITE, 1), await queues.enter(SITE, 1)]
  const until = (seconds: number) => new Date(now() + seconds * 1000)
  expect(entries).toEqual([
    { is: 'postponed', limit: 'rate', until: until(10) },
    { is: 'postponed', limit: 'rate', until: until(20) },
  ])
})

test('email for which the site gets no connection now is tried again as fast as it gets them', async () => {
  const { queues, clock } = await busySite()
  const nextAt = clock.now().getTime() + 2400
  const inMs = Array.from({ length: 3 }, () => queues.tryAgainAt(SITE, 1, nextAt).getTime() - nextAt)
  // 100 connections a minute carry 100 emails each.
  expect(inMs).toEqual([0, 6, 12])
})

test('urgent email for which there is no connection or no room does not wait behind bulk email that was put off', async () => {
  const { queues, clock, admitted, enter } = await busySite()
  const nextAt = clock.now().getTime() + 2400
  for (let bulk = 0; bulk < 100; bulk++) queues.tryAgainAt(SITE, 1, nextAt)
  expect(queues.tryAgainAt(SITE, 0, nextAt).getTime()).toBe(nextAt)
  // A timer waits behind what is more urgent than it, and not behind bulk.
  expect(queues.tryAgainAt(SITE, 2, nextAt).getTime()).toBe(nextAt + 6)
  const waiting = Array.from({ length: 50 }, () => queues.enter(SITE, 1))
  const reset = enter('reset', 0)
  expect((await waiting.at(-1))?.is).toBe('postponed')
  queues.leave(SITE)
  await reset
  expect(admitted.at(-1)).toBe('reset')
})

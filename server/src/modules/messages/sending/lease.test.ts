/**
 * Two senders and one message: the lease of the first ends while it works, and a second sender claims the message. Messages are
 * counted at a relay and at a fake provider.
 */

import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { besides } from '../../../../test/besides.ts'
import { pathOf, run, write } from '../../../../test/blasts.ts'
import { type FakeProvider, openFakeProvider } from '../../../../test/fake-provider.ts'
import { answerOrders, order, providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { createTestClock } from '../../../../test/test-clock.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { type ClaimedMessage, TRANSACTIONAL } from '../schema.ts'
import { claim } from './claim.ts'
import { keepLease, withLease } from './lease.ts'
import { renewLeases } from './queries.ts'
import { createSender, releaseLeases, sendQueue } from './sender.ts'

const Row = Type.Object({
  state: Type.String(),
  reason: Type.Unsafe<string | null>({}),
  attempts: Type.Integer(),
  provider: Type.Unsafe<string | null>({}),
})

const messages = (w: World) =>
  w.db.many(Row, sql`select state, reason, attempts, provider from messages where project_id = ${w.projectId} order by id`)

/** The messages that a sender has claimed, and when. */
type Claim = { messages: ClaimedMessage[]; at: Date }

/** Claims the project's due mail, as one sender. */
async function claimMail(w: World): Promise<Claim> {
  const at = w.clock.now()
  return { messages: await claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 10 }]), at }
}

/** Lets the lease of the first sender end, and claims its messages as a second sender. */
async function takeOver(w: World): Promise<Claim> {
  w.advance('6 minutes')
  await run(w, 'messages.release')
  return claimMail(w)
}

const send = (ctx: Ctx, { messages, at }: Claim) =>
  sendQueue(ctx, createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL), messages, at)

/** A process whose clock stands still, so that it trusts its lease and does not renew it. */
const stopped = (w: World): Ctx => ({ ...w.ctx, clock: createTestClock(w.clock.now()) })

/** Queues one message to Ana. */
async function waiting(w: World): Promise<void> {
  await w.users('ana')
  await answerOrders(w)
  await order(w, 'ana')
  await run(w, 'ingest.apply')
}

const eventsOfAna = async (w: World): Promise<string[]> => {
  await w.drain('ingest.apply')
  return (await w.get('/api/client/users/ana/events?limit=100')).body.results.map(({ name }: { name: string }) => name)
}

describe('over a relay', () => {
  test('a sender that lost its lease sends nothing; the sender that claimed the message sends it once', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await waiting(w)
    const first = await claimMail(w)
    const second = await takeOver(w)
    expect([first.messages.length, second.messages.length]).toEqual([1, 1])
    await send(w.ctx, first)
    expect(recipientsOf(relay)).toEqual([])
    expect(await messages(w)).toMatchObject([{ state: 'claimed' }])
    await send(w.ctx, second)
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    expect(await messages(w)).toMatchObject([{ state: 'sent', provider: 'smtp' }])
  })

  test.each(['before', 'after'] as const)(
    'a sender that is suspended %s it saves its send attempt record, until another one looks for work, sends no second mail',
    async (when) => {
      await using w = await world()
      await using relay = await openRelay()
      await sendOver(w, relay)
      await waiting(w)
      const first = await claimMail(w)
      let second: Claim | undefined
      const suspended = async <T>(work: () => Promise<T>): Promise<T> => {
        if (when === 'before') second ??= await takeOver(w)
        const done = await work()
        second ??= await takeOver(w)
        return done
      }
      const transaction: Ctx['db']['transaction'] = (work, limits) => w.ctx.db.transaction((tx) => suspended(() => work(tx)), limits)
      const ctx = stopped(w)
      await send({ ...ctx, db: { ...ctx.db, transaction } }, first)
      expect(second?.messages).toHaveLength(when === 'before' ? 1 : 0)
      if (second) await send(w.ctx, second)
      w.advance('6 minutes')
      await w.drain()
      expect(recipientsOf(relay)).toEqual(['ana@example.com'])
      expect(await messages(w)).toMatchObject([{ state: 'sent' }])
    },
  )

  test('a mail that was being sent when the lease ended is not sent again, and its late result is dropped', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await waiting(w)
    const first = await claimMail(w)
    const answerNow = relay.hold('BODY').release
    const sending = send(stopped(w), first)
    await expect.poll(() => relay.unanswered()).toBe(1)
    const second = await takeOver(w)
    expect(second.messages).toEqual([])
    answerNow()
    await sending
    w.advance('1 day')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    expect(await messages(w)).toMatchObject([{ state: 'unknown', reason: 'sender_lost' }])
    expect(await eventsOfAna(w)).not.toContain('email_sent')
  })

  test.each([
    ['counts towards caps', false, 1],
    ['does not count towards caps if it is transactional', true, 2],
  ] as const)('a mail that may have been sent by a sender that died %s', async (_, is_transactional, mails) => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await w.put('/api/client/sending-policy', { caps: [{ channels: ['email'], max: 1, window_hours: 24 }], quiet_hours: null })
    const type = (await w.post('/api/client/subscriptions', { name: 'Orders', channel: 'email', is_transactional })).body
    await w.users('ana')
    await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id: type.id, state: 1 }])
    const first = await answerOrders(w)
    await write(w, first, { subscription_id: type.id })
    await order(w, 'ana')
    await run(w, 'ingest.apply')
    const claimed = await claimMail(w)
    const answerNow = relay.hold('BODY').release
    const sending = send(stopped(w), claimed)
    await expect.poll(() => relay.unanswered()).toBe(1)
    expect((await takeOver(w)).messages).toEqual([])
    answerNow()
    await sending
    await write(w, first, { state: 'aborted' })
    await answerOrders(w)
    await order(w, 'ana')
    await w.drain()
    expect(recipientsOf(relay)).toHaveLength(mails)
  })

  test('a sender renews its lease while a slow relay has not answered, so that its mail is not taken for lost', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await waiting(w)
    const first = await claimMail(w)
    const answerNow = relay.hold('BODY').release
    const sending = send(w.ctx, first)
    await expect.poll(() => relay.unanswered()).toBe(1)
    const leaseUntil = async () =>
      (
        await w.db.value(Type.Unsafe<Date>({ instant: true }), sql`select lease_until from messages where project_id = ${w.projectId}`)
      ).getTime()
    for (let minutes = 0; minutes < 3; minutes++) {
      for (let third = 0; third < 3; third++) {
        const before = await leaseUntil()
        w.advance('20 seconds')
        await expect.poll(leaseUntil).toBeGreaterThan(before)
      }
      await run(w, 'messages.release')
    }
    answerNow()
    await sending
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    expect(await messages(w)).toMatchObject([{ state: 'sent' }])
  })
})

describe('over a provider with idempotency keys', () => {
  const resend = { kind: 'resend', channel: 'email', settings: { api_key: 're_secret', default_from: 'shop@example.com' } }

  /** The same process, with a provider that answers only after `meanwhile`. */
  const slow = (w: World, provider: FakeProvider, meanwhile: () => Promise<void>): Ctx => ({
    ...stopped(w),
    fetch: {
      ...provider.fetch,
      async request(request) {
        const answer = await provider.fetch.request(request)
        await meanwhile()
        return answer
      },
    },
  })

  test('the results of a sender are dropped when another sender has claimed its message', async () => {
    await using w = await world()
    await using provider = await openFakeProvider()
    await using receiver = await w.receiver()
    const event_types = ['delivery.dsn-perm-fail', 'delivery.failed', 'delivery.delivered', 'delivery.completed']
    expect((await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types })).status).toBe(201)
    await providerOf(w, resend)
    await waiting(w)
    const refusal = { statusCode: 422, name: 'validation_error', message: 'Invalid `to` field.' }
    provider.answer({ status: 422, body: refusal }, { status: 200, body: { id: 'r-2' } })
    let second: Claim = { messages: [], at: w.clock.now() }
    const first = await claimMail(w)
    await send(
      slow(w, provider, async () => {
        second = await takeOver(w)
      }),
      first,
    )
    expect(second.messages).toHaveLength(1)
    expect(await messages(w)).toMatchObject([{ state: 'claimed', reason: null }])
    expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
    expect(await eventsOfAna(w)).not.toContain('email_bounced')

    await send({ ...w.ctx, fetch: provider.fetch }, second)
    expect(provider.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([expect.any(String), expect.any(String)])
    expect(new Set(provider.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    await w.drain()
    expect(await messages(w)).toMatchObject([{ state: 'sent', reason: null }])
    expect(provider.requests).toHaveLength(2)
    // Those of the second sender.
    expect(receiver.requests.map(({ json }) => json.type).sort()).toEqual(['delivery.completed', 'delivery.delivered'])
  })
})

describe('of a message that a sender gave to a provider before it died', () => {
  test('an abort counts none in flight when another sender has it and has not begun', async () => {
    await using w = await world()
    await using provider = await openFakeProvider()
    await providerOf(w, { kind: 'resend', channel: 'email', settings: { api_key: 're_secret', default_from: 'shop@example.com' } })
    await w.users('ana')
    const campaign = await answerOrders(w)
    await order(w, 'ana')
    await run(w, 'ingest.apply')
    const request = async () => {
      throw new Error('The worker dies.')
    }
    await expect(send({ ...w.ctx, fetch: { ...provider.fetch, request } }, await claimMail(w))).rejects.toThrow('The worker dies.')
    const second = await takeOver(w)
    expect(second.messages).toHaveLength(1)
    expect((await w.patch(pathOf(campaign), { state: 'aborted' })).body).toMatchObject({ state: 'aborted', in_flight: 0 })
    await send({ ...w.ctx, fetch: provider.fetch }, second)
    expect(provider.requests).toEqual([])
  })
})

test('a process that was suspended asks the database after two thirds of its lease', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await waiting(w)
  const { messages, at } = await claimMail(w)
  const clock = createTestClock(at)
  // It does not wake up to renew its lease.
  const sleep = (_: number, signal?: AbortSignal) => new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
  await withLease({ ...w.ctx, clock: { now: clock.now, sleep, skewMs: 0 } }, messages, at, async ({ stillLeased }) => {
    await w.db.run(sql`update messages set lease_token = gen_random_uuid() where project_id = ${w.projectId}`)
    clock.advance('39 seconds')
    expect((await stillLeased(messages)).size).toBe(1)
    clock.advance('1 second')
    expect((await stillLeased(messages)).size).toBe(0)
  })
})

test('what a renewal did not find is not sent: the process was suspended, and another one has it', async () => {
  await using w = await world()
  const clock = createTestClock(w.clock.now())
  const leased = { items: [1, 2], keyOf: (item: number) => item, renew: async () => [2] }
  await keepLease({ ...w.ctx, clock }, leased, clock.now(), async ({ stillLeased }) => {
    expect(await stillLeased([1, 2])).toEqual(new Set([1, 2]))
    clock.advance('20 seconds')
    await expect.poll(() => stillLeased([1, 2]), { timeout: 2000 }).toEqual(new Set([2]))
  })
})

test('a lease that another transaction renews at the same time is held', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await waiting(w)
  const { messages, at } = await claimMail(w)
  const renewal = sql`update messages set lease_until = lease_until + interval '1 minute' where project_id = ${w.projectId}`
  expect(await besides(w, renewal, () => renewLeases(w.ctx, messages, at))).toHaveLength(1)
  w.advance('6 minutes')
  await w.drain()
})

test('a process whose clock is behind sends what it has claimed, and no other process sends it too', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await waiting(w)
  w.advance('10 minutes')
  /** A process on a machine of its own. */
  const processAt = (behindMs: number): Ctx => {
    const { now, sleep } = createTestClock(new Date(w.clock.now().getTime() - behindMs))
    return { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
  }
  const [behind, ahead] = [processAt(2 * MINUTE_MS), processAt(0)]
  const mail = { project_id: w.projectId, channel: 'email' as const, limit: 10 }
  const first = { messages: await claim(behind, TRANSACTIONAL, [mail]), at: behind.clock.now() }
  expect(first.messages).toHaveLength(1)
  await releaseLeases(ahead)
  const second = { messages: await claim(ahead, TRANSACTIONAL, [mail]), at: ahead.clock.now() }
  if (second.messages.length > 0) await send(ahead, second)
  await send(behind, first)
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  expect(await messages(w)).toMatchObject([{ state: 'sent', attempts: 1 }])
})

test('during an upgrade, what a process has claimed by its own clock is not sent by one of this release, whatever the time of the database', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await waiting(w)
  const first = await claimMail(w)
  const { now, sleep } = createTestClock(w.clock.now())
  const upgraded: Ctx = { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
  await releaseLeases(upgraded)
  const second = { messages: await claim(upgraded, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 10 }]), at: now() }
  await send(upgraded, second)
  await send(w.ctx, first)
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  expect(await messages(w)).toMatchObject([{ state: 'sent', attempts: 1 }])
})

test('each project has leases of its own, and what is not claimed has none', async () => {
  await using w = await world()
  const other = await w.other()
  const insert = (projectId: ProjectId) =>
    w.db.run(
      sql`insert into messages (project_id, user_id, campaign_id, channel, cause, due_at, created_at)
          select ${projectId}, 1, 1, 'email', 'cause ' || n, ${w.clock.now()}, ${w.clock.now()} from generate_series(1, 5) n`,
    )
  await insert(w.projectId)
  await insert(other.projectId)
  const share = (project_id: ProjectId) => ({ project_id, channel: 'email' as const, limit: 10 })
  const claimed = await claim(w.ctx, TRANSACTIONAL, [share(w.projectId), share(other.projectId)])
  const tokens = Map.groupBy(claimed, ({ project_id }) => project_id)
    .values()
    .map((some) => new Set(some.map(({ lease_token }) => lease_token)))
    .toArray()
  expect(tokens.map(({ size }) => size)).toEqual([1, 1])
  expect(tokens[0]).not.toEqual(tokens[1])
  await send(w.ctx, { messages: claimed.filter(({ project_id }) => project_id === w.projectId), at: w.clock.now() })
  const held = await w.db.many(
    Type.Object({ project_id: Type.Integer() }),
    sql`select distinct project_id from messages where project_id in (${w.projectId}, ${other.projectId}) and lease_token is not null`,
  )
  expect(held).toEqual([{ project_id: other.projectId }])
  w.advance('6 minutes')
  await w.drain()
})

test.each([
  ['in_app', 1],
  ['email', 0],
] as const)('a message over %s wakes the streams of inboxes %i times', async (channel, expected) => {
  await using w = await world()
  await w.users('ana')
  await answerOrders(w, channel)
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  const at = w.clock.now()
  const messages = await claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel, limit: 10 }])
  expect(messages).toHaveLength(1)
  let woken = 0
  const inboxStreams = { wake: () => void woken++ }
  await sendQueue(w.ctx, createSender({ recordOverBudget, findSendingCampaigns, inboxStreams }, TRANSACTIONAL), messages, at)
  expect(woken).toBe(expected)
})

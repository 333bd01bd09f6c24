/** Rates of campaigns and providers: what they cost, and how soon a change applies. Sending is observed at a relay. */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { blastTo, countsOf, listOf, messagesIn, run, schedule, write } from '../../../../test/blasts.ts'
import { mailWorld } from '../../../../test/mail-queue.ts'
import { answerOrders, order, providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { createTestClock } from '../../../../test/test-clock.ts'
import { type World, world } from '../../../../test/world.ts'
import { type Database, sql } from '../../../infra/postgres/db.ts'
import { systemClock } from '../../../infra/runtime/clock.ts'
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { HOUR_MS, SECOND_MS } from '../../../lib/times.ts'
import { nextDueAt } from './queries.ts'
import { deferDue, takeRateQueues } from './rates.queries.ts'

const namesOf = (count: number, prefix = 'user') => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)

/** Counts the statements that a world runs from now on, and the messages that they claim. */
function countStatements(w: World): { statements: number; claims: number } {
  const counts = { statements: 0, claims: 0 }
  const counting = (db: Record<string, unknown>): Record<string, unknown> => {
    const counted = Object.fromEntries(
      ['many', 'one', 'value', 'first', 'run'].map((name) => [
        name,
        async (...args: unknown[]) => {
          counts.statements++
          const found = await (db[name] as (...args: unknown[]) => Promise<unknown>)(...args)
          if (Array.isArray(found)) counts.claims += found.filter((row) => 'lease_token' in row && 'cause' in row).length
          return found
        },
      ]),
    )
    const within = (limits: unknown) => counting((db.within as (limits: unknown) => Record<string, unknown>)(limits))
    const transaction = (work: (tx: unknown) => unknown, limits?: unknown) =>
      (db.transaction as (work: (tx: Record<string, unknown>) => unknown, limits?: unknown) => unknown)((tx) => work(counting(tx)), limits)
    return { ...db, ...counted, within, transaction }
  }
  w.ctx.db = counting(w.ctx.db as never) as unknown as Database
  return counts
}

const USERS = 2000

/** How often messages are claimed for each user of a blast, and the statements for each of them. */
async function costOf(rate: object | null): Promise<{ claims: number; statements: number }> {
  await using w = await world()
  await providerOf(w, { kind: 'discard', channel: 'email', settings: {} })
  const blast = await blastTo(w, [await listOf(w, ...namesOf(USERS))], { expires_after_hours: 720, ...(rate && { rate }) })
  await schedule(w, blast)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 10)
  const counts = countStatements(w)
  for (let round = 0; round < 100; round++) {
    while ((await run(w, 'messages.send-bulk')) > 0);
    if ((await waiting(w, blast)) === 0) break
    w.advance('10 seconds')
  }
  expect(countsOf(await messagesIn(w, blast))).toEqual({ 'sent  ': USERS })
  return { claims: counts.claims / USERS, statements: counts.statements / USERS }
}

const Waiting = Type.Integer()
const waiting = (w: World, { id }: { id: number }) =>
  w.db.value(Waiting, sql`select count(*) as count from messages where campaign_id = ${id} and state in ('queued', 'deferred')`)

test('a rate costs as many claims and statements for each message as none', { timeout: 120_000 }, async () => {
  const without = await costOf(null)
  const within = await costOf({ limit: 1000, interval_seconds: 10 })
  expect(without.claims).toBe(1)
  // The first batch shows that there is a rate.
  expect(within.claims).toBeLessThanOrEqual(1 + 1000 / USERS)
  expect(within.statements).toBeLessThanOrEqual(1.5 * without.statements)
})

describe.each(['campaign', 'provider'])('a raised rate of a %s', (whose) => {
  test('applies within seconds, also to messages that were to wait for a day', async () => {
    await using w = await world()
    await using relay = await openRelay()
    const provider = await sendOver(w, relay)
    const slow = { limit: 1, interval_seconds: 86_400 }
    if (whose === 'provider') await w.patch(`/api/client/providers/${provider}`, { rate: slow })
    const blast = await blastTo(w, [await listOf(w, ...namesOf(30))], {
      expires_after_hours: 720,
      ...(whose === 'campaign' && { rate: slow }),
    })
    await schedule(w, blast)
    await w.drain()
    expect(relay.mails).toHaveLength(1)
    const fast = { limit: 100, interval_seconds: 1 }
    if (whose === 'provider') await w.patch(`/api/client/providers/${provider}`, { rate: fast })
    else await write(w, blast, { rate: fast })
    w.advance('10 seconds')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(
      namesOf(30)
        .map((name) => `${name}@example.com`)
        .sort(),
    )
  })
})

test('the due messages of a campaign are deferred slice by slice, and those of others are passed over', async () => {
  await using w = await world()
  const [slow, other] = [1 as CampaignId, 2 as CampaignId]
  const campaigns = [slow, other, other, slow, other, slow]
  const due = new Date(w.clock.now().getTime() - SECOND_MS)
  await w.db.run(
    sql`insert into messages (project_id, user_id, campaign_id, channel, cause, due_at, created_at)
        select ${w.projectId}, i, c, 'email', 'c' || i, ${due}, ${due} from unnest(${campaigns}::bigint[]) with ordinality as m(c, i)`,
  )
  const ctx = { ...w.ctx, projectId: w.projectId } as ProjectCtx
  const schedule = { from: new Date(w.clock.now().getTime() + HOUR_MS), rate: { limit: 1, intervalMs: 1000 }, limit: 2 }
  const deferred: number[] = []
  let slice = await deferDue(ctx, 0, { campaign_id: slow, channel: 'email' }, schedule)
  while (slice) {
    deferred.push(slice.deferred)
    slice = await deferDue(ctx, 0, { campaign_id: slow, channel: 'email' }, schedule, slice)
  }
  expect(deferred).toEqual([1, 1, 1])
  const Row = Type.Object({ campaign_id: Type.Integer(), state: Type.String() })
  const rows = await w.db.many(Row, sql`select campaign_id, state from messages where project_id = ${w.projectId} order by user_id`)
  expect(rows).toEqual(campaigns.map((campaign_id) => ({ campaign_id, state: campaign_id === slow ? 'deferred' : 'queued' })))
})

test('a queue that a process with a clock that was hours ahead took is taken over within seconds', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const blast = await blastTo(w, [await listOf(w, ...namesOf(5))], { expires_after_hours: 720, rate: { limit: 1, interval_seconds: 3600 } })
  await schedule(w, blast)
  await w.drain()
  // As if the rate had room.
  await w.db.run(sql`update rate_queues set next_at = now() - interval '1 second' where campaign_id = ${blast.id}`)
  /** A process on a machine of its own. */
  const processAt = (aheadMs: number): Ctx => {
    const { now, sleep } = createTestClock(new Date(systemClock.now().getTime() + aheadMs))
    return { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
  }
  const [ahead, right] = [processAt(6 * HOUR_MS), processAt(0)]
  const take = (ctx: Ctx) => {
    const until = new Date(ctx.clock.now().getTime() + 10 * SECOND_MS)
    return takeRateQueues(ctx, 1, [{ project_id: w.projectId, campaign_id: blast.id }], until)
  }
  expect(await take(ahead)).toHaveLength(1)
  expect(await take(right)).toHaveLength(0)
  // As if the time of the database had passed.
  await w.db.run(sql`update rate_queues set next_at = next_at - interval '11 seconds' where campaign_id = ${blast.id}`)
  const { now } = right.clock
  expect((await nextDueAt(right, 1))?.getTime()).toBeLessThanOrEqual(now().getTime())
  expect(await take(right)).toHaveLength(1)
})

test('a campaign over its rate does not delay another one in the same queue', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const slow = await blastTo(w, [await listOf(w, ...namesOf(60, 'slow'))], {
    expires_after_hours: 720,
    rate: { limit: 1, interval_seconds: 3600 },
  })
  await schedule(w, slow)
  await w.drain('campaigns.launch', 'campaigns.load')
  const other = await blastTo(w, [await listOf(w, 'ana')])
  await schedule(w, other)
  await w.drain()
  expect(recipientsOf(relay)).toHaveLength(2)
  expect(recipientsOf(relay)).toContain('ana@example.com')
})

test('messages over the rate of their provider go in the order in which they came, and those of a paused campaign wait', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const provider = await sendOver(w, relay)
  await w.patch(`/api/client/providers/${provider}`, { rate: { limit: 2, interval_seconds: 60 } })
  await w.users(...namesOf(6))
  const campaign = await answerOrders(w)
  for (const name of namesOf(6)) {
    await order(w, name)
    await w.drain('ingest.apply')
  }
  await w.drain()
  expect(relay.mails.flatMap(({ to }) => to).sort()).toEqual(['user-0@example.com', 'user-1@example.com'])
  await w.post(`/api/client/campaigns/${campaign.id}/pause`)
  w.advance('2 minutes')
  await w.drain()
  expect(relay.mails).toHaveLength(2)
  await w.post(`/api/client/campaigns/${campaign.id}/resume`)
  w.advance('10 seconds')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(namesOf(4).map((name) => `${name}@example.com`))
})

test('what a slower provider refuses is not taken from the rate of its campaign', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const provider = await sendOver(w, relay)
  await w.patch(`/api/client/providers/${provider}`, { rate: { limit: 2, interval_seconds: 10 } })
  const rate = { limit: 4, interval_seconds: 86_400 }
  const blast = await blastTo(w, [await listOf(w, ...namesOf(6))], { expires_after_hours: 720, rate })
  await schedule(w, blast)
  const mailsAfter = async (wait: string) => {
    w.advance(wait)
    await w.drain()
    return relay.mails.length
  }
  expect(await mailsAfter('0 seconds')).toBe(2)
  expect(await mailsAfter('20 seconds')).toBe(4)
  expect(await mailsAfter('12 hours')).toBe(4)
  await mailsAfter('12 hours')
  expect(await mailsAfter('20 seconds')).toBe(6)
})

test('what a full mail queue refuses is taken from no rate', async () => {
  await using w = await mailWorld({ MTA_QUEUE_MAX: '2' })
  const { mails } = w.internet.host('mx.example.com')
  w.internet.domain('example.com', 'mx.example.com')
  const [{ id }] = (await w.get('/api/client/providers')).body.results
  const rate = { limit: 4, interval_seconds: 86_400 }
  await w.patch(`/api/client/providers/${id}`, { rate })
  const blast = await blastTo(w, [await listOf(w, ...namesOf(6))], { expires_after_hours: 720, rate })
  await schedule(w, blast)
  for (let round = 0; round < 3; round++) {
    await w.drain()
    w.advance('20 seconds')
  }
  expect(mails).toHaveLength(4)
})

test('the messages of a campaign that is deleted while they wait for its rate are aborted', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const blast = await blastTo(w, [await listOf(w, ...namesOf(5))], { expires_after_hours: 720, rate: { limit: 1, interval_seconds: 3600 } })
  await schedule(w, blast)
  await w.drain()
  expect((await w.patch(`/api/client/campaigns/${blast.id}`, { state: 'aborted' })).status).toBe(200)
  w.advance('3 hours')
  await w.drain()
  expect(countsOf(await messagesIn(w, blast))).toEqual({ 'sent  ': 1, 'aborted campaign_stopped ': 4 })
  expect(await w.db.value(Waiting, sql`select count(*) as count from rate_queues where campaign_id = ${blast.id}`)).toBe(0)
})

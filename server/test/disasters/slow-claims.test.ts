/**
 * Claims that are slow, because a table is locked or read in a bad way: they end after seconds, not after the minute of other statements. And
 * items whose statements wait: it is not their fault.
 */
import { Type } from 'typebox'
import { expect, test, vi } from 'vitest'
import { isSqlState, join, raw, sql } from '../../src/infra/postgres/db.ts'
import { runToEnd } from '../../src/infra/queue/jobs.ts'
import { createInboxStreams } from '../../src/modules/inbox/index.ts'
import { allJobs } from '../../src/workers.ts'
import { SOON } from '../wait.ts'
import { type World, world } from '../world.ts'

const CANCELLED = '57014'
const TIMEOUT_MS = 40_000

/** Runs jobs at the same time. Returns the names of those whose statement was cancelled. */
async function cancelledOf(w: World, names: string[]): Promise<string[]> {
  const { signal } = new AbortController()
  const jobs = allJobs(createInboxStreams()).filter(({ name }) => names.includes(name))
  const outcomes = await Promise.allSettled(jobs.map((job) => runToEnd(job, w.ctx, signal)))
  return jobs.flatMap(({ name }, at) => {
    const outcome = outcomes[at]
    return outcome?.status === 'rejected' && isSqlState(outcome.reason, CANCELLED) ? [name] : []
  })
}

/** The jobs that claim work, with the tables that they look at first. */
const CLAIMING: Record<string, string> = {
  'ingest.apply': 'queue_entries',
  imports: 'imports',
  'lists.build': 'list_versions',
  'campaigns.preflight': 'campaign_preflights',
  'messages.send': 'messages',
  'messages.send-timed': 'messages',
  'messages.send-bulk': 'messages',
  'messages.release': 'messages',
  'webhooks.dispatch': 'webhook_events',
  'webhooks.deliver': 'webhook_deliveries',
}

test('claims of a locked table are cancelled after seconds', { timeout: TIMEOUT_MS }, async () => {
  await using w = await world({ own: true, env: {} })
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = w.db.transaction(async (db) => {
    await db.run(sql`lock table ${join([...new Set(Object.values(CLAIMING))].map(raw), ', ')} in access exclusive mode`)
    locked.resolve()
    await release.promise
  })
  await locked.promise
  expect((await cancelledOf(w, Object.keys(CLAIMING))).sort()).toEqual(Object.keys(CLAIMING).sort())
  release.resolve()
  await holding
  expect(await cancelledOf(w, Object.keys(CLAIMING))).toEqual([])
})

test('the claim of a large backlog is cancelled after seconds, and what follows it has the usual time', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using w = await world({ own: true, env: {} })
  const events = Array.from({ length: 100 }, () => ({ name: 'bought', external_id: 'kim' }))
  for (let request = 0; request < 3; request++) expect((await w.post('/api/client/events', events)).status).toBe(204)
  await w.db.run(sql`alter table queue_entries rename to kept_entries`)
  await w.db.run(sql`create view queue_entries as
                     select position, project_id, kind, user_id, request_id, received_at, items, case when pg_sleep(60) is null then body else body end as body
                     from kept_entries`)
  expect(await cancelledOf(w, ['ingest.apply'])).toEqual(['ingest.apply'])
  await w.db.run(sql`drop view queue_entries`)
  await w.db.run(sql`alter table kept_entries rename to queue_entries`)
  await w.drain()
  expect(await w.db.value(Type.Integer(), sql`select count(*) as count from events where name = 'bought'`)).toBe(300)
})

const Wait = Type.Object({ pid: Type.Integer(), since: Type.String() })

/** Cancels statements that wait for a lock of `events`, one after the other, so many. */
async function cancelWaiting(w: World, count: number): Promise<void> {
  const cancelled = new Set<string>()
  const waits = sql`select pid, waitstart::text as since from pg_locks where relation = 'events'::regclass and waitstart is not null`
  for (let time = 0; time < count; time++) {
    const { pid, since } = await vi.waitFor(async () => {
      const next = (await w.db.many(Wait, waits)).find((wait) => !cancelled.has(wait.since))
      if (!next) throw new Error('No statement waits.')
      return next
    }, SOON)
    cancelled.add(since)
    await w.db.run(sql`select pg_cancel_backend(${pid}::integer)`)
  }
}

test.each([
  ['waits for a lock, as while an index is created', 2],
  ['is cancelled by an operator', 3],
])('an event that %s stays in the queue, and is applied afterwards', { timeout: TIMEOUT_MS }, async (_, cancelled) => {
  await using w = await world({ own: true, env: {} })
  await w.users('kim')
  await w.drain()
  await w.post('/api/client/events', [{ name: 'bought', external_id: 'kim' }])
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = w.db.transaction(async (db) => {
    await db.run(sql`lock table events in share mode`)
    locked.resolve()
    await release.promise
  })
  await locked.promise
  const applying = cancelledOf(w, ['ingest.apply'])
  // The first two are the batch, among those of other projects and by itself, in place of the minute that each may take.
  await cancelWaiting(w, cancelled)
  await applying
  release.resolve()
  await holding
  // A project that failed is tried again a moment later.
  w.advance('1 second')
  await w.drain()
  const applied = sql`select count(*) as count from events where project_id = ${w.projectId} and name = 'bought'`
  expect(await w.db.value(Type.Integer(), applied)).toBe(1)
})

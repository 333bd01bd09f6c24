import { expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { queueDepths } from '../../workers.ts'
import type { AcceptedLog } from '../runtime/accepted-log.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { answersOf } from './operations.ts'
import { openOpsListener } from './ops-listener.ts'

test('a port for operators answers its paths only, says what is not ready, and ends with the process', async () => {
  await using w = await world({ own: true, env: { NODE_ENV: 'production' } })
  let jobs = 'stopped'
  const operations = { ctx: w.ctx, queues: () => queueDepths(w.ctx), connections: w.db.connections, lag: () => 7 }
  const answers = answersOf(operations, { isOpen: true, checks: () => ({ jobs }), isReady: () => jobs === 'ok' })
  const listener = await openOpsListener(answers, { host: '127.0.0.1', port: 0, log: w.ctx.log })
  const url = `http://127.0.0.1:${listener.port}`
  const get = async (path: string, method = 'GET') => {
    const reply = await fetch(`${url}${path}`, { method })
    return { status: reply.status, text: await reply.text() }
  }
  expect(await get('/livez')).toEqual({ status: 200, text: '{"status":"ok"}' })
  expect(await get('/readyz')).toEqual({ status: 503, text: '{"status":"unavailable","checks":{"jobs":"stopped","database":"ok"}}' })
  jobs = 'ok'
  expect((await get('/readyz?x=1')).status).toBe(200)
  expect((await get('/metrics')).text).toContain('app_event_loop_lag_seconds 0.007')
  expect([(await get('/api/client/users')).status, (await get('/toString')).status, (await get('/livez', 'POST')).status]).toEqual([
    404, 404, 405,
  ])
  await w.db[Symbol.asyncDispose]()
  expect((await get('/readyz')).status).toBe(503)
  expect((await get('/metrics')).status).toBe(200)
  await listener[Symbol.asyncDispose]()
  await expect(fetch(`${url}/livez`)).rejects.toThrow()
})

/** The metrics of a process, as Prometheus gets them. */
async function metricsOf(ctx: Ctx, queues: () => Promise<void>, wait: () => unknown = () => {}): Promise<string> {
  const operations = { ctx, queues, connections: () => ({ total: 0, idle: 0, waiting: 0 }), lag: () => 0 }
  const answer = answersOf(operations, { isOpen: true, checks: () => ({}), isReady: () => true })['/metrics']?.(undefined)
  await wait()
  const reply = await answer
  expect(reply?.status).toBe(200)
  return reply?.body ?? ''
}

const namesIn = (text: string) => new Set([...text.matchAll(/^(app_\w+)/gm)].map(([, name = '']) => name))

test('while the database is away, the metrics lack what it told, and say so', async () => {
  await using w = await world({ own: true })
  await w.post('/api/client/webhooks', { name: 'Hook', url: 'https://hooks.example.com/', event_types: ['delivery.completed'] })
  let bytes = 5
  const acceptedLog = { id: 'a', extent: async () => ({ first: 1, last: 0, count: 0, bytes }) } as unknown as AcceptedLog
  const ctx = { ...w.ctx, acceptedLog }
  const before = await metricsOf(ctx, () => queueDepths(ctx))
  expect(before).toMatch(/^app_database_up 1$/m)
  await w.db[Symbol.asyncDispose]()
  bytes = 6
  const away = await metricsOf(ctx, () => queueDepths(ctx))
  expect(away).toMatch(/^app_database_up 0$/m)
  expect(away).toMatch(/^app_log_bytes\{log="nats"\} 6$/m)
  expect([...namesIn(before)].filter((name) => !namesIn(away).has(name)).sort()).toEqual([
    'app_campaigns_running',
    'app_ingest_backlog_bytes',
    'app_ingest_backlog_items',
    'app_journey_timer_lag_seconds',
    'app_journey_waiting',
    'app_queue_jobs',
    'app_queue_oldest_job_age_seconds',
    'app_webhook_endpoints',
  ])
})

const never = () => new Promise<never>(() => {})

test('a database that does not answer does not delay the metrics until Prometheus gives up', async () => {
  await using w = await world({ own: true })
  const text = await metricsOf({ ...w.ctx, db: { ...w.db, first: never } }, never, () => w.advance('8 seconds'))
  expect(text).toMatch(/^app_database_up 0$/m)
})

test.each([
  [503, 'without a log, and the process is not ready', undefined],
  [200, 'and with a log, the process is ready', {} as AcceptedLog],
])('a database that does not answer is unreachable after a moment: %s %s', async (status, _, acceptedLog) => {
  await using w = await world({ own: true })
  const ctx = { ...w.ctx, ...(acceptedLog && { acceptedLog }), db: { ...w.db, first: never } }
  const operations = { ctx, queues: never, connections: w.db.connections, lag: () => 0 }
  const reply = answersOf(operations, { isOpen: true, checks: () => ({}), isReady: () => true })['/readyz']?.(undefined)
  w.advance('4 seconds')
  expect(await reply).toMatchObject({ status, body: expect.stringContaining('"database":"unreachable"') })
})

test('queues that take long to count are missing in the metrics, which say so, and the database is not said to be away', async () => {
  await using w = await world({ own: true })
  expect(await metricsOf(w.ctx, () => queueDepths(w.ctx))).toMatch(/^app_queues_read 1$/m)
  const answered = Promise.withResolvers<void>()
  const first: typeof w.db.first = async (...given) => {
    const row = await w.db.first(...given)
    answered.resolve()
    return row
  }
  const text = await metricsOf({ ...w.ctx, db: { ...w.db, first } }, never, async () => {
    await answered.promise
    await new Promise((resolve) => setImmediate(resolve))
    w.advance('8 seconds')
  })
  expect(text).toMatch(/^app_database_up 1$/m)
  expect(text).toMatch(/^app_queues_read 0$/m)
  expect(text).not.toMatch(/^app_queue_jobs/m)
  expect(await metricsOf(w.ctx, () => queueDepths(w.ctx))).toMatch(/^app_queues_read 1$/m)
})

test('a log that does not answer is said to be away, and the database is not, nor are its queues missing', async () => {
  await using w = await world({ own: true })
  const ctx = { ...w.ctx, acceptedLog: { id: 'a', extent: never } as unknown as AcceptedLog }
  const text = await metricsOf(
    ctx,
    () => queueDepths(ctx),
    () => w.advance('2 seconds'),
  )
  expect(text).toMatch(/^app_log_up\{log="nats"\} 0$/m)
  expect(text).toMatch(/^app_database_up 1$/m)
  expect(text).toMatch(/^app_queue_jobs\{queue="messages"/m)
  expect(text).not.toMatch(/queue="log"/)
})

import { expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { queueDepths } from '../../workers.ts'
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
  expect((await get('/metrics')).status).toBe(503)
  await listener[Symbol.asyncDispose]()
  await expect(fetch(`${url}/livez`)).rejects.toThrow()
})

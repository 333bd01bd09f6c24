import { expect, test } from 'vitest'
import { blastTo, listOf, write } from '../../../test/blasts.ts'
import { failSaves } from '../../../test/failing-saves.ts'
import { createJourney, READY } from '../../../test/journeys.ts'
import { world } from '../../../test/world.ts'
import { queueDepths } from '../../workers.ts'

/** What PostgreSQL says of a transaction that is run again. */
const DEADLOCK = '40P01'

const COUNTERS = /^app_(?:events_ingested|journey_users|journey_rounds)_total\{\w+="(\w+)"\} (\d+)$/gm

test('liveness, readiness and version need no key', async () => {
  await using w = await world()
  const none = { key: null }
  expect((await w.get('/livez', none)).body).toEqual({ status: 'ok' })
  expect((await w.get('/healthz', none)).status).toBe(200)
  expect((await w.get('/readyz', none)).body).toEqual({ status: 'ok', checks: { draining: 'no', database: 'ok' } })
  expect((await w.get('/version', none)).body.version).toMatch(/^\d+\.\d+\.\d+$/)
})

test('without its database, a server is alive but not ready, and does not expose the reason', async () => {
  await using w = await world({ own: true })
  await w.db[Symbol.asyncDispose]()
  expect((await w.get('/livez', { key: null })).status).toBe(200)
  expect((await w.get('/readyz', { key: null })).body).toEqual({
    status: 'unavailable',
    checks: { draining: 'no', database: 'unreachable' },
  })
})

test('the metrics count requests, events and waiting jobs', async () => {
  await using w = await world({ own: true })
  await w.post('/api/client/events', [{ name: 'x', external_id: 'kim' }])
  w.advance('7 seconds')
  await queueDepths(w.ctx)
  const { text } = await w.get('/metrics', { key: null })
  expect(text).toContain('app_events_ingested_total{result="accepted"} 1')
  expect(text).toContain('app_queue_jobs{queue="ingest",state="waiting"} 1')
  expect(text).toContain('app_queue_oldest_job_age_seconds{queue="ingest"} 7')
  expect(text).toMatch(/http_request_duration_seconds_count\{method="POST",route="\/api\/client\/events",status_class="2xx"\} 1/)
  await w.drain()
  await queueDepths(w.ctx)
  expect((await w.get('/metrics', { key: null })).text).toContain('app_queue_jobs{queue="ingest",state="waiting"} 0')
})

test('the metrics count what a batch did once, also if its transaction is repeated', async () => {
  await using w = await world({ own: true })
  const entrance = { type: 'entrance', name: '', x: 0, y: 0, data: { trigger: 'event', event_name: 'x' }, children: [] }
  await createJourney(w, { status: 'live' }, { start: entrance })
  await w.users('kim')
  await w.drain()
  const counted = async () =>
    Object.fromEntries(
      [...(await w.get('/metrics', { key: null })).text.matchAll(COUNTERS)].map(([, what, count]) => [what as string, Number(count)]),
    )
  const before = await counted()
  await w.post(
    '/api/client/events',
    [1, 2].map(() => ({ name: 'x', external_id: 'kim', event_id: 'e1' })),
  )
  await using _ = await failSaves(w, { table: 'event_ids', on: 'insert', when: 'true', code: DEADLOCK, atCommit: true, times: 1 })
  await w.drain()
  const { accepted = 0, processed = 0, waves = 0 } = before
  expect(await counted()).toMatchObject({
    accepted: accepted + 2,
    processed: processed + 1,
    duplicate: 1,
    entered: 1,
    ended: 1,
    waves: waves + 1,
  })
})

test('the metrics count the steps of journeys by their kind, and time the rules of lists', async () => {
  await using w = await world({ own: true })
  await createJourney(w, { status: 'live' }, READY)
  await w.post('/api/client/lists', { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })
  await w.drain()
  await w.post('/api/client/events', [{ name: 'cart', external_id: 'kim' }])
  await w.drain()
  const counted = async () => {
    const { text } = await w.get('/metrics', { key: null })
    const steps = [...text.matchAll(/^app_journey_steps_total\{kind="(\w+)",outcome="(\w+)"\} (\d+)$/gm)]
    const kinds = [...text.matchAll(/^app_list_evaluation_duration_seconds_count\{kind="(\w+)"\} [1-9]/gm)]
    return { steps: steps.map(([, ...of]) => of.join(' ')).sort(), kinds: kinds.map(([, kind]) => kind).sort() }
  }
  expect(await counted()).toEqual({ steps: ['delay arrived 1', 'entrance arrived 1', 'entrance passed 1'], kinds: ['build', 'change'] })
  w.advance('48 hours')
  await w.drain()
  await w.post('/api/client/lists/preview', { rule: { attribute: 'data.plan', is: 'pro' } })
  const { steps, kinds } = await counted()
  expect(steps).toEqual(expect.arrayContaining(['delay passed 1', 'exit arrived 1', 'exit left 1']))
  expect(kinds).toEqual(['build', 'change', 'preview'])
})

test('the metrics tell how far running blasts are, and nothing of those that are paused or finished', async () => {
  await using w = await world({ own: true })
  const blast = await blastTo(w, [await listOf(w, 'ana', 'kim', 'lee')])
  await write(w, blast, { state: 'scheduled' })
  const series = async () => {
    await queueDepths(w.ctx)
    return [
      ...(await w.get('/metrics', { key: null })).text.matchAll(/^app_campaign(?:s_running|_messages\{.*state="(\w+)"\}) (\d+)$/gm),
    ].map(([, state = 'running', count]) => `${state} ${count}`)
  }
  await w.drain('campaigns.launch', 'campaigns.load')
  expect(await series()).toEqual(['running 1', 'waiting 3', 'done 0'])
  await w.post(`/api/client/campaigns/${blast.id}/pause`)
  expect(await series()).toEqual(['running 0'])
  await w.post(`/api/client/campaigns/${blast.id}/resume`)
  await w.drain()
  expect(await series()).toEqual(['running 0'])
})

test('the metrics need the token if one is set', async () => {
  await using w = await world({ env: { METRICS_TOKEN: 'a-token-for-prometheus' } })
  expect((await w.get('/metrics', { key: null })).status).toBe(401)
  expect((await w.get('/metrics', { key: null, headers: { authorization: 'Bearer a-token-for-prometheus' } })).status).toBe(200)
})

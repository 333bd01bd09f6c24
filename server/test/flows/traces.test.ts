/** One trace from the request to the delivery, exported over OTLP; nothing of it without an endpoint. */
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { traceOf } from '../../src/infra/runtime/tracing.ts'
import { CAMPAIGNS, subscriptionTo } from '../blasts.ts'
import { openCollector } from '../collector.ts'
import { rowsOf } from '../statements.ts'
import { type World, world } from '../world.ts'

const { cache } = createRequire(import.meta.url)
const loaded = () => Object.keys(cache).filter((path) => path.includes('sdk-trace-node'))

/** A message of a trigger campaign by an event, with a webhook about it. Returns the request and the webhooks. */
async function deliverOne(w: World) {
  const receiver = await w.receiver()
  await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: ['delivery.delivered'] })
  const body = { type: 'trigger', name: 'Thanks', subscription_id: await subscriptionTo(w), event_name: 'bought' }
  const campaign = await w.post(CAMPAIGNS, body)
  const template = { from: 'Shop <shop@example.com>', subject: 'Hi', html: '<p>Hello</p>' }
  await w.put(`${CAMPAIGNS}/${campaign.body.id}/templates/en`, template)
  await w.patch(`${CAMPAIGNS}/${campaign.body.id}`, { state: 'running' })
  await w.users('ana', 'kim')
  await w.drain()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const first = await w.post('/api/client/events', [{ name: 'bought', external_id: 'ana' }], { headers: { traceparent } })
  const second = await w.post('/api/client/events', [{ name: 'bought', external_id: 'kim' }])
  await w.drain()
  return { requests: [first, second].map(({ headers }) => headers['x-request-id'] as string), webhooks: receiver.requests }
}

test('without an endpoint there is no trace, no statement for one, and the SDK is not loaded', async () => {
  await using w = await world({ own: true })
  const { webhooks } = await deliverOne(w)
  expect(webhooks.length).toBeGreaterThan(0)
  expect(webhooks.map(({ headers }) => headers.traceparent)).toEqual(webhooks.map(() => undefined))
  expect(await rowsOf(w.databaseUrl, 'select from traced_messages')).toEqual([])
  expect(loaded()).toEqual([])
})

test('a request, its application, the message and its webhook are one trace', async () => {
  await using collector = await openCollector()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-team=shop%20floor' }
  const w = await world({ own: true, env })
  const { requests, webhooks } = await deliverOne(w)
  await w[Symbol.asyncDispose]()
  for (const [at, request] of requests.entries()) {
    const { traceId, spanId } = traceOf(request)
    const spans = collector.spans.filter((span) => span.traceId === traceId)
    const names = spans.map(({ name }) => name).toSorted()
    expect(names).toEqual(['POST /api/client/events', 'apply', 'deliver webhook', 'send email'])
    const [root] = spans.filter(({ parentId }) => parentId === '')
    expect(root).toMatchObject({ name: 'POST /api/client/events', spanId, links: at === 0 ? ['0af7651916cd43dd8448eb211c80319c'] : [] })
    expect(spans.filter((span) => span !== root).map(({ parentId }) => parentId)).toEqual([spanId, spanId, spanId])
    const delivered = spans.find(({ name }) => name === 'deliver webhook')
    expect(webhooks.map(({ headers }) => headers.traceparent)).toContain(`00-${traceId}-${delivered?.spanId}-01`)
  }
  expect(collector.headers[0]).toMatchObject({ path: '/v1/traces', 'x-team': 'shop floor' })
})

test('a share of the traces can be exported, whole or not at all', async () => {
  await using collector = await openCollector()
  const w = await world({ own: true, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '0' } })
  const { webhooks } = await deliverOne(w)
  await w[Symbol.asyncDispose]()
  expect(collector.spans).toEqual([])
  expect(webhooks[0]?.headers.traceparent).toMatch(/-00$/)
})

test('the trace of a request has the bits of its id', () => {
  expect(traceOf('req_00000000000000000000000000')).toEqual({ traceId: '0'.repeat(32), spanId: '0'.repeat(16) })
  expect(traceOf('req_7ZZZZZZZZZZZZZZZZZZZZZZZZZ')).toEqual({ traceId: 'f'.repeat(32), spanId: 'f'.repeat(16) })
})

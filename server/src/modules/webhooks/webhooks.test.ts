import { Webhook } from 'standardwebhooks'
import { Type } from 'typebox'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Receiver } from '../../../test/receiver.ts'
import { SOON } from '../../../test/wait.ts'
import { type RequestOptions, type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/times.ts'
import { emit, webhookEvents } from '../webhook-events/index.ts'
import { verifySignature } from './index.ts'

const WEBHOOKS = '/api/client/webhooks'
const URL = 'https://hooks.example.com/carillon'
const NULL_MX = 'delivery.null-mx'
const FAILED = 'delivery.failed'

const input = { name: 'Warehouse', url: URL, event_types: [NULL_MX] }

let only: Promise<World> | undefined
/** A world shared by tests of refused requests, which change nothing. */
const shared = () => (only ??= world())
afterAll(async () => (await only)?.[Symbol.asyncDispose]())

/** Creates an endpoint with the URL of a receiver. */
async function endpointAt(w: World, { url }: { url: string }, event_types: string[] = [NULL_MX]) {
  const { status, body } = await w.post(WEBHOOKS, { ...input, url, event_types })
  expect(status).toBe(201)
  return body as { id: number; signing_secret: string }
}

async function open(env?: Record<string, string>) {
  const w = await world(env && { env })
  const receiver = await w.receiver()
  return { w, receiver, [Symbol.asyncDispose]: () => w[Symbol.asyncDispose]() }
}

const emitNullMx = (ctx: ProjectCtx, ...domains: string[]) =>
  inTx(ctx, (ctx) => emit(ctx, () => domains.map((domain) => webhookEvents.deliveryNullMx.of({ domain }))))

const domainsOf = ({ requests }: Receiver) => requests.map(({ json }) => (json.data as { domain?: string }).domain)

const deliveries = async (w: World, id: number, options: RequestOptions = {}) =>
  (await w.get(`${WEBHOOKS}/${id}/deliveries`, options)).body.results as Record<string, unknown>[]

const millisecondsFrom = (w: World, time: unknown) => Date.parse(String(time)) - w.clock.now().getTime()

describe('an endpoint', () => {
  test('is created active, with a generated secret that is shown once', async () => {
    await using w = await world()
    const created = await w.post(WEBHOOKS, { ...input, description: '', event_types: [FAILED, NULL_MX, FAILED] })
    expect(created.status).toBe(201)
    const { id, signing_secret, ...rest } = created.body
    expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(rest).toEqual({
      project_id: w.projectId,
      name: 'Warehouse',
      url: URL,
      status: 'active',
      event_types: [FAILED, NULL_MX],
      has_secret: true,
      created_at: '2026-11-23T09:00:00.000Z',
      updated_at: '2026-11-23T09:00:00.000Z',
    })
    expect(created.headers.location).toBe(`${WEBHOOKS}/${id}`)
    expect((await w.get(`${WEBHOOKS}/${id}`)).body).toEqual({ id, ...rest })
    expect((await w.get(WEBHOOKS)).body.results).toEqual([{ id, ...rest }])
  })

  test('keeps a secret of the caller unchanged and encrypted', async () => {
    await using w = await world()
    const signing_secret = '  sixteen or more ü  '
    const { body } = await w.post(WEBHOOKS, { ...input, signing_secret })
    expect(body.signing_secret).toBe(signing_secret)
    const Row = Type.Object({ sealed: Type.String() })
    const row = await w.db.first(
      Row,
      sql`select sealed from webhook_secrets where project_id = ${w.projectId} and endpoint_id = ${body.id}`,
    )
    expect(row?.sealed).not.toContain('sixteen')
  })

  test('is created once with an Idempotency-Key, and every reply has the same secret', async () => {
    await using w = await world()
    const options = { headers: { 'idempotency-key': 'once' } }
    const first = await w.post(WEBHOOKS, input, options)
    const again = await w.post(WEBHOOKS, { event_types: [NULL_MX], url: URL, name: 'Warehouse' }, options)
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect((await w.get(WEBHOOKS)).body.results).toHaveLength(1)
    expect((await w.post(WEBHOOKS, { ...input, name: 'Other' }, options)).status).toBe(409)
  })

  test.each<[string, object, number, string, string]>([
    ['no name', { name: undefined }, 400, 'parameter_missing', 'name'],
    ['a blank name', { name: ' ' }, 400, 'parameter_invalid_empty', 'name'],
    ['a long name', { name: 'x'.repeat(256) }, 422, 'validation_failed', 'name'],
    ['no types', { event_types: [] }, 400, 'parameter_invalid_empty', 'event_types'],
    ['an unknown type', { event_types: [NULL_MX, 'delivery.lost'] }, 400, 'parameter_invalid_format', 'event_types[1]'],
    ['types that are not a list', { event_types: NULL_MX }, 400, 'parameter_invalid_format', 'event_types'],
    ['a null description', { description: null }, 400, 'parameter_invalid_format', 'description'],
    ['a short secret', { signing_secret: 'x'.repeat(15) }, 422, 'validation_failed', 'signing_secret'],
    ['a long secret', { signing_secret: 'x'.repeat(257) }, 422, 'validation_failed', 'signing_secret'],
    ['an empty secret', { signing_secret: '' }, 400, 'parameter_invalid_empty', 'signing_secret'],
    ['a blank secret', { signing_secret: ' '.repeat(20) }, 400, 'parameter_invalid_empty', 'signing_secret'],
    ['a secret with a line break', { signing_secret: `${'x'.repeat(16)}\n` }, 400, 'parameter_invalid_format', 'signing_secret'],
    ['a status', { status: 'active' }, 400, 'parameter_unknown', 'status'],
    ['plain HTTP', { url: 'http://hooks.example.com' }, 400, 'parameter_invalid_format', 'url'],
    ['a blank URL', { url: '' }, 400, 'parameter_invalid_empty', 'url'],
    ['a user in the URL', { url: 'https://kim@hooks.example.com' }, 400, 'parameter_invalid_format', 'url'],
    ['a fragment in the URL', { url: `${URL}#here` }, 400, 'parameter_invalid_format', 'url'],
    ['a private address', { url: 'https://10.1.2.3/' }, 400, 'parameter_invalid_format', 'url'],
    ['a cloud metadata address', { url: 'https://169.254.169.254/' }, 400, 'parameter_invalid_format', 'url'],
    ['an internal name', { url: 'https://db.internal/' }, 400, 'parameter_invalid_format', 'url'],
    ['a long URL', { url: `https://hooks.example.com/${'x'.repeat(2048)}` }, 422, 'validation_failed', 'url'],
  ])('is refused with %s', async (_, wrong, status, code, param) => {
    const w = await shared()
    const reply = await w.post(WEBHOOKS, { ...input, ...wrong })
    expect([reply.status, reply.body.code, reply.body.error.param]).toEqual([status, code, param])
  })

  test('is refused with another form of a loopback address, if loopback is not allowed', async () => {
    await using w = await world({ env: { EGRESS_ALLOW_CIDRS: '192.168.7.0/24' } })
    w.replaceFetch({ policy: { ...w.ctx.fetch.policy, allowed: [] } })
    for (const url of ['https://2130706433/', 'https://0x7f.1/', 'https://127.0.0.1/', 'https://[::1]/', 'https://localhost/']) {
      expect((await w.post(WEBHOOKS, { ...input, url })).status).toBe(400)
    }
  })

  test('is refused if the project has 500', async () => {
    await using w = await world()
    await w.db.run(
      sql`insert into webhook_endpoints (project_id, name, url, status, event_types, api_version, created_at, updated_at)
          select ${w.projectId}, 'n', ${URL}, 'active', array[${NULL_MX}], '2026-11-20', ${w.clock.now()}, ${w.clock.now()} from generate_series(1, 500)`,
    )
    const refused = await w.post(WEBHOOKS, input)
    expect([refused.status, refused.body.code]).toEqual([429, 'quota_exceeded'])
    const [{ id }] = (await w.get(WEBHOOKS)).body.results
    await w.delete(`${WEBHOOKS}/${id}`)
    expect((await w.post(WEBHOOKS, input)).status).toBe(201)
  })

  test('is updated by member, and its time only if something changed', async () => {
    await using w = await world()
    const { id } = (await w.post(WEBHOOKS, { ...input, description: 'Stock levels' })).body
    w.advance('1 minute')
    const same = await w.patch(`${WEBHOOKS}/${id}`, {})
    expect(same.body).toMatchObject({ description: 'Stock levels', updated_at: '2026-11-23T09:00:00.000Z' })
    expect((await w.patch(`${WEBHOOKS}/${id}`, { name: ' Warehouse ' })).body.updated_at).toBe('2026-11-23T09:00:00.000Z')
    const changed = await w.patch(`${WEBHOOKS}/${id}`, {
      name: 'Depot',
      description: null,
      event_types: [FAILED],
      url: 'https://new.example.com/',
    })
    expect(changed.body).toMatchObject({
      name: 'Depot',
      event_types: [FAILED],
      url: 'https://new.example.com/',
      updated_at: '2026-11-23T09:01:00.000Z',
    })
    expect(changed.body).not.toHaveProperty('description')
    expect(changed.body).not.toHaveProperty('signing_secret')
  })

  test.each<[object, number, string]>([
    [{ status: 'disabled' }, 400, 'parameter_invalid_format'],
    [{ signing_secret: 'x'.repeat(20) }, 400, 'parameter_unknown'],
    [{ url: 'https://10.0.0.1/' }, 400, 'parameter_invalid_format'],
    [{ event_types: [] }, 400, 'parameter_invalid_empty'],
    [{ name: null }, 400, 'parameter_invalid_format'],
  ])('cannot be updated with %j', async (changes, status, code) => {
    const w = await shared()
    const { id } = (await w.post(WEBHOOKS, input)).body
    const reply = await w.patch(`${WEBHOOKS}/${id}`, changes)
    expect([reply.status, reply.body.code]).toEqual([status, code])
  })

  test('does not exist after it was deleted', async () => {
    await using w = await world()
    const { id } = (await w.post(WEBHOOKS, input)).body
    expect((await w.delete(`${WEBHOOKS}/${id}`)).status).toBe(204)
    expect((await w.delete(`${WEBHOOKS}/${id}`)).status).toBe(404)
    expect((await w.get(`${WEBHOOKS}/${id}`)).status).toBe(404)
    expect((await w.get(`${WEBHOOKS}/${id}/deliveries`)).status).toBe(404)
    expect((await w.get(WEBHOOKS)).body.results).toEqual([])
  })

  test('can be read with any role and changed with `admin` only', async () => {
    await using w = await world()
    const { id } = (await w.post(WEBHOOKS, input)).body
    const path = `${WEBHOOKS}/${id}`
    for (const key of [w.keys.support, w.keys.editor, w.keys.publisher]) {
      for (const read of [WEBHOOKS, path, `${path}/deliveries`]) expect((await w.get(read, { key })).status).toBe(200)
      const writes = [
        w.post(WEBHOOKS, input, { key }),
        w.patch(path, {}, { key }),
        w.delete(path, { key }),
        w.post(`${path}/rotate-secret`, undefined, { key }),
        w.post(`${path}/test`, undefined, { key }),
        w.post(`${path}/deliveries/1/resend`, undefined, { key }),
      ]
      expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403])
    }
  })

  test('of another project does not exist', async () => {
    await using w = await world()
    const { id } = (await w.post(WEBHOOKS, input)).body
    const { delivery_id } = (await w.post(`${WEBHOOKS}/${id}/test`)).body
    const { keys } = await w.other()
    const key = keys.secret
    const path = `${WEBHOOKS}/${id}`
    const replies = await Promise.all([
      w.get(path, { key }),
      w.patch(path, { name: 'Mine' }, { key }),
      w.delete(path, { key }),
      w.post(`${path}/rotate-secret`, undefined, { key }),
      w.post(`${path}/test`, undefined, { key }),
      w.get(`${path}/deliveries`, { key }),
      w.post(`${path}/deliveries/${delivery_id}/resend`, undefined, { key }),
    ])
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 404])
    expect((await w.get(WEBHOOKS, { key })).body.results).toEqual([])
    expect((await w.get(path)).body.name).toBe('Warehouse')
  })

  test('is found by its name and URL', async () => {
    await using w = await world()
    for (const name of ['Beta', 'Alpha'])
      await w.post(WEBHOOKS, { ...input, name, url: `https://${name}.example.com/`, description: `About ${name}` })
    expect((await w.get(`${WEBHOOKS}?sort=name`)).body.results.map(({ name }: { name: string }) => name)).toEqual(['Alpha', 'Beta'])
    expect((await w.get(`${WEBHOOKS}?q=about%20beta`)).body.results).toHaveLength(1)
    expect((await w.get(`${WEBHOOKS}?sort=url`)).status).toBe(400)
  })
})

describe('an event', () => {
  test('is delivered to endpoints that were active and subscribed when it occurred', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const [late, paused, other] = [await w.receiver(), await w.receiver(), await w.receiver()]
    await endpointAt(w, receiver)
    await endpointAt(w, other, [FAILED])
    const { id } = await endpointAt(w, paused)
    await w.patch(`${WEBHOOKS}/${id}`, { status: 'inactive' })
    await emitNullMx(w.ctx, 'one.example')
    await w.patch(`${WEBHOOKS}/${id}`, { status: 'active' })
    await endpointAt(w, late)
    await w.drain()
    expect([receiver, other, paused, late].map(domainsOf)).toEqual([['one.example'], [], [], []])
    await emitNullMx(w.ctx, 'two.example')
    await w.drain()
    expect([receiver, other, paused, late].map(domainsOf)).toEqual([['one.example', 'two.example'], [], ['two.example'], ['two.example']])
  })

  test('arrives signed, and with exactly the signed bytes', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id, signing_secret } = await endpointAt(w, receiver)
    await emitNullMx(w.ctx, 'zoë.example')
    w.advance('2 minutes')
    await w.drain()
    const [request] = receiver.requests
    expect(request).toMatchObject({ method: 'POST', path: '/hook' })
    const { headers = {}, body = '', json = {} } = request ?? {}
    const [delivery] = await deliveries(w, id)
    expect(body).toBe(
      `{"id":"${delivery?.event_id}","type":"delivery.null-mx","timestamp":"2026-11-23T09:00:00.000Z","project_id":${w.projectId},"api_version":"2026-11-20","data":{"domain":"zoë.example"}}`,
    )
    expect(json.id).toMatch(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Carillon-Webhooks/1.0', 'webhook-id': json.id })
    expect(headers['webhook-timestamp']).toBe(String(w.clock.now().getTime() / 1000))
    expect(verifySignature(headers['service-signature'] ?? '', body, signing_secret, w.clock.now())).toBe(true)
    expect(headers['webhook-signature']).toBe(new Webhook(signing_secret).sign(String(json.id), w.clock.now(), body))
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1, last_status_code: 200, last_error: null, next_attempt_at: null })
  })

  test('is the same for every endpoint and every attempt', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const second = await w.receiver()
    await endpointAt(w, receiver)
    await endpointAt(w, second)
    receiver.answer(500)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    w.advance('6 seconds')
    await w.drain()
    expect(receiver.requests).toHaveLength(2)
    expect(new Set([...receiver.requests, ...second.requests].map(({ body }) => body)).size).toBe(1)
    expect(new Set(receiver.requests.map(({ headers }) => headers['service-signature'])).size).toBe(2)
  })

  test('is delivered once among many', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    await endpointAt(w, receiver)
    const domains = Array.from({ length: 1200 }, (_, index) => `d${index}.example`)
    await emitNullMx(w.ctx, ...domains)
    await w.drain()
    expect(domainsOf(receiver).sort()).toEqual(domains.sort())
  })

  test('is sent once by parallel workers', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    await endpointAt(w, receiver)
    const domains = Array.from({ length: 300 }, (_, index) => `d${index}.example`)
    await emitNullMx(w.ctx, ...domains)
    await Promise.all([w.drain(), w.drain(), w.drain()])
    await w.drain()
    expect(domainsOf(receiver).sort()).toEqual(domains.sort())
  })

  test('does not wait for a slow endpoint', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const slow = await w.receiver()
    slow.answer(500)
    const release = slow.hold()
    await endpointAt(w, slow)
    await emitNullMx(w.ctx, ...Array.from({ length: 24 }, (_, index) => `slow${index}.example`))
    const { id } = await endpointAt(w, receiver)
    await emitNullMx(w.ctx, 'quick.example')
    const draining = w.drain()
    // The fast delivery is behind many older ones, of which none has been answered.
    await expect.poll(() => deliveries(w, id)).toMatchObject([{ status: 'succeeded' }])
    release()
    await draining
    expect(domainsOf(receiver)).toEqual(['quick.example'])
    expect(domainsOf(slow)).toContain('quick.example')
  })

  test('of a worker that died is sent by another once its lease expires', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    await w.post(`${WEBHOOKS}/${id}/test`)
    const lease = (until: string) =>
      w.db.run(
        sql`update webhook_deliveries set lease_until = now() + ${until}::interval where project_id = ${w.projectId} and endpoint_id = ${id}`,
      )
    await lease('1 minute')
    await w.drain()
    expect(receiver.requests).toHaveLength(0)
    await lease('-1 second')
    await w.drain()
    expect(receiver.requests).toHaveLength(1)
  })

  test('is deleted after 30 days, with its deliveries and attempts', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    w.advance('29 days')
    await w.drain()
    expect(await deliveries(w, id)).toHaveLength(1)
    w.advance('2 days')
    await w.drain()
    expect(await deliveries(w, id)).toEqual([])
    const Left = Type.Object({ events: Type.Integer(), attempts: Type.Integer() })
    const left = await w.db.first(
      Left,
      sql`select (select count(*) from webhook_events where project_id = ${w.projectId}) as events,
                 (select count(*) from webhook_attempts where project_id = ${w.projectId}) as attempts`,
    )
    expect(left).toEqual({ events: 0, attempts: 0 })
  })
})

describe('a failure', () => {
  test('is retried by the schedule, with eight attempts in all', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(500)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    for (const [index, seconds] of [5, 300, 1800, 7200, 18_000, 36_000, 36_000].entries()) {
      const [delivery] = await deliveries(w, id)
      expect(delivery).toMatchObject({
        status: 'pending',
        attempts: index + 1,
        last_status_code: 500,
        last_error: 'The server responded with status 500.',
      })
      const wait = millisecondsFrom(w, delivery?.next_attempt_at)
      expect(wait).toBeGreaterThanOrEqual(seconds * 800 - 1)
      expect(wait).toBeLessThanOrEqual(seconds * 1200 + 1)
      w.advance(wait - 1)
      await w.drain()
      expect(receiver.requests).toHaveLength(index + 1)
      w.advance(1)
      await w.drain()
      expect(receiver.requests).toHaveLength(index + 2)
    }
    expect(await deliveries(w, id)).toMatchObject([{ status: 'failed', attempts: 8, next_attempt_at: null }])
    w.advance('29 days')
    await w.drain()
    expect(receiver.requests).toHaveLength(8)
  })

  test.each<[string, number | 'hang', Record<string, string>, number | null, string]>([
    [
      'a redirect, which is not followed',
      302,
      { location: 'https://127.0.0.1:1025/' },
      302,
      'The server responded with a redirect (302), which is not followed.',
    ],
    ['a status 404', 404, {}, 404, 'The server responded with status 404.'],
    ['no response', 'hang', {}, null, 'The server did not respond within 1000 ms.'],
  ])('is %s', async (_, answer, headers, last_status_code, last_error) => {
    await using opened = await open(answer === 'hang' ? { WEBHOOK_TIMEOUT_MS: '1000' } : undefined)
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(answer, headers)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    expect(receiver.requests).toHaveLength(1)
    expect(await deliveries(w, id)).toMatchObject([{ status: 'pending', attempts: 1, last_status_code, last_error }])
  })

  test('is an address that became private after the endpoint was created', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    await w.db.run(sql`update webhook_endpoints set url = 'https://10.0.0.1/' where project_id = ${w.projectId} and id = ${id}`)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    expect(await deliveries(w, id)).toMatchObject([
      { status: 'pending', last_error: 'The host has no address that this server may connect to.' },
    ])
  })

  test('is a secret that cannot be read, which does not affect other endpoints', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, { url: 'https://127.0.0.1:1025/' })
    await endpointAt(w, receiver)
    await w.db.run(sql`update webhook_secrets set sealed = 'gone.AAAA' where project_id = ${w.projectId} and endpoint_id = ${id}`)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    expect(domainsOf(receiver)).toEqual(['one.example'])
    expect(await deliveries(w, id)).toMatchObject([{ status: 'pending', last_error: 'The signing secret cannot be read. Rotate it.' }])
  })

  test('ends with a new secret, although the one before cannot be read', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    await w.db.run(sql`update webhook_secrets set sealed = 'gone.AAAA' where project_id = ${w.projectId} and endpoint_id = ${id}`)
    const { signing_secret } = (await w.post(`${WEBHOOKS}/${id}/rotate-secret`, {})).body
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    expect(domainsOf(receiver)).toEqual(['one.example'])
    const { headers, body } = receiver.requests[0] ?? { headers: {} as Record<string, string>, body: '' }
    expect(verifySignature(headers['service-signature'] ?? '', body, signing_secret, w.clock.now())).toBe(true)
  })

  test('uses Retry-After within its step', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(503, { 'retry-after': '9' })
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    expect(millisecondsFrom(w, (await deliveries(w, id))[0]?.next_attempt_at)).toBe(MINUTE_MS)
    w.advance('1 minute')
    receiver.answer(503, { 'retry-after': '599' })
    await w.drain()
    expect(millisecondsFrom(w, (await deliveries(w, id))[0]?.next_attempt_at)).toBe(599_000)
  })

  test('is recorded for each attempt, and shown with the signed request, without characters that cannot be stored', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(500)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    w.advance('6 seconds')
    receiver.answer(204)
    await w.drain()
    const [delivery] = await deliveries(w, id)
    const path = `${WEBHOOKS}/${id}/deliveries/${delivery?.id}`
    const { body } = await w.get(path)
    expect(body).toMatchObject({ ...delivery, url: receiver.url, body: receiver.requests[0]?.body })
    expect(body.attempt_log).toMatchObject([
      { status_code: 204, error: null, response_body: '' },
      { status_code: 500, error: 'The server responded with status 500.', response_body: 'seen' },
    ])
    const signatures = body.attempt_log.map(({ headers }: { headers: Record<string, string> }) => headers['service-signature'])
    expect(signatures).toEqual(receiver.requests.map(({ headers }) => headers['service-signature']).toReversed())
    const other = await endpointAt(w, receiver)
    expect((await w.get(`${WEBHOOKS}/${other.id}/deliveries/${delivery?.id}`)).status).toBe(404)
  })
})

describe('suspension', () => {
  const soon = { WEBHOOK_DISABLE_AFTER_FAILURES: '3', WEBHOOK_DISABLE_AFTER_HOURS: '0' }
  const statusOf = async (w: World, id: number) => (await w.get(`${WEBHOOKS}/${id}`)).body.status

  test('stops events, cancels pending deliveries, and has a reason', async () => {
    await using opened = await open(soon)
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(500)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    w.advance('10 seconds')
    await w.drain()
    expect(await statusOf(w, id)).toBe('active')
    w.advance('10 minutes')
    await w.drain()
    expect((await w.get(`${WEBHOOKS}/${id}`)).body).toMatchObject({
      status: 'disabled',
      disabled_reason: '3 consecutive attempts failed, the first at 2026-11-23T09:00:00.000Z.',
      updated_at: '2026-11-23T09:10:10.000Z',
    })
    expect(await deliveries(w, id)).toMatchObject([{ status: 'cancelled', attempts: 3, next_attempt_at: null }])
    await emitNullMx(w.ctx, 'three.example')
    w.advance('1 day')
    await w.drain()
    expect(receiver.requests).toHaveLength(3)
  })

  test('ends when the endpoint is set active, which resets its counters and sends no earlier events', async () => {
    await using opened = await open(soon)
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(500)
    await emitNullMx(w.ctx, 'one.example', 'two.example', 'three.example')
    await w.drain()
    expect(await statusOf(w, id)).toBe('disabled')
    await emitNullMx(w.ctx, 'missed.example')
    const resumed = await w.patch(`${WEBHOOKS}/${id}`, { status: 'active' })
    expect(resumed.body.status).toBe('active')
    expect(resumed.body).not.toHaveProperty('disabled_reason')
    receiver.requests.length = 0
    await emitNullMx(w.ctx, 'four.example', 'five.example')
    await w.drain()
    expect(domainsOf(receiver).sort()).toEqual(['five.example', 'four.example'])
    expect(await statusOf(w, id)).toBe('active')
  })

  test('does not happen while some deliveries succeed', async () => {
    await using opened = await open(soon)
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    for (const answer of [500, 500, 200, 500, 500, 200]) {
      receiver.answer(answer)
      await w.post(`${WEBHOOKS}/${id}/test`)
      await w.drain()
    }
    expect(await statusOf(w, id)).toBe('active')
  })

  test('counts failures, and their time, from the first one after a success or a resumption', async () => {
    await using opened = await open({
      WEBHOOK_DISABLE_AFTER_FAILURES: '3',
      WEBHOOK_DISABLE_AFTER_HOURS: '2',
      WEBHOOK_RETRY_SCHEDULE: '1000000',
    })
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    const attempt = async (...answers: number[]) => {
      for (const answer of answers) {
        receiver.answer(answer)
        await w.post(`${WEBHOOKS}/${id}/test`)
        await w.drain()
      }
      return statusOf(w, id)
    }
    expect(await attempt(500, 500)).toBe('active')
    w.advance('90 minutes')
    expect(await attempt(200, 500, 500, 500)).toBe('active')
    // The first failure of all is two and a half hours old, the first since the success one hour.
    w.advance('60 minutes')
    expect(await attempt(500)).toBe('active')
    w.advance('60 minutes')
    expect(await attempt(500)).toBe('disabled')
    expect((await w.get(`${WEBHOOKS}/${id}`)).body.disabled_reason).toBe(
      '5 consecutive attempts failed, the first at 2026-11-23T10:30:00.000Z.',
    )
    // Resumed, it counts anew; written to while it is active, it does not.
    await w.patch(`${WEBHOOKS}/${id}`, { status: 'active' })
    expect(await attempt(500, 500, 500)).toBe('active')
    await w.patch(`${WEBHOOKS}/${id}`, { status: 'active', name: 'Depot' })
    w.advance('2 hours')
    expect(await attempt(500)).toBe('disabled')
    expect(receiver.requests).toHaveLength(12)
  })

  test('does not happen before five days of failures', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(500)
    await emitNullMx(w.ctx, ...Array.from({ length: 30 }, (_, index) => `d${index}.example`))
    await w.drain()
    w.advance('4 days')
    await w.drain()
    expect(await statusOf(w, id)).toBe('active')
    w.advance('1 day')
    await w.drain()
    expect(await statusOf(w, id)).toBe('disabled')
  })

  test('happens at once after 410', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(410)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    expect((await w.get(`${WEBHOOKS}/${id}`)).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'The endpoint responded with 410 Gone.',
    })
    expect(await deliveries(w, id)).toMatchObject([{ status: 'failed', last_status_code: 410 }])
  })

  test.each([
    ['410', 410, 0],
    ['the last of too many failures', 500, 19],
  ])('does not happen to an endpoint with a new URL after %s of the former one', async (_, status, failures) => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    const since = failures === 0 ? null : new Date(w.clock.now().getTime() - 6 * DAY_MS)
    await w.db.run(sql`update webhook_endpoints set consecutive_failures = ${failures}, first_failure_at = ${since} where id = ${id}`)
    receiver.answer(status)
    const release = receiver.hold()
    await emitNullMx(w.ctx, 'one.example')
    const draining = w.drain()
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), SOON)
    const moved = await w.receiver()
    expect((await w.patch(`${WEBHOOKS}/${id}`, { url: moved.url })).status).toBe(200)
    release()
    await draining
    expect(await statusOf(w, id)).toBe('active')
    await emitNullMx(w.ctx, 'two.example')
    w.advance('1 minute')
    await w.drain()
    expect(domainsOf(moved)).toContain('two.example')
  })

  test('is logged', async () => {
    const lines: string[] = []
    await using w = await world({ log: { write: (line) => lines.push(line) } })
    const receiver = await w.receiver()
    const { id } = await endpointAt(w, receiver)
    receiver.answer(410)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    const warning = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'webhook endpoint suspended')
    expect(warning).toMatchObject({
      level: 'warn',
      project_id: w.projectId,
      endpoint_id: id,
      reason: 'The endpoint responded with 410 Gone.',
    })
  })
})

describe('a pause', () => {
  test.each([
    ['pausing', (w: World, id: number) => w.patch(`${WEBHOOKS}/${id}`, { status: 'inactive' })],
    ['deleting', (w: World, id: number) => w.delete(`${WEBHOOKS}/${id}`)],
  ])('by %s cancels pending deliveries, dispatched or not', async (_, stop) => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(500)
    await emitNullMx(w.ctx, 'retried.example')
    await w.drain()
    await emitNullMx(w.ctx, 'waiting.example')
    await stop(w, id)
    receiver.answer(200)
    w.advance('1 hour')
    await w.drain()
    expect(domainsOf(receiver)).toEqual(['retried.example'])
    const Status = Type.Object({ status: Type.String(), next_attempt_at: Type.Null() })
    const found = await w.db.many(
      Status,
      sql`select status, next_attempt_at from webhook_deliveries where project_id = ${w.projectId} and endpoint_id = ${id}`,
    )
    expect(found).toEqual([{ status: 'cancelled', next_attempt_at: null }])
  })

  test('prevents tests and resends', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    const { delivery_id } = (await w.post(`${WEBHOOKS}/${id}/test`)).body
    await w.patch(`${WEBHOOKS}/${id}`, { status: 'inactive' })
    for (const path of ['test', `deliveries/${delivery_id}/resend`]) {
      const reply = await w.post(`${WEBHOOKS}/${id}/${path}`)
      expect([reply.status, reply.body.code]).toEqual([422, 'validation_failed'])
    }
  })
})

describe('the secret', () => {
  const signedWith = ({ requests }: Receiver, w: World, ...secrets: string[]) => {
    const { headers, body } = requests.at(-1) ?? { headers: {}, body: '' }
    const header = (headers as Record<string, string>)['service-signature'] ?? ''
    expect(header.match(/v1=/g)).toHaveLength(secrets.length)
    return secrets.every((secret) => verifySignature(header, body, secret, w.clock.now()))
  }

  test('from before a rotation signs during its grace period, after the new one', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id, signing_secret: old } = await endpointAt(w, receiver)
    w.advance('1 minute')
    const rotated = await w.post(`${WEBHOOKS}/${id}/rotate-secret`, { grace_period_seconds: 3600 })
    const { signing_secret: fresh, updated_at } = rotated.body
    expect([rotated.status, updated_at]).toEqual([200, '2026-11-23T09:01:00.000Z'])
    expect(fresh).not.toBe(old)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    expect(signedWith(receiver, w, fresh, old)).toBe(true)
    const { headers, body } = receiver.requests[0] ?? { headers: {} as Record<string, string>, body: '' }
    const [, newest] = headers['service-signature']?.split(',') ?? []
    expect(verifySignature(`t=${headers['webhook-timestamp']},${newest}`, body, fresh, w.clock.now())).toBe(true)
    w.advance('1 hour')
    await emitNullMx(w.ctx, 'two.example')
    await w.drain()
    expect(signedWith(receiver, w, fresh)).toBe(true)
  })

  test('of a retry is the one that is valid at that moment', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(500)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    const signing_secret = 'chosen-by-the-caller'
    const rotated = await w.post(`${WEBHOOKS}/${id}/rotate-secret`, { signing_secret, grace_period_seconds: 0 })
    expect(rotated.body.signing_secret).toBe(signing_secret)
    w.advance('10 seconds')
    await w.drain()
    expect(receiver.requests).toHaveLength(2)
    expect(signedWith(receiver, w, signing_secret)).toBe(true)
  })

  test('can have at most five old ones in their grace period', async () => {
    await using w = await world()
    const { id } = (await w.post(WEBHOOKS, input)).body
    const rotate = (body?: object) => w.post(`${WEBHOOKS}/${id}/rotate-secret`, body)
    for (let old = 1; old <= 5; old++) expect((await rotate()).status).toBe(200)
    const refused = await rotate()
    expect([refused.status, refused.body.error.param]).toEqual([422, 'grace_period_seconds'])
    expect((await rotate({ grace_period_seconds: 0 })).status).toBe(200)
    w.advance('1 day')
    expect((await rotate()).status).toBe(200)
    expect((await rotate({ grace_period_seconds: 604_801 })).status).toBe(422)
  })

  test('can be replaced while the endpoint is paused', async () => {
    await using w = await world()
    const { id } = (await w.post(WEBHOOKS, input)).body
    await w.patch(`${WEBHOOKS}/${id}`, { status: 'inactive' })
    expect((await w.post(`${WEBHOOKS}/${id}/rotate-secret`, {})).body.status).toBe('inactive')
  })
})

describe('on request', () => {
  test('a test event is sent, marked as a test', async () => {
    await using opened = await open()
    const { w, receiver } = opened
    const bystander = await w.receiver()
    const { id } = await endpointAt(w, receiver, [FAILED, NULL_MX])
    await endpointAt(w, bystander, [FAILED])
    const first = await w.post(`${WEBHOOKS}/${id}/test`)
    await w.drain()
    const second = await w.post(`${WEBHOOKS}/${id}/test`, { event_type: 'incoming-report.virus-report' })
    expect([first.status, second.status]).toEqual([202, 202])
    expect((await w.post(`${WEBHOOKS}/${id}/test`, { event_type: 'delivery.lost' })).status).toBe(400)
    await w.drain()
    expect(receiver.requests.map(({ json }) => [json.type, json.test])).toEqual([
      [FAILED, true],
      ['incoming-report.virus-report', true],
    ])
    expect(receiver.requests[0]?.json.data).toEqual(JSON.parse(JSON.stringify(webhookEvents.deliveryFailed.sample)))
    expect(bystander.requests).toEqual([])
    expect((await deliveries(w, id, { key: w.keys.support })).map((delivery) => delivery.id)).toEqual([
      second.body.delivery_id,
      first.body.delivery_id,
    ])
  })

  test('a delivery is sent again with the same event id and the whole schedule', async () => {
    await using opened = await open({ WEBHOOK_RETRY_SCHEDULE: '5' })
    const { w, receiver } = opened
    const { id } = await endpointAt(w, receiver)
    receiver.answer(500)
    await emitNullMx(w.ctx, 'one.example')
    await w.drain()
    w.advance('1 minute')
    await w.drain()
    const [failed] = await deliveries(w, id)
    expect(failed).toMatchObject({ status: 'failed', attempts: 2 })
    const resent = await w.post(`${WEBHOOKS}/${id}/deliveries/${failed?.id}/resend`)
    expect(resent.status).toBe(202)
    expect(resent.body).toMatchObject({ id: failed?.id, event_id: failed?.event_id, status: 'pending', attempts: 2 })
    await w.drain()
    expect(await deliveries(w, id)).toMatchObject([{ status: 'pending', attempts: 3 }])
    receiver.answer(200)
    w.advance('1 minute')
    await w.drain()
    expect(await deliveries(w, id)).toMatchObject([{ status: 'succeeded', attempts: 4 }])
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    await w.post(`${WEBHOOKS}/${id}/deliveries/${failed?.id}/resend`)
    await w.drain()
    expect(receiver.requests).toHaveLength(5)
    expect((await w.post(`${WEBHOOKS}/${id}/deliveries/999999999/resend`)).status).toBe(404)
  })

  test('deliveries are listed in pages', async () => {
    await using w = await world()
    const { id } = (await w.post(WEBHOOKS, { ...input, url: 'https://127.0.0.1:1025/' })).body
    for (let count = 0; count < 3; count++) await w.post(`${WEBHOOKS}/${id}/test`)
    const first = await w.get(`${WEBHOOKS}/${id}/deliveries?limit=2`)
    expect(first.body.results).toHaveLength(2)
    const second = await w.get(`${WEBHOOKS}/${id}/deliveries?limit=2&cursor=${first.body.nextCursor}`)
    expect(second.body.results).toHaveLength(1)
    expect(second.body.nextCursor).toBeNull()
    expect(Object.keys(second.body.results[0])).toEqual([
      'id',
      'event_id',
      'event_type',
      'status',
      'attempts',
      'last_status_code',
      'last_error',
      'next_attempt_at',
      'created_at',
    ])
  })
})

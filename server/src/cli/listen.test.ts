import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { type World, world } from '../../test/world.ts'
import { loadOrCreateAuthority } from '../infra/outgoing/dev-authority.ts'
import { createSafeFetch } from '../infra/outgoing/safe-fetch.ts'
import { systemClock } from '../infra/runtime/clock.ts'
import { egressPolicy } from '../lib/egress.ts'
import { EVENT_TYPES } from '../modules/webhook-events/index.ts'
import { verifySignature } from '../modules/webhooks/index.ts'
import { listen, listenOptions } from './listen.ts'

const WEBHOOKS = '/api/client/webhooks'

const leftovers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const leftover of leftovers.splice(0).reverse()) await leftover()
})

/** Starts the server on a port, and a listener with a certificate that it trusts. */
async function listener(w: World, given: { key?: string; events?: string[]; forwardTo?: string; secret?: string } = {}) {
  // Certificates and signatures are checked against the system’s clock.
  w.clock.set(systemClock.now())
  await w.app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(w.app.server.address() as AddressInfo).port}`
  const lines: string[] = []
  const listening = await listen(
    { port: 0, url, ...given, events: given.events ?? ['delivery.failed'], key: given.key ?? w.keys.secret },
    { dataDir: inject('authorityDir'), print: (line) => lines.push(line), clock: { now: w.clock.now, sleep: systemClock.sleep } },
  )
  return { ...listening, lines }
}

const endpoints = async (w: World) => (await w.get(WEBHOOKS)).body.results as { id: number; url: string; event_types: string[] }[]

describe('carillon listen', () => {
  test('prints events, and deletes its endpoint at the end', async () => {
    await using w = await world()
    const { url, lines, ...listening } = await listener(w)
    const [endpoint] = await endpoints(w)
    expect(endpoint).toMatchObject({ url, event_types: ['delivery.failed'] })
    await w.post(`${WEBHOOKS}/${endpoint?.id}/test`)
    await w.drain()
    // Events are held a moment, so that those before them come first.
    await expect
      .poll(() => lines)
      .toEqual([
        `Listening at ${url} for 1 event type. Stop with Ctrl-C.`,
        `${w.clock.now().toISOString()}  delivery.failed  (test)  "+61412345678"  "The number is not in service."`,
        expect.stringMatching(/^\{"id":"evt_\w{26}","type":"delivery\.failed".*"provider_code":"30005"\}\}$/),
      ])
    expect((await w.get(`${WEBHOOKS}/${endpoint?.id}/deliveries`)).body.results).toMatchObject([
      { status: 'succeeded', last_status_code: 204 },
    ])
    await listening[Symbol.asyncDispose]()
    expect(await endpoints(w)).toEqual([])
  })

  test('refuses a request without a valid signature', async () => {
    await using w = await world()
    await using listening = await listener(w)
    const { cert } = await loadOrCreateAuthority(inject('authorityDir'), w.clock.now())
    await using fetch = createSafeFetch({ policy: egressPolicy(['127.0.0.0/8']), ca: [cert], userAgent: 'Stranger/1.0' })
    const answer = await fetch.request({
      method: 'POST',
      url: listening.url,
      headers: { 'service-signature': `t=${Math.floor(w.clock.now().getTime() / 1000)},v1=${'0'.repeat(64)}` },
      body: '{"type":"delivery.failed"}',
      timeoutMs: 20_000,
      connectTimeoutMs: 20_000,
      responseBytesMax: 1000,
    })
    expect(answer).toMatchObject({ is: 'answered', status: 400 })
    expect(listening.lines.slice(1)).toEqual(['A request was refused because its signature is not valid.'])
  })

  test('forwards genuine requests with their signatures, and replies as the receiver does', async () => {
    await using w = await world()
    const received: { headers: IncomingHttpHeaders; body: string }[] = []
    let status = 503
    const receiver = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      received.push({ headers: request.headers, body })
      response.writeHead(status).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    leftovers.push(async () => receiver.close())
    const forwardTo = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`
    const secret = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`
    await using listening = await listener(w, { forwardTo, secret })
    const [endpoint] = await endpoints(w)
    const send = async (next: number) => {
      status = next
      await w.post(`${WEBHOOKS}/${endpoint?.id}/test`)
      await w.drain()
      return (await w.get(`${WEBHOOKS}/${endpoint?.id}/deliveries`)).body.results[0].last_status_code
    }
    expect(await send(503)).toBe(503)
    expect(await send(204)).toBe(204)
    const [{ headers, body }] = received as [{ headers: IncomingHttpHeaders; body: string }]
    expect(verifySignature(String(headers['service-signature']), body, secret, w.clock.now())).toBe(true)
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ type: 'delivery.failed', test: true })
    expect(listening.lines).toContain(`Forwarded to ${forwardTo}, which replied with 503.`)
  })

  test('replies with 502 while the receiver cannot be reached', async () => {
    await using w = await world()
    await using listening = await listener(w, { forwardTo: 'http://127.0.0.1:1/' })
    const [endpoint] = await endpoints(w)
    await w.post(`${WEBHOOKS}/${endpoint?.id}/test`)
    await w.drain()
    expect((await w.get(`${WEBHOOKS}/${endpoint?.id}/deliveries`)).body.results).toMatchObject([{ last_status_code: 502 }])
    expect(listening.lines).toContain('Cannot forward to http://127.0.0.1:1/. The server refused the connection.')
  })

  test('reports the error message of the server', async () => {
    await using w = await world()
    await expect(listener(w, { key: w.keys.support })).rejects.toThrow('This key’s role does not permit this operation.')
  })

  test('uses the key of the first start, or reports how to get one', async () => {
    await using w = await world()
    const dataDir = await mkdtemp(join(tmpdir(), 'carillon-test-'))
    leftovers.push(() => rm(dataDir, { recursive: true }))
    await w.app.listen({ host: '127.0.0.1', port: 0 })
    const url = `http://127.0.0.1:${(w.app.server.address() as AddressInfo).port}`
    const attempt = () =>
      listen(
        { port: 0, events: EVENT_TYPES, url },
        { dataDir, print: () => undefined, clock: { now: w.clock.now, sleep: systemClock.sleep } },
      )
    await expect(attempt()).rejects.toThrow('Start the server once, or pass --key.')
    await writeFile(join(dataDir, 'credentials.json'), JSON.stringify({ secret_key: w.keys.secret }))
    await using _ = await attempt()
    expect((await endpoints(w))[0]?.event_types).toEqual(EVENT_TYPES)
  })

  test('reports an unreachable server and a port that is in use', async () => {
    const io = {
      dataDir: inject('authorityDir'),
      print: () => undefined,
      clock: { now: () => new Date('2026-11-23T09:00:00Z'), sleep: systemClock.sleep },
    }
    const nowhere = { port: 0, events: EVENT_TYPES, url: 'http://127.0.0.1:1', key: 'sk_0123456789abcdef' }
    await expect(listen(nowhere, io)).rejects.toThrow('Cannot connect to http://127.0.0.1:1. The server refused the connection.')
    await using w = await world()
    await using taken = await listener(w)
    const port = Number(new URL(taken.url).port)
    await expect(listen({ ...nowhere, port }, io)).rejects.toThrow(`Cannot listen on port ${port}`)
  })
})

describe('the arguments', () => {
  test('have defaults', () => {
    expect(listenOptions([])).toEqual({ port: 0, events: EVENT_TYPES, url: 'http://127.0.0.1:3000' })
  })

  test('are read', () => {
    expect(
      listenOptions([
        '--port',
        '4000',
        '--events',
        'delivery.failed, delivery.null-mx',
        '--url',
        'https://api.example.com/',
        '--key',
        'sk_x',
        '--forward-to',
        'http://127.0.0.1:4000/webhooks',
        '--secret',
        'whsec_x',
      ]),
    ).toEqual({
      port: 4000,
      events: ['delivery.failed', 'delivery.null-mx'],
      url: 'https://api.example.com',
      key: 'sk_x',
      forwardTo: 'http://127.0.0.1:4000/webhooks',
      secret: 'whsec_x',
    })
  })

  test.each([
    [['--port', '70000'], '--port must be'],
    [['--port', 'http'], '--port must be'],
    [['--url', 'localhost:3000'], '--url must be'],
    [['--forward-to', '4000'], '--forward-to must be'],
    [['--events', 'delivery.lost'], 'Unknown event types in --events: delivery.lost.'],
    [['--events', ''], 'Unknown event types in --events'],
    [['--loud'], '--loud'],
  ])('%j are refused', (args, message) => expect(() => listenOptions(args)).toThrow(message))
})

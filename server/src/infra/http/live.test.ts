import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { expect, test, vi } from 'vitest'
import { SOON } from '../../../test/wait.ts'
import { type World, world } from '../../../test/world.ts'
import { ApiError } from '../../lib/errors.ts'
import { type LiveCall, type LiveEvent, LiveOf, route } from './route.ts'
import { createHttpServer } from './server.ts'

type Events = (live: LiveCall) => AsyncIterable<LiveEvent>

type Stage = AsyncDisposable & { w: World; app: FastifyInstance; url: string; headers: Record<string, string>; logged: string[] }

const PATH = '/api/client/live'

/** A server with one live route. */
async function stage(events: Events): Promise<Stage> {
  const closing = new AsyncDisposableStack()
  const logged: string[] = []
  const w = closing.use(await world({ log: { write: (line) => void logged.push(line) } }))
  const live = route({
    method: 'GET',
    path: PATH,
    summary: 'Listen.',
    access: { publishable: 'user' },
    reply: LiveOf('Events.'),
    run: async (_, { live }) => ({ events: events(live) }),
  })
  const { authenticator } = await import('../../authenticator.ts')
  const app = createHttpServer({
    ctx: w.ctx,
    routes: [live],
    pages: [],
    authenticator,
    recordWrite: async () => undefined,
    baseUrl: w.ctx.baseUrl,
    lag: () => 0,
  })
  closing.defer(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  await w.users('ana')
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}${PATH}`
  const headers = { authorization: `Bearer ${w.keys.public}`, 'x-service-user-token': await w.token('ana') }
  return { w, app, url, headers, logged, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

const until = (signal: AbortSignal) => (signal.aborted ? Promise.resolve() : once(signal, 'abort'))
const hello: LiveEvent = { event: 'hello', id: 1, data: { text: 'a\nb' } }

test('events are written at once, without compression or buffering, and the connection is not reused', async () => {
  await using s = await stage(async function* ({ signal }) {
    yield hello
    yield 'heartbeat'
    await until(signal)
  })
  const reply = await fetch(s.url, { headers: { ...s.headers, 'accept-encoding': 'br, gzip' } })
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'access-control-allow-origin': '*',
    'x-request-id': expect.stringMatching(/^req_/),
    connection: 'close',
  })
  expect(reply.headers.get('content-encoding')).toBeNull()
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.endsWith(':\n\n')) text += (await reader?.read())?.value
  expect(text).toBe('id: 1\nevent: hello\ndata: {"text":"a\\nb"}\n\n:\n\n')
  await reader?.cancel()
})

test('the reply ends when there are no more events', async () => {
  await using s = await stage(async function* () {
    yield hello
  })
  const reply = await fetch(s.url, { headers: s.headers })
  expect(await reply.text()).toContain('event: hello')
})

test('a failure before the first event gets an error reply', async () => {
  // biome-ignore lint/correctness/useYield: it throws before its first event.
  await using s = await stage(async function* () {
    throw new ApiError('rate_limited', 'Too many.')
  })
  const reply = await fetch(s.url, { headers: s.headers })
  expect([reply.status, ((await reply.json()) as any).error.code]).toEqual([429, 'rate_limited'])
  expect(reply.headers.get('access-control-allow-origin')).toBe('*')
  expect(s.logged.join('')).not.toContain('live reply failed')
})

test('a later failure cuts the connection and is logged', async () => {
  await using s = await stage(async function* () {
    yield hello
    throw new Error('Broken.')
  })
  const reply = await fetch(s.url, { headers: s.headers })
  await expect(reply.text()).rejects.toThrow()
  expect(s.logged.join('')).toContain('live reply failed')
})

test('the events end when the client disconnects', async () => {
  let ended: () => void
  const over = new Promise<void>((resolve) => {
    ended = resolve
  })
  await using s = await stage(async function* ({ signal }) {
    yield hello
    await until(signal)
    ended()
  })
  const leaving = new AbortController()
  const reply = await fetch(s.url, { headers: s.headers, signal: leaving.signal })
  await reply.body?.getReader().read()
  leaving.abort()
  await over
  expect(s.logged.join('')).not.toContain('live reply failed')
})

test('events for a slow client are not buffered without limit', async () => {
  let made = 0
  await using s = await stage(async function* ({ signal }) {
    for (; !signal.aborted; made++) yield { event: 'much', id: made, data: 'x'.repeat(65_536) }
  })
  const socket = connect(Number(new URL(s.url).port), '127.0.0.1')
  const fields = Object.entries(s.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${PATH} HTTP/1.1\r\nhost: a\r\n${fields.join('')}\r\n`)
  let before = -1
  await vi.waitFor(
    () => {
      const [now, then] = [made, before]
      before = made
      expect([now > 0, now]).toEqual([true, then])
    },
    { ...SOON, interval: 200 },
  )
  expect(made).toBeLessThan(1000)
  const closed = s.app.close()
  await vi.waitFor(() => {
    s.w.advance('5 seconds')
    expect(s.app.server.listening).toBe(false)
  }, SOON)
  await closed
  socket.destroy()
})

test('live replies end when the server shuts down, and new ones end at once', async () => {
  await using s = await stage(async function* ({ signal }) {
    yield hello
    await until(signal)
    yield { event: 'bye', id: 2, data: null }
  })
  const reply = await fetch(s.url, { headers: s.headers })
  const text = reply.text()
  await s.app.close()
  expect(await text).toContain('event: bye')
})

test('HEAD starts no live reply', async () => {
  let begun = 0
  await using s = await stage(async function* () {
    begun++
    yield hello
  })
  const reply = await fetch(s.url, { method: 'HEAD', headers: s.headers })
  expect([reply.status, reply.headers.get('content-type'), begun]).toEqual([200, 'text/event-stream; charset=utf-8', 0])
})

test('the credentials can be checked again until the token expires', async () => {
  await using s = await stage(async function* ({ again, lastEventId }) {
    yield { event: 'user', id: 1, data: await again() }
    s.w.advance('16 minutes')
    yield { event: 'refusal', id: 2, data: await again().catch((error: ApiError) => error.reason) }
    yield { event: 'last', id: 3, data: lastEventId }
  })
  const { id } = (await s.w.get('/api/client/users/ana')).body
  const text = await (await fetch(s.url, { headers: { ...s.headers, 'last-event-id': '41' } })).text()
  expect([...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string))).toEqual([id, 'user_token_expired', '41'])
})

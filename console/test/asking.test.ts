/** An open page that nobody uses does not keep its session alive: its requests say that no input preceded them (D-CON-3). */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { call } from '../src/session/api.ts'
import { watchInput } from '../src/session/asking.ts'
import { openClient } from '../src/session/client.ts'

const { fetch: send } = globalThis
const page = new EventTarget()
watchInput(page)

/** What the server gets in the header of each request. */
const seen: (string | undefined)[] = []
const server = createServer((request, reply) => {
  seen.push(request.headers['carillon-background'] as string | undefined)
  reply.writeHead(200, { 'content-type': 'application/json', 'service-version': '2026-11-20' }).end('{}')
})

beforeEach(async () => {
  seen.length = 0
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => send(new URL(path, base), init))
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  server.closeAllConnections()
  server.close()
})

/** A request of the session, and one of the API. */
const both = async () => {
  await call('GET', 'session')
  await openClient({ 'carillon-project': '1' }).get('/api/client/lists')
}

test.each(['pointerdown', 'pointermove', 'wheel', 'touchstart', 'keydown', 'input', 'click'])(
  'for a minute after %s requests are a use of the session, and then none',
  async (name) => {
    page.dispatchEvent(new Event(name))
    await both()
    vi.setSystemTime(Date.now() + 59_999)
    await both()
    vi.setSystemTime(Date.now() + 1)
    await both()
    page.dispatchEvent(new Event(name))
    await both()
    expect(seen).toEqual([undefined, undefined, undefined, undefined, '1', '1', undefined, undefined])
  },
)

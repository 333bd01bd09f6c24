/** What a call rejects with when something other than the API answers, such as a proxy, or the connection breaks. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CarillonError, createClient } from '@carillon/sdk'
import { expect, test, vi } from 'vitest'
import { call } from '../src/session/api.ts'
import { openClient } from '../src/session/client.ts'

/** A server on loopback that answers each request. */
async function serve(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    baseUrl,
    async [Symbol.asyncDispose]() {
      vi.unstubAllGlobals()
      server.closeAllConnections()
      server.close()
    },
  }
}

const JSON_TYPE = { 'content-type': 'application/json', 'x-request-id': 'r1' }
const ours = {
  code: 'resource_missing',
  message: 'No such user.',
  request_id: 'r2',
  error: { code: 'resource_missing', message: 'No such user.', doc_url: 'd' },
}

test.each<[string, RequestListener, object]>([
  [
    'an error of the API',
    (_, reply) => reply.writeHead(404, JSON_TYPE).end(JSON.stringify(ours)),
    { status: 404, code: 'resource_missing', requestId: 'r2' },
  ],
  [
    'an error of a proxy',
    (_, reply) => reply.writeHead(404, JSON_TYPE).end('{"message":"no Route matched"}'),
    { status: 404, code: 'unexpected', requestId: 'r1', faults: [] },
  ],
  [
    'an error that is another kind of object',
    (_, reply) => reply.writeHead(500, JSON_TYPE).end('{"error":{"code":7}}'),
    { status: 500, code: 'unexpected' },
  ],
  ['an error without a member', (_, reply) => reply.writeHead(502, JSON_TYPE).end('{}'), { status: 502, code: 'unexpected' }],
  ['an error without a body', (_, reply) => reply.writeHead(503, JSON_TYPE).end(), { status: 503, code: 'unexpected' }],
  ['an error that is cut', (_, reply) => reply.writeHead(503, JSON_TYPE).end('{"message":'), { status: 503, code: 'unexpected' }],
  [
    'a success that is cut',
    (_, reply) => reply.writeHead(200, JSON_TYPE).end('{"results":['),
    { status: 200, code: 'unexpected', requestId: 'r1' },
  ],
  [
    'a connection that breaks within the body',
    (_, reply) => void reply.writeHead(200, { ...JSON_TYPE, 'content-length': '100' }).write('{"results"', () => reply.destroy()),
    { status: 0, code: 'unreachable' },
  ],
])('%s is a CarillonError', async (_, answer, expected) => {
  await using server = await serve(answer)
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => fetch(new URL(path, server.baseUrl), init))
  const { get } = createClient({ baseUrl: server.baseUrl })
  for (const ask of [() => get('/api/client/users'), () => call('GET', 'session')]) {
    const error = await ask().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(CarillonError)
    expect(error).toMatchObject(expected)
  }
})

test('a call that its caller ends rejects with the reason of the signal', async () => {
  await using server = await serve(() => {})
  const { get } = createClient({ baseUrl: server.baseUrl })
  await expect(get('/api/client/users', { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: 'TimeoutError' })
  await expect(get('/api/client/users', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
})

test('the console sends each request once, however it fails, and no key that its member did not cause', async () => {
  const headers: IncomingHttpHeaders[] = []
  await using server = await serve((request, reply) => {
    headers.push(request.headers)
    reply.writeHead(503, { 'retry-after': '0' }).end()
  })
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => fetch(new URL(path, server.baseUrl), init))
  const client = openClient({ 'carillon-project': '1' })
  await expect(client.get('/api/client/users')).rejects.toMatchObject({ status: 503 })
  await expect(client.post('/api/client/lists', { body: { name: 'Beta', type: 'static' } })).rejects.toMatchObject({ status: 503 })
  expect(headers).toHaveLength(2)
  for (const each of headers) expect(each).toMatchObject({ 'carillon-project': '1' })
  expect(headers.filter((each) => 'idempotency-key' in each)).toEqual([])
})

/** What answers instead of Carillon, such as a proxy that asks for a sign-in or a server at a wrong `baseUrl`, is never taken for its reply. */
import { expect, test } from 'vitest'
import { bufferEvents, CarillonError, createClient, type RefusedEvent } from '../../../sdk/src/index.ts'
import { type Given, openCountingServer } from './counting-server.ts'

const html = { 'content-type': 'text/html; charset=utf-8' }

const OTHERS: [string, Given][] = [
  ['a page', { status: 200, isForeign: true, headers: html, body: '<html>Sign in</html>' }],
  ['JSON of another API', { status: 200, isForeign: true, body: { ok: true } }],
  ['an acceptance without a body', { status: 204, isForeign: true }],
]

test.each(OTHERS)('%s is an error that names what to check, and is not asked for again', async (_, reply) => {
  await using server = await openCountingServer(() => reply)
  const error = await createClient({ baseUrl: server.baseUrl })
    .post('/api/client/lists', { body: { name: 'Beta', type: 'static' } })
    .catch((error: unknown) => error)
  expect(error).toBeInstanceOf(CarillonError)
  expect(error).toMatchObject({ code: 'unexpected', message: expect.stringContaining('Something other than Carillon answered') })
  expect((error as Error).message).toContain('`baseUrl`')
  expect(server.requests).toHaveLength(1)
})

test.each([301, 302, 303, 307, 308])(
  'a redirect with status %i is an error that says where it leads, and is not followed',
  async (status) => {
    const page: Given = { status: 200, headers: html, body: '<html>Sign in</html>' }
    await using server = await openCountingServer((_, at) =>
      at === 0 ? { status, isForeign: true, headers: { location: '/sign-in' }, body: '' } : page,
    )
    const call = createClient({ baseUrl: server.baseUrl }).get('/api/client/lists')
    await expect(call).rejects.toMatchObject({
      name: 'CarillonError',
      status,
      code: 'unexpected',
      message: expect.stringContaining('`/sign-in`'),
    })
    expect(server.requests).toHaveLength(1)
  },
)

test('a redirect of which a browser tells nothing is an error, and is not asked for again', async () => {
  let asked = 0
  const opaque = { ok: false, status: 0, type: 'opaqueredirect', headers: new Headers(), text: async () => '' }
  const hidden = async () => {
    asked++
    return opaque as Response
  }
  const call = createClient({ baseUrl: 'https://carillon.example', fetch: hidden }).get('/api/client/lists')
  await expect(call).rejects.toMatchObject({ code: 'unexpected', message: expect.stringContaining('redirects') })
  expect(asked).toBe(1)
})

test.each<[string, Given]>([...OTHERS, ['a redirect', { status: 302, isForeign: true, headers: { location: '/sign-in' } }]])(
  'events for which %s comes are reported as refused',
  async (_, reply) => {
    await using server = await openCountingServer(() => reply)
    const refused: RefusedEvent[] = []
    const client = createClient({ baseUrl: server.baseUrl })
    const { track, flush } = bufferEvents(client, { onRefused: (events) => refused.push(...events) })
    track({ name: 'order_placed', external_id: 'ana' })
    await flush()
    expect(refused.map(({ event, error }) => [event.name, error.code])).toEqual([['order_placed', 'unexpected']])
  },
)

import { describe, expect, test } from 'vitest'
import { openFakeProvider } from '../../../../test/fake-provider.ts'
import { type World, world } from '../../../../test/world.ts'
import type { DomainId } from '../../../lib/ids.ts'
import { verifyDomain } from '../../domains/verify.ts'
import { createMirror } from './mirror.ts'
import { deeplinkPages } from './pages.ts'

const FILE = { applinks: { details: [{ appIDs: ['T.app'], components: [{ '/': '/c/*' }] }] } }
const absent = () => Promise.reject(Object.assign(new Error('DNS'), { code: 'ENOTFOUND', syscall: 'query' }))
const ours = async () => ['carillon.test']
const dns = { resolveCname: ours, resolve4: absent, resolve6: absent, resolveTxt: absent, resolveMx: absent, resolveNs: absent }

/** Sets up a project with a domain and a mirror. Each test uses another host, because hosts are cached. */
async function projectWith(w: World, host: string, mirror: string) {
  const { body } = await w.post('/api/client/domains', { host })
  await verifyDomain(w.ctx, body.id as DomainId, dns)
  await w.patch(`/api/client/projects/${w.projectId}`, { deeplink_mirror_url: mirror }, { key: w.keys.organisation })
}

async function ask(w: World, fakeProvider: Pick<World['ctx'], 'fetch'>, host: string, file = 'apple-app-site-association') {
  const page = deeplinkPages.find(({ path }) => path === `/.well-known/${file}`)
  const call = {
    params: {},
    query: new URLSearchParams(),
    headers: { host },
    body: Buffer.alloc(0),
    url: '',
    method: 'GET',
    address: '',
    requestId: '',
  }
  return page?.run({ ...w.ctx, fetch: fakeProvider.fetch }, call)
}

describe('the association files', () => {
  test('are those of the project’s mirror URL', async () => {
    await using w = await world()
    await using fakeProvider = await openFakeProvider()
    await projectWith(w, 'one.shop.test', 'https://www.shop.test/start?x=1')
    fakeProvider.answer({ status: 200, body: FILE }, { status: 200, body: [FILE] })
    expect(await ask(w, fakeProvider, 'ONE.shop.test:443')).toEqual({
      status: 200,
      type: 'application/json',
      body: JSON.stringify(FILE),
      headers: { 'cache-control': 'public, max-age=300' },
    })
    expect(await ask(w, fakeProvider, 'one.shop.test', 'assetlinks.json')).toMatchObject({ body: JSON.stringify([FILE]) })
    expect(fakeProvider.requests.map(({ method, url }) => [method, url])).toEqual([
      ['GET', 'https://www.shop.test/.well-known/apple-app-site-association'],
      ['GET', 'https://www.shop.test/.well-known/assetlinks.json'],
    ])
  })

  test('do not exist for an unknown host, a project without a mirror URL, or a host that mirrors itself', async () => {
    await using w = await world()
    await using fakeProvider = await openFakeProvider()
    await projectWith(w, 'two.shop.test', '')
    expect(await ask(w, fakeProvider, 'two.shop.test')).toMatchObject({ status: 404 })
    expect(await ask(w, fakeProvider, 'nobody.test')).toMatchObject({ status: 404 })
    expect(await ask(w, fakeProvider, '')).toMatchObject({ status: 404 })
    await projectWith(w, 'three.shop.test', 'https://three.shop.test')
    w.advance('6 seconds')
    expect(await ask(w, fakeProvider, 'three.shop.test')).toMatchObject({ status: 404 })
    expect(fakeProvider.requests).toEqual([])
    expect((await w.get('/.well-known/assetlinks.json', { key: null })).status).toBe(404)
  })
})

describe('a mirror', () => {
  const url = 'https://www.shop.test/.well-known/assetlinks.json'

  test('fetches a file once in five minutes, even for simultaneous requests', async () => {
    await using w = await world()
    await using fakeProvider = await openFakeProvider()
    const mirror = createMirror()
    const ctx = { ...w.ctx, fetch: fakeProvider.fetch }
    fakeProvider.answer({ status: 200, body: '{"a":1}' }, { status: 200, body: '{"a":2}' })
    expect(await Promise.all([mirror.read(ctx, url), mirror.read(ctx, url)])).toEqual(['{"a":1}', '{"a":1}'])
    w.advance('4 minutes')
    expect(await mirror.read(ctx, url)).toBe('{"a":1}')
    w.advance('1 minute')
    expect(await mirror.read(ctx, url)).toBe('{"a":2}')
    expect(fakeProvider.requests).toHaveLength(2)
  })

  test.each([
    ['an error', { status: 500, body: '{}' }],
    ['a redirect', { status: 302, headers: { location: 'https://elsewhere.test' } }],
    ['an HTML page', { status: 200, body: '<!doctype html>' }],
    ['a JSON string', { status: 200, body: '"x"' }],
    ['a file that is too large', { status: 200, body: JSON.stringify({ a: 'x'.repeat(140_000) }) }],
    ['a refused connection', 'refused' as const],
    ['a lost connection', 'cut' as const],
  ])('keeps the last valid copy after %s', async (_, reply) => {
    await using w = await world()
    await using fakeProvider = await openFakeProvider()
    const mirror = createMirror()
    const ctx = { ...w.ctx, fetch: fakeProvider.fetch }
    fakeProvider.answer(reply, { status: 200, body: '{"a":1}' }, reply)
    expect(await mirror.read(ctx, url)).toBeNull()
    w.advance('5 minutes')
    expect(await mirror.read(ctx, url)).toBe('{"a":1}')
    w.advance('5 minutes')
    expect(await mirror.read(ctx, url)).toBe('{"a":1}')
  })
})

import { beforeEach, describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { DomainId } from '../../lib/ids.ts'
import type { DomainResolver } from './dns-check.ts'
import { trackingBaseUrl } from './service.ts'
import { verifyDomain } from './verify.ts'

/** DNS records by name. Missing names do not exist; for `null`, the DNS does not respond. */
type Zone = Record<string, { cname?: string[]; a?: string[]; aaaa?: string[]; txt?: string[] } | null>

function dnsOf(zone: Zone): DomainResolver {
  const find = async <T>(name: string, of: (records: NonNullable<Zone[string]>) => T[] | undefined): Promise<T[]> => {
    const records = zone[name]
    const values = records ? of(records) : undefined
    if (values) return values
    throw Object.assign(new Error('DNS'), { code: records === null ? 'ETIMEOUT' : 'ENOTFOUND', syscall: 'query' })
  }
  return {
    resolveCname: (name) => find(name, ({ cname }) => cname),
    resolve4: (name) => find(name, ({ a }) => a),
    resolve6: (name) => find(name, ({ aaaa }) => aaaa),
    resolveMx: (name) => find(name, () => undefined),
    resolveNs: (name) => find(name, () => undefined),
    // Long texts consist of several strings.
    resolveTxt: (name) => find(name, ({ txt }) => txt?.map((text) => [text.slice(0, 8), text.slice(8)])),
  }
}

let hosts = 0
// The worlds of a file share a database, and each host belongs to one project.
let host = ''
beforeEach(() => {
  host = `links-${++hosts}.shop.test`
})
const OURS = 'carillon.test'
const cname = () => ({ [host]: { cname: [`${OURS}.`] } })

const add = async (w: World, name = host, key = w.keys.secret, more: object = {}) =>
  (await w.post('/api/client/domains', { host: name, ...more }, { key })).body as {
    id: DomainId
    dns: { type: string; name: string; value: string }[]
  }
const txtOf = ({ dns }: Awaited<ReturnType<typeof add>>) => dns.find(({ type }) => type === 'TXT')?.value ?? ''
const verify = (ctx: ProjectCtx, { id }: { id: DomainId }, zone: Zone) => verifyDomain(ctx, id, dnsOf(zone))

describe('a domain', () => {
  test('is added with the records to publish, and not used before it is verified', async () => {
    await using w = await world()
    const reply = await w.post('/api/client/domains', { host: ` ${host.toUpperCase()}. ` })
    expect(reply.status).toBe(201)
    expect(reply.headers.location).toBe(`/api/client/domains/${reply.body.id}`)
    expect(reply.body).toMatchObject({
      host: host,
      is_verified: false,
      is_default: false,
      problem: null,
      verified_at: null,
      checked_at: null,
    })
    expect(reply.body.dns).toEqual([
      { type: 'CNAME', name: host, value: OURS },
      { type: 'TXT', name: `_carillon.${host}`, value: expect.stringMatching(/^carillon-verification=[\w-]{24}$/) },
    ])
    expect((await w.get(`/api/client/domains/${reply.body.id}`)).body).toEqual(reply.body)
    expect((await w.get('/api/client/domains?q=shop')).body.results).toEqual([reply.body])
    expect(await trackingBaseUrl(w.ctx, reply.body.id)).toBe('http://carillon.test')
  })

  test.each(['http://203.0.113.7:3000', 'http://[2001:db8::1]', 'http://localhost:3000'])(
    'of a server at %s has no CNAME to publish, because there is no name to point to',
    async (base) => {
      await using w = await world()
      const added = await add(w)
      const here = { ...w.ctx, baseUrl: () => base }
      const shown = await verify(here, added, {})
      expect(shown.dns.map(({ type }) => type)).toEqual(['TXT'])
      expect(shown.problem).toBe(`\`${host}\` does not point to this server. Publish the TXT record.`)
      expect((await verify(w.ctx, added, {})).dns.map(({ type }) => type)).toEqual(['CNAME', 'TXT'])
    },
  )

  test.each([
    [{ host: 'https://links.shop.test' }, 400, 'parameter_invalid_format'],
    [{ host: 'links.shop.test/x' }, 400, 'parameter_invalid_format'],
    [{ host: 'localhost' }, 400, 'parameter_invalid_format'],
    [{ host: '127.0.0.1' }, 400, 'parameter_invalid_format'],
    [{ host: '_links.shop.test' }, 422, 'validation_failed'],
    [{ host: 'carillon.test' }, 422, 'validation_failed'],
    [{ host: ' ' }, 400, 'parameter_invalid_empty'],
    [{}, 400, 'parameter_missing'],
    [{ host: 'links.shop.test', is_verified: true }, 400, 'parameter_unknown'],
  ])('%o is refused', async (body, status, code) => {
    await using w = await world()
    const reply = await w.post('/api/client/domains', body)
    expect([reply.status, reply.body.error.code]).toEqual([status, code])
  })

  test('can be added to a project once, and to another project too', async () => {
    await using w = await world()
    const other = await w.other()
    await add(w)
    expect((await w.post('/api/client/domains', { host: host.toUpperCase() })).status).toBe(409)
    expect((await w.post('/api/client/domains', { host }, { key: other.keys.secret })).status).toBe(201)
  })

  test('can be in any script', async () => {
    await using w = await world()
    expect((await w.post('/api/client/domains', { host: 'klick.bücher.example' })).body.host).toBe('klick.xn--bcher-kva.example')
  })

  test('of another project does not exist', async () => {
    await using w = await world()
    const { id } = await add(w)
    const other = await w.other()
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/verify'],
    ] as const) {
      const body = method === 'PATCH' ? { is_default: true } : undefined
      expect((await w.request(method, `/api/client/domains/${id}${path}`, body, { key: other.keys.secret })).status).toBe(404)
    }
  })

  test('does not exist after it was deleted', async () => {
    await using w = await world()
    const domain = await add(w)
    await verify(w.ctx, domain, cname())
    expect(await trackingBaseUrl(w.ctx, domain.id)).toBe(`https://${host}`)
    expect((await w.delete(`/api/client/domains/${domain.id}`)).status).toBe(204)
    expect((await w.delete(`/api/client/domains/${domain.id}`)).status).toBe(404)
    expect(await trackingBaseUrl(w.ctx, domain.id)).toBe('http://carillon.test')
  })
})

describe('a check of the DNS', () => {
  test.each<[string, (txt: string) => Zone, boolean]>([
    ['a CNAME to this server', () => cname(), true],
    ['a CNAME to another server', () => ({ [host]: { cname: ['elsewhere.test'] } }), false],
    ['our IPv4 address', () => ({ [host]: { a: ['192.0.2.7'] }, [OURS]: { a: ['192.0.2.1', '192.0.2.7'] } }), true],
    ['our IPv6 address', () => ({ [host]: { aaaa: ['2001:db8::1'] }, [OURS]: { aaaa: ['2001:db8::1'] } }), true],
    ['another address', () => ({ [host]: { a: ['192.0.2.8'] }, [OURS]: { a: ['192.0.2.7'] } }), false],
    ['nothing', () => ({}), false],
    ['the TXT record among others', (txt) => ({ [host]: { txt: ['v=spf1 -all', txt] } }), true],
    ['the TXT record under its own name', (txt) => ({ [`_carillon.${host}`]: { txt: [txt] } }), true],
    ['another TXT record', (txt) => ({ [host]: { txt: [`${txt}x`] } }), false],
    ['silence', () => ({ [host]: null }), false],
    ['only the TXT record, without other responses', (txt) => ({ [host]: null, [`_carillon.${host}`]: { txt: [txt] } }), true],
  ])('that finds %s', async (_, zone, isVerified) => {
    await using w = await world()
    const domain = await add(w)
    const checked = await verify(w.ctx, domain, zone(txtOf(domain)))
    expect(checked).toMatchObject({ is_verified: isVerified, checked_at: w.clock.now(), verified_at: isVerified ? w.clock.now() : null })
    expect(checked.problem === null).toBe(isVerified)
    expect(await trackingBaseUrl(w.ctx, domain.id)).toBe(isVerified ? `https://${host}` : 'http://carillon.test')
  })

  test('stops the use of a domain that no longer points here, but not if the DNS does not respond', async () => {
    await using w = await world()
    const domain = await add(w)
    await verify(w.ctx, domain, cname())
    expect(await verify(w.ctx, domain, { [host]: null })).toMatchObject({
      is_verified: true,
      problem: expect.stringContaining('did not respond'),
    })
    expect(await verify(w.ctx, domain, {})).toMatchObject({ is_verified: false, verified_at: null })
    expect(await trackingBaseUrl(w.ctx, domain.id)).toBe('http://carillon.test')
  })

  test('verifies a host that several projects have added for the one with the TXT record', async () => {
    await using w = await world()
    const other = await w.other()
    const early = await add(w, host, other.keys.secret)
    await verify(other.ctx, early, cname())
    const owner = await add(w)
    expect(await verify(w.ctx, owner, cname())).toMatchObject({ is_verified: false, problem: expect.stringContaining('Another project') })
    // A verified domain stays verified until another project has the TXT record.
    expect(await verify(other.ctx, early, cname())).toMatchObject({ is_verified: true })
    expect(await verify(w.ctx, owner, { [host]: { txt: [txtOf(owner)] } })).toMatchObject({ is_verified: true, problem: null })
    expect(await verify(other.ctx, early, cname())).toMatchObject({ is_verified: false })
    expect(await trackingBaseUrl(w.ctx, owner.id)).toBe(`https://${host}`)
  })
})

describe('the default domain', () => {
  test('is used without a domain, or instead of one that is not verified', async () => {
    await using w = await world()
    const usual = await add(w, host, w.keys.secret, { is_default: true })
    const special = await add(w, 'special.shop.test')
    await verify(w.ctx, usual, cname())
    expect(await trackingBaseUrl(w.ctx, null)).toBe(`https://${host}`)
    expect(await trackingBaseUrl(w.ctx, special.id)).toBe(`https://${host}`)
    await verify(w.ctx, special, { 'special.shop.test': { cname: [OURS] } })
    expect(await trackingBaseUrl(w.ctx, special.id)).toBe('https://special.shop.test')
    expect(await trackingBaseUrl(w.ctx, null)).toBe(`https://${host}`)
  })

  test('is only one', async () => {
    await using w = await world()
    const first = await add(w, host, w.keys.secret, { is_default: true })
    const second = await add(w, 'special.shop.test', w.keys.secret, { is_default: true })
    const defaults = async () =>
      (await w.get('/api/client/domains')).body.results.filter((domain: any) => domain.is_default).map(({ id }: any) => id)
    expect(await defaults()).toEqual([second.id])
    await w.patch(`/api/client/domains/${first.id}`, { is_default: true })
    expect(await defaults()).toEqual([first.id])
    expect((await w.patch(`/api/client/domains/${first.id}`, { is_default: false })).body.is_default).toBe(false)
    expect(await defaults()).toEqual([])
  })

  test('is only one when two are made the default at the same time', async () => {
    await using w = await world()
    const ids = [(await add(w, host)).id, (await add(w, 'special.shop.test')).id]
    const setAll = (is_default: boolean) => Promise.all([...ids, ...ids].map((id) => w.patch(`/api/client/domains/${id}`, { is_default })))
    for (let round = 0; round < 5; round++) {
      expect((await setAll(true)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect((await w.get('/api/client/domains')).body.results.filter((domain: any) => domain.is_default)).toHaveLength(1)
      await setAll(false)
    }
  })
})

import { Resolver } from 'node:dns/promises'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeDns, openFakeDns } from '../../../test/internet/fake-dns.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { signMail } from '../../lib/dkim/sign.ts'
import type { DomainId } from '../../lib/ids.ts'
import { sendingDomainOf } from './sending/senders.ts'
import { checkDueDomains, verifyDomain } from './verify.ts'

let dns: FakeDns
let count = 0
// The worlds of a file share a database.
let domain = ''

beforeAll(async () => {
  dns = await openFakeDns()
})
afterAll(() => dns[Symbol.asyncDispose]())
beforeEach(() => {
  domain = `shop-${++count}.example`
})

const resolver = () => {
  const resolver = new Resolver({ timeout: 300, tries: 1 })
  resolver.setServers([dns.server])
  return resolver
}

type Shown = { purpose: string; type: string; name: string; value: string; status: string; is_required: boolean; note: string | null }

const add = async (w: World, body: object = { sending_domain: domain }) => (await w.post('/api/client/domains', body)).body
const read = async (w: World, id: number) => (await w.get(`/api/client/domains/${id}`)).body
const verify = (w: World, id: number) => verifyDomain(w.ctx, id as DomainId, resolver())
const check = (w: World) => checkDueDomains(w.ctx, resolver)

/** A long text is several strings. */
const strings = (text: string) => [text.slice(0, 200), text.slice(200)]

/** Publishes records as a zone file of them would. */
function publish(records: Shown[]): void {
  for (const { type, name, value } of records) {
    if (type === 'TXT') dns.set(name, { txt: [strings(value)] })
    if (type === 'MX') dns.set(name, { mx: [[10, value.replace('10 ', '')]] })
    if (type === 'CNAME') dns.set(name, { cname: value })
  }
}

const ofKeys = (records: Shown[]) => records.filter(({ purpose }) => purpose === 'dkim')
const linkNames = (records: Shown[]) =>
  records.filter(({ purpose }) => purpose === 'tracking' || purpose === 'ownership').map(({ name }) => name)
const statuses = (records: Shown[]) => records.map(({ purpose, status }) => `${purpose} ${status}`)

/** A domain whose records are published and found. */
async function verified(w: World): Promise<{ id: number; records: Shown[] }> {
  const { id, records } = await add(w)
  publish(records)
  expect((await verify(w, id)).sending?.is_verified).toBe(true)
  return { id, records }
}

describe('a sending domain', () => {
  test('is added with the records to publish: two keys, DMARC, return path, SPF, and those for links', async () => {
    await using w = await world()
    const added = await add(w)
    expect(added).toMatchObject({ host: `links.${domain}`, is_verified: false, sending: { domain, is_verified: false, problem: null } })
    expect(added.records).toEqual([
      expect.objectContaining({
        purpose: 'dkim',
        type: 'TXT',
        name: expect.stringMatching(new RegExp(`^c[0-9a-f]{10}r\\._domainkey\\.${domain}$`)),
        value: expect.stringMatching(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{392}$/),
        is_required: true,
        status: 'unchecked',
      }),
      expect.objectContaining({
        purpose: 'dkim',
        value: expect.stringMatching(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/),
        is_required: false,
      }),
      expect.objectContaining({ purpose: 'dmarc', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', is_required: true }),
      expect.objectContaining({ purpose: 'return_path', type: 'MX', name: `bounce.${domain}`, value: '10 carillon.test' }),
      expect.objectContaining({ purpose: 'spf', name: `bounce.${domain}`, value: 'v=spf1 a:carillon.test -all' }),
      expect.objectContaining({ purpose: 'tracking', type: 'CNAME', name: `links.${domain}`, value: 'carillon.test' }),
      expect.objectContaining({ purpose: 'ownership', type: 'TXT' }),
    ])
    expect(JSON.stringify(added)).not.toContain('PRIVATE KEY')
  })

  test('is verified once its records are found, and signs with both keys', async () => {
    await using w = await world()
    const { id, records } = await add(w)
    expect(await sendingDomainOf(w.ctx, domain)).toMatchObject({ is_verified: false, dkim: [], return_path: 'carillon.test' })
    publish(records)
    const shown = await verify(w, id)
    expect(statuses(shown.records)).toEqual(['dkim ok', 'dkim ok', 'dmarc ok', 'return_path ok', 'spf ok', 'tracking ok', 'ownership ok'])
    expect(shown.sending).toMatchObject({ is_verified: true, problem: null, return_path: `bounce.${domain}` })
    const sender = await sendingDomainOf(w.ctx, domain)
    expect(sender).toMatchObject({ domain, is_verified: true, return_path: `bounce.${domain}` })
    const mail = Buffer.from(`From: hello@${domain}\r\nSubject: Hello\r\n\r\nHello\r\n`)
    const signed = await signMail(mail, sender?.dkim ?? [], w.clock.now())
    const { results } = await dkimVerify(signed, {
      resolver: ((name: string) => resolver().resolveTxt(name)) as never,
      curTime: w.clock.now(),
    })
    expect(results.map(({ status }) => status.result)).toEqual(['pass', 'pass'])
  })

  test('needs a key and a policy, and says which one is missing', async () => {
    await using w = await world()
    const { id, records } = await add(w)
    const nothing = await verify(w, id)
    expect(nothing.sending?.problem).toBe(
      `There is no TXT record at \`${records[0].name}\`. Publish the value in \`records\`, and verify the domain again.`,
    )
    publish(ofKeys(records))
    expect((await verify(w, id)).sending).toMatchObject({ is_verified: false, problem: expect.stringContaining(`_dmarc.${domain}`) })
    publish(records.filter(({ purpose }: Shown) => purpose === 'dmarc'))
    expect((await verify(w, id)).sending).toMatchObject({ is_verified: true, problem: null, return_path: 'carillon.test' })
  })

  test('is checked although its policy has U+0000, which is shown as U+FFFD', async () => {
    await using w = await world()
    const { id } = await verified(w)
    dns.set(`_dmarc.${domain}`, { txt: ['v=DMARC1; p=reject; rua=mailto:a\0b@example.com'] })
    const shown = (await verify(w, id)).records.find(({ purpose }: Shown) => purpose === 'dmarc')
    const record = 'v=DMARC1; p=reject; rua=mailto:a\ufffdb@example.com'
    expect(shown).toMatchObject({ status: 'ok', found: [record], value: record })
  })

  test('serves its subdomains, unless its policy asks for the same domain', async () => {
    await using w = await world()
    const { id } = await verified(w)
    expect(await sendingDomainOf(w.ctx, `NEWS.${domain}`)).toMatchObject({ domain, is_verified: true })
    expect(await sendingDomainOf(w.ctx, `not${domain}`)).toBeUndefined()
    dns.set(`_dmarc.${domain}`, { txt: ['v=DMARC1; p=reject; adkim=s; aspf=s'] })
    await verify(w, id)
    expect(await sendingDomainOf(w.ctx, `news.${domain}`)).toMatchObject({ domain, is_verified: false })
    expect(await sendingDomainOf(w.ctx, domain)).toMatchObject({ is_verified: true })
  })

  test('serves its subdomains although its policy asks for the same domain in signatures, once SPF passes, unless it asks so there too', async () => {
    await using w = await world({ env: { MTA_HOSTNAME: 'mail.example.com' } })
    const { id, records } = await verified(w)
    const isServed = async () => (await sendingDomainOf(w.ctx, `news.${domain}`))?.is_verified
    const policy = async (text: string) => {
      dns.set(`_dmarc.${domain}`, { txt: [text] })
      await verify(w, id)
      return isServed()
    }
    expect(await policy('v=DMARC1; p=reject; adkim=s')).toBe(true)
    // Where bounces go elsewhere, receivers see the SPF record of that domain.
    expect(await sendingDomainOf(w.ctx, `news.${domain}`, 'bounce.elsewhere.example')).toMatchObject({ is_verified: false })
    expect(await sendingDomainOf(w.ctx, `news.${domain}`, `bounce.${domain}`)).toMatchObject({ is_verified: true })
    expect(await sendingDomainOf(w.ctx, domain, 'bounce.elsewhere.example')).toMatchObject({ is_verified: true })
    expect(await policy('v=DMARC1; p=reject; adkim=s; aspf=s')).toBe(false)
    expect(await policy('v=DMARC1; p=reject; aspf=s')).toBe(true)
    const spf = records.find(({ purpose }) => purpose === 'spf') as Shown
    dns.set(spf.name, { mx: [[10, 'mail.example.com']], txt: ['v=spf1 -all'] })
    expect(await policy('v=DMARC1; p=reject; adkim=s')).toBe(false)
  })

  test('can have the policy of its organisational domain', async () => {
    await using w = await world()
    const { id, records } = await add(w, { sending_domain: `mail.${domain}` })
    publish(ofKeys(records))
    dns.set(`_dmarc.${domain}`, { txt: ['v=DMARC1; p=reject; sp=quarantine'] })
    const { sending, records: shown } = await verify(w, id)
    expect(sending?.is_verified).toBe(true)
    expect(shown.find(({ purpose }) => purpose === 'dmarc')).toMatchObject({ status: 'ok', note: `The policy comes from ${domain}.` })
    expect(sending).toMatchObject({ dmarc: { policy: 'quarantine', is_inherited: true } })
  })

  test.each<[string, object]>([
    ['an address', { sending_domain: '127.0.0.1' }],
    ['a public suffix', { sending_domain: 'co.uk' }],
    ['a name of this machine', { sending_domain: 'localhost' }],
    ['neither host nor domain', {}],
  ])('cannot be %s', async (_, body) => {
    await using w = await world()
    expect([400, 422]).toContain((await w.post('/api/client/domains', body)).status)
  })

  test('is in a project once, and projects have keys of their own for it', async () => {
    await using w = await world()
    const other = await w.other()
    const { records } = await add(w)
    const again = await w.post('/api/client/domains', { host: 'elsewhere.example', sending_domain: domain })
    expect([again.status, again.body.error.param]).toEqual([409, 'sending_domain'])
    const theirs = await w.post('/api/client/domains', { sending_domain: domain }, { key: other.keys.secret })
    expect(theirs.status).toBe(201)
    expect(theirs.body.records[0].name).not.toBe(records[0].name)
    publish(records)
    expect((await verifyDomain(other.ctx, theirs.body.id, resolver())).sending?.is_verified).toBe(false)
  })

  test('takes its keys with it when it is deleted', async () => {
    await using w = await world()
    const { id } = await verified(w)
    await w.delete(`/api/client/domains/${id}`)
    expect(await sendingDomainOf(w.ctx, domain)).toBeUndefined()
    expect((await w.post(`/api/client/domains/${id}/rotate-keys`)).status).toBe(404)
  })
})

describe('records that are found', () => {
  test.each<[string, (records: Shown[]) => void, string]>([
    [
      'a key with white space',
      ([key]) => dns.set(key?.name ?? '', { txt: [strings((key?.value ?? '').replace('p=', 'p= ').replace('; k', ' ;  k'))] }),
      'dkim ok',
    ],
    ['another key', ([key]) => dns.set(key?.name ?? '', { txt: ['v=DKIM1; k=rsa; p=AAAA'] }), 'dkim wrong'],
    ['a revoked key', ([key]) => dns.set(key?.name ?? '', { txt: ['v=DKIM1; p='] }), 'dkim wrong'],
    ['two records of a key', ([key]) => dns.set(key?.name ?? '', { txt: [strings(key?.value ?? ''), 'v=DKIM1; p=AAAA'] }), 'dkim wrong'],
    ['no response', ([key]) => dns.fault(key?.name ?? '', 'servfail'), 'dkim unknown'],
    ['two policies', () => dns.set(`_dmarc.${domain}`, { txt: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] }), 'dmarc wrong'],
    ['a policy of another kind', () => dns.set(`_dmarc.${domain}`, { txt: ['v=DMARC1; p=maybe'] }), 'dmarc missing'],
    ['an alias of the return path', () => dns.set(`bounce.${domain}`, { cname: 'carillon.test' }), 'return_path ok'],
    ['another return path', () => dns.set(`bounce.${domain}`, { mx: [[10, 'mx.elsewhere.example']] }), 'return_path wrong'],
    ['SPF with our name in an include', () => dns.set(`bounce.${domain}`, { txt: ['v=spf1 include:carillon.test ~all'] }), 'spf ok'],
    ['SPF that names others', () => dns.set(`bounce.${domain}`, { txt: ['v=spf1 include:_spf.elsewhere.example -all'] }), 'spf wrong'],
    ['SPF that refuses us', () => dns.set(`bounce.${domain}`, { txt: ['v=spf1 -a:carillon.test -all'] }), 'spf wrong'],
  ])('%s', async (_, change, expected) => {
    await using w = await world()
    const { id, records } = await add(w)
    change(records)
    expect(statuses((await verify(w, id)).records)).toContain(expected)
  })

  test('SPF that includes a record which names all of our addresses', async () => {
    await using w = await world({ env: { MTA_ADDRESSES: '192.0.2.7,2001:db8::7', MTA_HOSTNAME: 'mail.carillon.test' } })
    const { id, records } = await add(w)
    expect(records.find(({ purpose }: Shown) => purpose === 'spf').value).toBe(
      'v=spf1 a:mail.carillon.test ip4:192.0.2.7 ip6:2001:db8::7 -all',
    )
    dns.set(`bounce.${domain}`, { txt: [`v=spf1 include:_spf.${domain} -all`] })
    dns.set(`_spf.${domain}`, { txt: ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all'] })
    expect(statuses((await verify(w, id)).records)).toContain('spf ok')
    dns.set(`_spf.${domain}`, { txt: ['v=spf1 ip4:192.0.2.0/24 -all'] })
    expect(statuses((await verify(w, id)).records)).toContain('spf wrong')
  })

  test.each<[string[], string]>([
    [['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'], 'Cloudflare'],
    [['ns-1.awsdns-22.co.uk'], 'Amazon Route 53'],
    [['ns1.own.example'], 'ns1.own.example'],
  ])('name servers %j show where the DNS is', async (servers, name) => {
    await using w = await world()
    const { id } = await add(w)
    const names = { ...resolver(), resolveNs: async () => servers }
    const asked = resolver()
    for (const method of ['resolveTxt', 'resolve4', 'resolve6', 'resolveMx', 'resolveCname'] as const) {
      Object.assign(names, { [method]: asked[method].bind(asked) })
    }
    expect((await verifyDomain(w.ctx, id as DomainId, names as never)).sending?.dns_host).toBe(name)
  })
})

describe('new keys', () => {
  test('sign once their records are found, and the old records stay listed for seven days', async () => {
    await using w = await world()
    const { id, records } = await verified(w)
    const old = ofKeys(records).map(({ name }) => name)
    w.advance('1 minute')
    const rotated = (await w.post(`/api/client/domains/${id}/rotate-keys`)).body
    expect(ofKeys(rotated.records).map(({ name }: Shown) => name)).toEqual([...old, expect.anything(), expect.anything()])
    const selectors = async () => (await sendingDomainOf(w.ctx, domain))?.dkim.map(({ selector }) => `${selector}._domainkey.${domain}`)
    expect(await selectors()).toEqual(old)
    expect((await verify(w, id)).sending?.is_verified).toBe(true)
    expect(await selectors()).toEqual(old)
    // A second rotation adds nothing while the first one waits.
    expect(ofKeys((await w.post(`/api/client/domains/${id}/rotate-keys`)).body.records)).toHaveLength(4)
    const fresh = ofKeys(rotated.records).slice(2)
    publish(fresh)
    const found = await verify(w, id)
    expect(await selectors()).toEqual(fresh.map(({ name }) => name))
    expect(ofKeys(found.records)[0]).toMatchObject({ is_required: false, note: expect.stringContaining('The key no longer signs.') })
    expect((await w.get(`/api/client/domains/${id}/zone-file`)).text).not.toContain(old[0])
    w.advance('6 days')
    expect(ofKeys((await verify(w, id)).records)).toHaveLength(4)
    w.advance('2 days')
    expect(ofKeys((await verify(w, id)).records).map(({ name }) => name)).toEqual(fresh.map(({ name }) => name))
  })

  test('are made, once, for a domain that published only the required one, and replace what it never published', async () => {
    await using w = await world()
    const { id, records } = await add(w)
    const [rsa, ...optional] = ofKeys(records)
    publish([rsa as Shown, ...records.filter(({ purpose }: Shown) => purpose === 'dmarc')])
    expect((await verify(w, id)).sending?.is_verified).toBe(true)
    w.advance('1 minute')
    const rotated = ofKeys((await w.post(`/api/client/domains/${id}/rotate-keys`)).body.records)
    expect(rotated).toHaveLength(4)
    expect(ofKeys((await w.post(`/api/client/domains/${id}/rotate-keys`)).body.records)).toHaveLength(4)
    const [fresh, unused] = rotated.slice(2) as [Shown, Shown]
    publish([fresh])
    expect(ofKeys((await verify(w, id)).records).map(({ name }) => name)).toEqual([rsa?.name, fresh.name, unused.name])
    w.advance('8 days')
    expect(ofKeys((await verify(w, id)).records).map(({ name }) => name)).toEqual([fresh.name, unused.name])
    expect(optional.map(({ name }: Shown) => name)).not.toContain(unused.name)
  })

  test('are made, once, after the record of the current one was removed first', async () => {
    await using w = await world()
    const { id, records } = await verified(w)
    dns.set(ofKeys(records)[0]?.name ?? '', { txt: [] })
    expect((await verify(w, id)).sending?.is_verified).toBe(false)
    w.advance('1 minute')
    const rotated = ofKeys((await w.post(`/api/client/domains/${id}/rotate-keys`)).body.records)
    expect(rotated).toHaveLength(4)
    expect(ofKeys((await w.post(`/api/client/domains/${id}/rotate-keys`)).body.records)).toHaveLength(4)
    publish(rotated.slice(2))
    const found = await verify(w, id)
    expect(found.sending?.is_verified).toBe(true)
    expect((await sendingDomainOf(w.ctx, domain))?.dkim.map(({ selector }) => `${selector}._domainkey.${domain}`)).toEqual(
      rotated.slice(2).map(({ name }) => name),
    )
    // Putting a record back that was removed because its key leaked would let others sign with it.
    expect(ofKeys(found.records).map(({ name }) => name)).toEqual([ofKeys(records)[1]?.name, ...rotated.slice(2).map(({ name }) => name)])
    w.advance('8 days')
    expect(ofKeys((await verify(w, id)).records)).toHaveLength(2)
  })

  test('are not made while the first ones wait for their records', async () => {
    await using w = await world()
    const { id } = await add(w)
    await verify(w, id)
    expect(ofKeys((await w.post(`/api/client/domains/${id}/rotate-keys`)).body.records)).toHaveLength(2)
  })

  test('are not made for a domain for links only', async () => {
    await using w = await world()
    const { id } = await add(w, { host: `links.${domain}` })
    const reply = await w.post(`/api/client/domains/${id}/rotate-keys`)
    expect([reply.status, reply.body.error.param]).toEqual([422, 'sending_domain'])
  })
})

describe('in the background', () => {
  beforeEach(async () => {
    await using w = await world()
    await w.db.run(sql`delete from domains`)
  })

  test('a domain is checked every hour until it is verified, and then every day', async () => {
    await using w = await world()
    const { id, records } = await add(w)
    expect(await check(w)).toBe(0)
    w.advance('1 hour')
    expect(await check(w)).toBe(1)
    publish(records)
    w.advance('59 minutes')
    expect(await check(w)).toBe(0)
    w.advance('1 minute')
    expect(await check(w)).toBe(1)
    expect((await read(w, id)).sending.is_verified).toBe(true)
    w.advance('23 hours')
    expect(await check(w)).toBe(0)
    w.advance('1 hour')
    expect(await check(w)).toBe(1)
  })

  test('a domain that published only what is required is checked every day', async () => {
    await using w = await world()
    const { records } = await add(w)
    publish(records.filter(({ is_required }: Shown) => is_required))
    w.advance('1 hour')
    expect(await check(w)).toBe(1)
    w.advance('23 hours')
    expect(await check(w)).toBe(0)
    w.advance('1 hour')
    expect(await check(w)).toBe(1)
  })

  test('three checks that fail in a row end the verification, and fewer do not', async () => {
    const lines: string[] = []
    await using w = await world({ log: { write: (line) => void lines.push(line) } })
    const { id, records } = await verified(w)
    const [key] = records
    dns.set(key?.name ?? '', { txt: [] })
    for (const wait of ['1 day', '1 hour']) {
      w.advance(wait)
      expect(await check(w)).toBe(1)
      expect(await sendingDomainOf(w.ctx, domain)).toMatchObject({ is_verified: true, dkim: { length: 2 } })
    }
    expect((await read(w, id)).sending.problem).toContain('There is no TXT record')
    w.advance('1 hour')
    await check(w)
    expect(await sendingDomainOf(w.ctx, domain)).toMatchObject({ is_verified: false, dkim: { length: 1 } })
    expect(lines.filter((line) => line.includes('a domain is not verified any more'))).toHaveLength(1)
    publish(records)
    w.advance('1 hour')
    await check(w)
    expect(await sendingDomainOf(w.ctx, domain)).toMatchObject({ is_verified: true, dkim: { length: 2 } })
  })

  test('links and sending each have their own count', async () => {
    await using w = await world()
    const { id, records } = await verified(w)
    for (const name of linkNames(records)) dns.remove(name)
    for (const wait of ['1 day', '1 hour']) {
      w.advance(wait)
      expect(await check(w)).toBe(1)
    }
    dns.set(records[0]?.name ?? '', { txt: [] })
    w.advance('1 hour')
    await check(w)
    expect(await read(w, id)).toMatchObject({ is_verified: false, sending: { is_verified: true, problem: expect.any(String) } })
  })

  test('silence of the DNS does not begin the count of links again', async () => {
    await using w = await world()
    const { id, records } = await verified(w)
    const names = linkNames(records)
    for (const name of names) dns.remove(name)
    const states: boolean[] = []
    for (const step of ['missing', 'missing', 'silent', 'missing']) {
      for (const name of names) dns.fault(name, step === 'silent' ? 'servfail' : undefined)
      w.advance('1 day')
      expect(await check(w)).toBe(1)
      states.push((await read(w, id)).is_verified)
    }
    expect(states).toEqual([true, true, true, false])
  })

  test('a check that succeeds in between begins the count again, and silence of the DNS counts for nothing', async () => {
    await using w = await world()
    const { records } = await verified(w)
    const name = records[0]?.name ?? ''
    const steps = ['fail', 'fail', 'ok', 'fail', 'fail', 'silent', 'silent']
    for (const step of steps) {
      dns.fault(name, step === 'silent' ? 'servfail' : undefined)
      if (step === 'fail') dns.set(name, { txt: [] })
      if (step === 'ok') publish(records)
      w.advance('1 day')
      await check(w)
      expect(await sendingDomainOf(w.ctx, domain)).toMatchObject({ is_verified: true })
    }
  })

  test('the policy that a domain can have next is recommended after two weeks, and again after four', async () => {
    await using w = await world()
    const { id } = await verified(w)
    const policy = async () => (await read(w, id)).records.find(({ purpose }: Shown) => purpose === 'dmarc').value
    expect(await policy()).toBe('v=DMARC1; p=none')
    const walk = async () => (await read(w, id)).sending.dmarc
    const { verified_at } = (await read(w, id)).sending
    const after = (days: number) => new Date(Date.parse(verified_at) + days * 86_400_000).toISOString()
    expect(await walk()).toEqual({ policy: 'none', is_inherited: false, next_policy: 'quarantine', next_at: after(14), reports_to: [] })
    w.advance('14 days')
    await check(w)
    expect(await policy()).toBe('v=DMARC1; p=quarantine')
    dns.set(`_dmarc.${domain}`, { txt: ['v=DMARC1; p=quarantine; rua=mailto:a@b.example'] })
    w.advance('14 days')
    await check(w)
    expect(await policy()).toBe('v=DMARC1; p=reject; rua=mailto:a@b.example')
    expect(await walk()).toMatchObject({ policy: 'quarantine', next_policy: 'reject', next_at: after(28), reports_to: ['a@b.example'] })
    dns.set(`_dmarc.${domain}`, { txt: ['v=DMARC1; p=reject'] })
    w.advance('1 day')
    await check(w)
    expect(await walk()).toMatchObject({ policy: 'reject', next_policy: null, next_at: null })
    dns.set(`_dmarc.${domain}`, { txt: [] })
    w.advance('1 day')
    await check(w)
    expect(await walk()).toBeNull()
  })
})

test('a zone file has every record, with long texts in several strings', async () => {
  await using w = await world()
  const { id, records } = await add(w)
  const reply = await w.get(`/api/client/domains/${id}/zone-file`)
  expect(reply.headers['content-type']).toMatch(/^text\/dns/)
  const lines = reply.text.trim().split('\n')
  expect(lines).toHaveLength(records.length)
  expect(lines[0]).toMatch(/^c[0-9a-f]{10}r\._domainkey\.shop-\d+\.example\. 3600 IN TXT "v=DKIM1; k=rsa; p=[^"]{237}" "[^"]+"$/)
  expect(lines).toContain(`bounce.${domain}. 3600 IN MX 10 carillon.test.`)
  expect(lines).toContain(`links.${domain}. 3600 IN CNAME carillon.test.`)
})

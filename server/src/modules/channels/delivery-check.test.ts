/** The test of the provider `mta` (D-MTA-46): what has to work before email is delivered, and what to do if it does not. */
import { describe, expect, test } from 'vitest'
import { REFUSING_ADDRESS } from '../../../test/internet/internet.ts'
import { type MailWorld, mailWorld } from '../../../test/mail-queue.ts'
import { sql } from '../../infra/postgres/db.ts'
import { reverseName } from '../../lib/reverse-name.ts'
import type { ProviderTools } from './provider.ts'
import { mta } from './providers/mta.ts'

const LIMIT_MS = 30_000

/** A world whose provider has the sender `shop@example.com`. Returns what tests it. */
async function checkedWorld(default_from = 'Shop <shop@example.com>') {
  const w = await mailWorld()
  const { id } = (await w.get('/api/client/providers')).body.results[0]
  await w.patch(`/api/client/providers/${id}`, { settings: { default_from } })
  return { w, check: async () => (await w.post(`/api/client/providers/${id}/test`)).body }
}

const refuse = (w: MailWorld, host: string) => w.internet.dns.set(host, { a: [], aaaa: [REFUSING_ADDRESS] })

describe('the test of a provider that delivers email itself', () => {
  test('works if a mail host of the sender’s domain accepts connections, and sends it nothing', async () => {
    const { w, check } = await checkedWorld()
    await using _ = w
    w.internet.domain('example.com', 'mx.example.com')
    expect(await check()).toEqual({ works: true })
    expect(w.internet.mx.hosts.get('mx.example.com')?.mails).toHaveLength(0)
  })

  test('reaches a well-known domain if that of the sender has no mail host', async () => {
    const { w, check } = await checkedWorld()
    await using _ = w
    w.internet.domain('gmail.com', 'mx.gmail.com')
    expect(await check()).toEqual({ works: true })
  })

  test('says that the port is closed', async () => {
    const { w, check } = await checkedWorld()
    await using _ = w
    w.internet.domain('example.com', 'mx.example.com')
    refuse(w, 'mx.example.com')
    expect(await check()).toEqual({
      works: false,
      message: expect.stringMatching(/^No mail host could be reached: mx\.example\.com \(refused\)\. .* port 25/),
    })
  })

  test('does not wait for name servers that are silent', { timeout: LIMIT_MS }, async () => {
    const { w, check } = await checkedWorld()
    await using _ = w
    for (const name of ['example.com', 'gmail.com']) w.internet.dns.fault(name, 'timeout')
    expect(await check()).toEqual({
      works: false,
      message: expect.stringMatching(/^The name servers could not find any mail hosts: .*Check the setting `DNS_SERVERS`/),
    })
  })

  test('says that the domain of the sender is not verified, or none of the project', async () => {
    const { w, check } = await checkedWorld()
    await using _ = w
    w.internet.domain('example.com', 'mx.example.com')
    await w.db.run(sql`update domains set sending_verified_at = null where project_id = ${w.projectId}`)
    expect(await check()).toEqual({ works: false, message: expect.stringContaining('Publish its `records` and verify it.') })
    const { id } = (await w.get('/api/client/providers')).body.results[0]
    await w.patch(`/api/client/providers/${id}`, { settings: { default_from: 'shop@elsewhere.example' } })
    expect(await check()).toEqual({ works: false, message: expect.stringContaining('is not a domain of this project') })
  })

  test('says that the sender is not verified with the return domain of the provider', async () => {
    const { w, check } = await checkedWorld('shop@news.example.com')
    await using _ = w
    w.internet.domain('example.com', 'mx.example.com')
    w.internet.domain('news.example.com', 'mx.example.com')
    await w.db.run(
      sql`update domains set is_strict = true, has_return_path = true, spf_alignment = 'relaxed' where project_id = ${w.projectId}`,
    )
    w.advance('1 minute')
    expect(await check()).toEqual({ works: true })
    const { id } = (await w.get('/api/client/providers')).body.results[0]
    await w.patch(`/api/client/providers/${id}`, {
      settings: { default_from: 'shop@news.example.com', return_domain: 'bounce.other.example' },
    })
    expect(await check()).toEqual({
      works: false,
      message: expect.stringMatching(/is not verified for emails from `news\.example\.com`\. Its records were found.* `return_domain`/),
    })
  })
})

describe('the name of the server, in production', () => {
  const toolsWith = (w: MailWorld, name: string, addresses: string[] = []): ProviderTools =>
    ({
      ...w.ctx,
      mail: { ...w.ctx.mail, name, addresses, needsPublicName: true },
      senderOf: async () => undefined,
    }) as unknown as ProviderTools

  test('is one that resolves to an address which the Internet reaches', async () => {
    await using w = await mailWorld()
    w.internet.domain('gmail.com', 'mx.gmail.com')
    w.internet.dns.set('mail.example.com', { a: ['192.0.2.1'] })
    w.internet.dns.set('public.example.com', { a: ['8.8.8.8'] })
    w.internet.dns.set('8.8.8.8.in-addr.arpa', { ptr: ['public.example.com'] })
    const said = async (name: string) => mta.test({}, toolsWith(w, name))
    expect(await said('public.example.com')).toEqual({ works: true })
    const problems: [name: string, problem: string][] = [
      ['[127.0.0.1]', 'This server has no public host name. '],
      ['none.example.com', 'The host name `none.example.com` of this server cannot be resolved: '],
      ['mail.example.com', 'The host name `mail.example.com` of this server resolves to 192.0.2.1, which is not a public address. '],
    ]
    for (const [name, problem] of problems) {
      expect(await said(name)).toEqual({ works: false, message: expect.stringContaining(problem) })
      expect(await said(name)).toEqual({ works: false, message: expect.stringContaining('Set `MTA_HOSTNAME` to a public host name') })
    }
  })

  test('has all of its problems in one answer', async () => {
    await using w = await mailWorld()
    w.internet.domain('gmail.com', 'mx.gmail.com')
    const checked = await mta.test({}, toolsWith(w, 'none.example.com', ['8.8.8.8', '8.8.4.4', '1.1.1.1']))
    expect(checked).toMatchObject({
      works: false,
      message: expect.stringContaining('`none.example.com` of this server cannot be resolved'),
    })
    for (const address of ['8.8.8.8', '8.8.4.4', '1.1.1.1'])
      expect(checked).toMatchObject({ message: expect.stringContaining(`The reverse DNS (PTR) of the address ${address} is missing.`) })
  })

  test('may be shared by many addresses of both families', async () => {
    await using w = await mailWorld()
    w.internet.domain('gmail.com', 'mx.gmail.com')
    const { dns } = w.internet
    const addresses = ['8.8.8.8', '8.8.4.4', '1.1.1.1', '9.9.9.9', '2606:4700:4700::1111']
    dns.set('mail.example.com', { a: ['8.8.8.8'] })
    dns.set('out.example.com', { a: addresses.slice(0, -1), aaaa: addresses.slice(-1) })
    for (const address of addresses) dns.set(reverseName(address), { ptr: ['out.example.com'] })
    expect(await mta.test({}, toolsWith(w, 'mail.example.com', addresses))).toEqual({ works: true })
  })

  test('is the name of its addresses too', async () => {
    await using w = await mailWorld()
    w.internet.domain('gmail.com', 'mx.gmail.com')
    const { dns } = w.internet
    dns.set('mail.example.com', { a: ['8.8.8.8'] })
    dns.set('out.example.com', { a: ['8.8.4.4'] })
    const said = async (...addresses: string[]) => mta.test({}, toolsWith(w, 'mail.example.com', addresses))
    const refused = (fault: string) => ({
      works: false,
      message: expect.stringContaining(`The reverse DNS (PTR) of the address ${fault}. Set it to \`mail.example.com\``),
    })
    expect(await said()).toEqual(refused('8.8.8.8 is missing'))
    dns.set('1.1.1.1.in-addr.arpa', { ptr: ['other.example.com'] })
    expect(await said('1.1.1.1')).toEqual(refused('1.1.1.1 is other.example.com'))
    // A name that leads back to the address will do, and a fault of the DNS is no problem of the address.
    dns.set('4.4.8.8.in-addr.arpa', { ptr: ['out.example.com'] })
    dns.fault('9.9.9.9.in-addr.arpa', 'servfail')
    expect(await said('8.8.4.4', '9.9.9.9')).toEqual({ works: true })
  })
})

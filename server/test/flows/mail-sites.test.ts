/** Limits of mail sites hold for what mail hosts get, and projects see what happened to it. Observed at the hosts. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { REFUSING_ADDRESS } from '../internet/internet.ts'
import type { Reaction } from '../internet/mx-host.ts'
import { type MailWorld, mailWorld, typesOf } from '../mail-queue.ts'
import { queueMail } from '../queued-mail.ts'

let w: MailWorld
beforeAll(async () => {
  w = await mailWorld()
})
afterAll(() => w[Symbol.asyncDispose]())

const slowly = (then: NonNullable<Reaction['then']>): Reaction => ({ delayMs: 100, then })

const siteLabelled = async (label: string) =>
  (await w.get('/api/client/mail-sites?limit=100')).body.results.find((one: { label: string }) => one.label === label)

test('a site has its counts and its last reply', async () => {
  w.internet.host('mx.one.example.org', {})
  w.internet.domain('one.example.org', 'mx.one.example.org')
  w.internet.host('mx.two.example.org', { script: { RCPT: '550 5.1.1 No such user' } })
  w.internet.domain('two.example.org', 'mx.two.example.org')
  w.internet.host('mx.three.example.org', { script: { RCPT: '451 4.3.0 Later' } })
  w.internet.domain('three.example.org', 'mx.three.example.org')
  for (const domain of ['one', 'one', 'two', 'three']) await w.mailTo(`${domain}.example.org`)
  await w.events()
  const counts = async (label: string) => (await siteLabelled(label)).last_24_hours
  expect(await counts('mx.one.example.org')).toMatchObject({ delivered: 2, deferred: 0, bounced: 0 })
  expect(await counts('mx.two.example.org')).toMatchObject({ delivered: 0, deferred: 0, bounced: 1, bounce_share: 1 })
  expect(await counts('mx.three.example.org')).toMatchObject({ delivered: 0, deferred: 1, bounced: 0, deferral_share: 1 })
  expect((await siteLabelled('mx.three.example.org')).last_reply).toBe('451 4.3.0 Later')
  expect((await siteLabelled('mx.one.example.org')).last_reply).toBe(null)
})

test('a domain with more equal hosts than an attempt tries is one site, whichever of them come first', async () => {
  const domain = 'many.example.org'
  const hosts = Array.from({ length: 8 }, (_, at) => w.internet.host(`mx${at}.${domain}`))
  for (const inOrder of [hosts, hosts.toReversed()]) {
    w.internet.dns.set(domain, { mx: inOrder.map(({ name }) => [10, name]) })
    await w.mailTo(domain)
    await w.events()
    w.advance('1 hour')
  }
  expect([hosts[0], hosts[7]].map((host) => host?.counts.accepted)).toEqual([1, 1])
  const { results } = (await w.get('/api/client/mail-sites?limit=100')).body
  expect(results.filter(({ label }: { label: string }) => label === domain)).toMatchObject([{ last_24_hours: { delivered: 2 } }])
})

test('a site whose host refuses ten connections is suspended: email waits without a connection', async () => {
  const domain = 'five.example.org'
  w.internet.dns.set(`mx.${domain}`, { aaaa: [REFUSING_ADDRESS] })
  w.internet.dns.set(domain, { mx: [[10, `mx.${domain}`]] })
  const refused = async () => (await w.events()).filter(({ type }) => type === 'delivery.connect-error').length
  for (let count = 0; count < 10; count++) {
    await w.mailTo(domain)
    expect(await refused()).toBe(1)
    w.advance('1 second')
  }
  w.advance('6 seconds')
  await w.mailTo(domain)
  expect(await refused()).toBe(0)
  expect(await siteLabelled(`mx.${domain}`)).toMatchObject({ state: 'suspended', state_reason: 'unreachable' })
  w.advance('5 minutes')
  expect(await refused()).toBe(1)
})

test('an email to ten colleagues whose host refuses the connection is one failure of the site', async () => {
  const domain = 'six.example.org'
  w.internet.dns.set(`mx.${domain}`, { aaaa: [REFUSING_ADDRESS] })
  w.internet.dns.set(domain, { mx: [[10, `mx.${domain}`]] })
  await queueMail(w, { to: Array.from({ length: 10 }, (_, at) => `colleague-${at}@${domain}`) })
  expect(typesOf(await w.events())).toContain('connect-error')
  await w.mailTo(domain)
  expect(typesOf(await w.events())).toContain('connect-error')
})

test('a connection that fails is one failure of the site, however many emails waited for it', async () => {
  await using own = await mailWorld({ MTA_LIMITS: JSON.stringify({ '*': { connections: 1 } }) })
  const [domain, host] = ['seven.example.org', 'mx.seven.example.org']
  const { counts } = own.internet.host(host, { script: { GREETING: slowly('close') } })
  own.internet.domain(domain, host)
  const isSuspended = async () => {
    const { results } = (await own.get('/api/client/mail-sites')).body
    return results.some(({ label, state }: { label: string; state: string }) => label === host && state === 'suspended')
  }
  for (let round = 0; round < 30 && !(await isSuspended()); round++) {
    await queueMail(own, ...['a', 'b'].map((name) => ({ to: [`${name}${round}@${domain}`] })))
    await own.drain()
    own.advance('2 seconds')
  }
  expect([await isSuspended(), counts.made]).toEqual([true, 10])
})

test('a site gets no more new connections in a minute than its limit, and all the email', async () => {
  const [mails, burst, aMinute] = [7, 2, 6]
  const limits = { connections: burst, mails_per_connection: 1, connections_per_minute: aMinute }
  await using own = await mailWorld({ MTA_LIMITS: JSON.stringify({ '*': limits }) })
  const { counts } = own.internet.host('mx.rare.example.org')
  own.internet.domain('rare.example.org', 'mx.rare.example.org')
  await queueMail(own, ...Array.from({ length: mails }, (_, at) => ({ to: [`user-${at}@rare.example.org`] })))
  for (let second = 0; counts.accepted < mails && second < 600; second++) {
    await own.drain()
    expect(counts.made, `connections within ${second} seconds`).toBeLessThanOrEqual(burst + (second * aMinute) / 60)
    own.advance('1 second')
  }
  expect(counts).toMatchObject({ made: mails, accepted: mails })
})

test('a project delivers no more than it allows itself, and the rest later', async () => {
  w.internet.host('mx.four.example.org', {})
  w.internet.domain('four.example.org', 'mx.four.example.org')
  await w.mailTo('four.example.org')
  const delivered = async () => (await w.events()).filter(({ type }) => type === 'delivery.delivered').length
  expect(await delivered()).toBe(1)
  const { site } = await siteLabelled('mx.four.example.org')
  expect((await w.put(`/api/client/mail-sites/${site}`, { limits: { mails_per_second: 1 / 60 } })).status).toBe(200)
  for (let count = 0; count < 3; count++) await w.mailTo('four.example.org')
  expect(await delivered()).toBe(1)
  w.advance('1 minute')
  expect(await delivered()).toBe(1)
  w.advance('1 minute')
  expect(await delivered()).toBe(1)
})

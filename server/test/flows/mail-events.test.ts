/** The webhook events of email that the server delivers itself: one fault for each type, with the whole sequence, as an endpoint gets it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MessageId } from '../../src/lib/ids.ts'
import { findCampaignSubscriptions } from '../../src/modules/campaigns/index.ts'
import { receiveMailReport } from '../../src/modules/messages/index.ts'
import { returnPathFor } from '../../src/modules/mta/index.ts'
import { REFUSING_ADDRESS } from '../internet/internet.ts'
import { ends, type MxBehaviour } from '../internet/mx-host.ts'
import type { ZoneRecords } from '../internet/zone.ts'
import { type MailEvent, type MailWorld, mailWorld, typesOf } from '../mail-queue.ts'
import { order } from '../mailing.ts'
import { bounceMail, complaintMail } from '../reports.ts'

let w: MailWorld
beforeAll(async () => {
  w = await mailWorld()
})
afterAll(() => w[Symbol.asyncDispose]())

let domains = 0
const newDomain = () => `d${++domains}.example.org`

/** A domain with one host of this behaviour. */
function domainOf(behaviour: MxBehaviour): string {
  const domain = newDomain()
  w.internet.host(`mx.${domain}`, behaviour)
  w.internet.domain(domain, `mx.${domain}`)
  return domain
}

const dataOf = (events: MailEvent[], type: string) => events.find((one) => one.type === type)?.data

const REFUSED = ['dsn-perm-fail', 'completed']
const LATER = ['dsn-temp-fail', 'queue.rescheduled']
const DELIVERED = ['delivered', 'completed']
/** A host that ends the connection. */
const plain = (script: MxBehaviour['script']): MxBehaviour => ({ tls: 'none', ...(script && { script }) })
const PLAIN = 'start-tls-unavailable'

describe('what a host does decides the events of an attempt', () => {
  test.each<[string, MxBehaviour, string[], object]>([
    ['it accepts the email', {}, DELIVERED, { smtp_code: 250 }],
    ['its replies have control characters', { script: { BODY: '250 2.0.0 OK \0\u0001 queued' } }, DELIVERED, { smtp_code: 250 }],
    ['it offers no encryption', plain({}), [PLAIN, ...DELIVERED], { required: false }],
    ['it refuses STARTTLS', { script: { STARTTLS: '454 4.7.0 Not now' } }, [PLAIN, ...DELIVERED], { required: false }],
    ['its TLS handshake fails', { tls: 'garbage' }, ['start-tls-error', ...DELIVERED], { fallback: 'plaintext' }],
    [
      'it refuses the recipient for good',
      { script: { RCPT: '550 5.1.1 No such user' } },
      ['rcpt-to-rejected', ...REFUSED],
      { smtp_code: 550 },
    ],
    [
      'it refuses the recipient for now',
      { script: { RCPT: '451 4.3.0 Later' } },
      ['rcpt-to-rejected', ...LATER],
      { enhanced_code: '4.3.0' },
    ],
    ['it is gone at RCPT', { script: { RCPT: ends('reset') } }, ['rcpt-to-failed', ...LATER], {}],
    ['it refuses the sender for good', { script: { MAIL: '550 5.7.1 Not you' } }, ['mail-from-rejected', ...REFUSED], { smtp_code: 550 }],
    ['it refuses the sender for now', { script: { MAIL: '451 4.3.0 Later' } }, ['mail-from-rejected', ...LATER], { smtp_code: 451 }],
    ['it refuses DATA', { script: { DATA: '554 5.7.1 No' } }, ['message-rejected', ...REFUSED], { smtp_code: 554 }],
    [
      'it refuses the content for good',
      { script: { BODY: '554 5.6.0 Spam' } },
      ['message-rejected', ...REFUSED],
      { enhanced_code: '5.6.0' },
    ],
    ['it refuses the content for now', { script: { BODY: '451 4.3.0 Later' } }, ['message-rejected', ...LATER], { smtp_code: 451 }],
    ['it is gone after the content', { script: { BODY: ends('reset') } }, ['message-rejected', ...LATER], { uncertain: true }],
    ['its greeting refuses', { script: { GREETING: '554 5.3.2 No service' } }, ['greeting-failed', ...LATER], { smtp_code: 554 }],
    ['it closes without a greeting', { script: { GREETING: ends('close') } }, ['greeting-failed', ...LATER], {}],
    [
      'it refuses EHLO and HELO',
      { script: { EHLO: '550 5.7.1 Denied', HELO: '550 5.7.1 Denied' } },
      ['ehlo-rejected', ...LATER],
      { smtp_code: 550 },
    ],
  ])('%s', async (_, behaviour, types, data) => {
    const domain = domainOf(behaviour)
    const address = await w.mailTo(domain)
    const events = await w.events()
    expect(typesOf(events)).toEqual(['attempt-start', ...types, 'attempt-end'])
    expect(dataOf(events, `delivery.${types[0]}`)).toMatchObject({ host: `mx.${domain}`, ...data })
    expect(events.every(({ data }) => data.to === address && data.recipient_domain === domain)).toBe(true)
    expect(new Set(events.map(({ data }) => data.attempt_id)).size).toBe(1)
  })
})

describe('a refusal of the sender suppresses nobody, whatever it says', () => {
  test.each<[string, string]>([
    ['550 Domain bounce.shop.example does not exist', 'sender-reputation'],
    ['550 5.7.1 Unable to verify: the domain bounce.shop.example does not exist', 'sender-reputation'],
    ['501 5.1.3 Bad sender address syntax', 'sender-reputation'],
    ['550 5.1.1 <b.4-17@bounce.shop.example>: callback failed, user unknown', 'sender-reputation'],
    ['550 5.2.1 Mailbox disabled', 'sender-reputation'],
    ['553', 'sender-reputation'],
    ['552', 'message-too-large'],
  ])('%s', async (reply, classification) => {
    const address = await w.mailTo(domainOf({ script: { MAIL: reply } }))
    expect(dataOf(await w.events(), 'delivery.dsn-perm-fail')).toMatchObject({ classification, suppressed: false })
    expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toEqual([])
  })

  test('at RCPT', async () => {
    const address = await w.mailTo(domainOf({ script: { RCPT: '554 5.7.1 <mail.shop.example>: Helo command rejected: Host not found' } }))
    const notice = dataOf(await w.events(), 'delivery.dsn-perm-fail')
    expect(notice).toMatchObject({ classification: 'sender-reputation', suppressed: false })
    expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toEqual([])
  })

  test.each(['RCPT', 'BODY'] as const)('but one of the recipient at %s does', async (stage) => {
    const address = await w.mailTo(domainOf({ script: { [stage]: '550 5.1.1 User unknown' } }))
    const notice = dataOf(await w.events(), 'delivery.dsn-perm-fail')
    expect(notice).toMatchObject({ classification: 'invalid-recipient', suppressed: true })
    expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toMatchObject([{ reason: 'hard_bounce' }])
  })
})

describe('a refusal that is temporary suppresses nobody, on three days and whatever its code says', () => {
  const notOffered = '502 5.5.1 No such command'
  test.each<[string, MxBehaviour['script'], string]>([
    ['at the greeting', { GREETING: '554 mx.example.org ESMTP not accepting messages' }, 'example.net'],
    ['at EHLO', { EHLO: '550 HELO name does not exist in the DNS', HELO: '550 HELO name does not exist in the DNS' }, 'example.net'],
    ['of a command out of order', { RCPT: '503 5.5.1 Bad sequence of commands' }, 'example.net'],
    // Its hosts take no email without TLS.
    ['of STARTTLS where encryption is required', { STARTTLS: notOffered }, 'google.com'],
  ])('%s', async (_, script, provider) => {
    const domain = newDomain()
    const { counts } = w.internet.host(`mx.${domain}.${provider}`, { ...(script && { script }) })
    w.internet.domain(domain, `mx.${domain}.${provider}`)
    const address = await w.mailTo(domain)
    for (let day = 0; day < 3; day++) {
      if (day > 0) {
        w.advance('1 day')
        await order(w, address.split('@')[0] as string)
      }
      expect(typesOf(await w.events(address))).toContain('dsn-temp-fail')
    }
    expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toEqual([])
    expect(counts.accepted).toBe(0)
  })
})

test.each<[string, MxBehaviour['script'], number]>([
  ['of MAIL', { MAIL: '451 4.3.0 Later' }, 0],
  ['about the sender, at RCPT', { RCPT: '450 4.1.8 <b.1-2@bounce.shop.example>: Sender address rejected: Domain not found' }, 0],
  ['of the recipient', { RCPT: '451 4.3.0 Later' }, 1],
])('three emails that expire on different days after refusals %s suppress the address or not', async (_, script, suppressions) => {
  const address = await w.mailTo(domainOf({ ...(script && { script }) }))
  for (let email = 0; email < 3; email++) {
    if (email > 0) await order(w, address.split('@')[0] as string)
    await w.events()
    w.advance('3 days')
    const notices = (await w.events(address)).filter(({ type }) => type === 'delivery.dsn-perm-fail')
    expect(notices.map(({ data }) => data.classification)).toEqual(['expired'])
  }
  expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toHaveLength(suppressions)
})

test.each([
  ['no other host accepts email', false, 0],
  ['another host accepts email', true, 1],
])('three emails that expire on different days without a reply of any host, while %s', async (_, isOnline, suppressions) => {
  await using w = await mailWorld()
  const host = (name: string, behaviour: MxBehaviour) => {
    w.internet.host(`mx.${name}`, behaviour)
    w.internet.domain(name, `mx.${name}`)
    return name
  }
  const address = await w.mailTo(host('gone.example.org', { script: { GREETING: ends('close') } }))
  if (isOnline) host('there.example.org', {})
  for (let email = 0; email < 3; email++) {
    if (email > 0) await order(w, address.split('@')[0] as string)
    await w.events()
    w.advance('12 hours')
    if (isOnline) await w.mailTo('there.example.org')
    await w.events()
    w.advance('60 hours')
    await w.events()
  }
  expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toHaveLength(suppressions)
})

describe('what the DNS says decides the events of an attempt', () => {
  test.each<[string, (domain: string) => ZoneRecords | null, string[]]>([
    ['the domain does not exist', () => null, ['mx-lookup-failed', 'ip-lookup-failed', ...REFUSED]],
    ['a null MX', () => ({ mx: [[0, '.']] }), ['null-mx', ...REFUSED]],
    ['a host without an address', (domain) => ({ mx: [[10, `none.${domain}`]] }), ['ip-lookup-failed', ...REFUSED]],
  ])('%s', async (_, recordsOf, types) => {
    const domain = newDomain()
    const records = recordsOf(domain)
    if (records) w.internet.dns.set(domain, records)
    await w.mailTo(domain)
    expect(typesOf(await w.events())).toEqual(['attempt-start', ...types, 'attempt-end'])
  })

  test.each<[string, ZoneRecords | null]>([
    ['that does not exist', null],
    ['whose records are missing', { txt: ['nothing else'] }],
  ])('a domain %s for a while suppresses nobody', async (_, records) => {
    const domain = newDomain()
    if (records) w.internet.dns.set(domain, records)
    const address = await w.mailTo(domain)
    const notice = dataOf(await w.events(), 'delivery.dsn-perm-fail')
    expect(notice).toMatchObject({ enhanced_code: '5.1.2', classification: 'dns', suppressed: false })
    expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toEqual([])
  })

  test('a host whose address is missing for a while suppresses nobody', async () => {
    const domain = newDomain()
    w.internet.dns.set(domain, { mx: [[10, `missing.${domain}`]] })
    const address = await w.mailTo(domain)
    const notice = dataOf(await w.events(), 'delivery.dsn-perm-fail')
    expect(notice).toMatchObject({ enhanced_code: '5.4.4', classification: 'routing', suppressed: false })
    expect((await w.get(`/api/client/suppressions?q=${address}`)).body.results).toEqual([])
  })

  test('a domain without MX records is its own host', async () => {
    const domain = newDomain()
    w.internet.host(domain)
    await w.mailTo(domain)
    const events = await w.events()
    expect(typesOf(events)).toEqual(['attempt-start', 'mx-lookup-failed', ...DELIVERED, 'attempt-end'])
    expect(dataOf(events, 'delivery.mx-lookup-failed')).toMatchObject({ domain, fallback: 'implicit-mx' })
  })

  test('the first host is dead, and the second takes the email', async () => {
    const domain = newDomain()
    w.internet.dns.set(`mx1.${domain}`, { aaaa: [REFUSING_ADDRESS] })
    w.internet.host(`mx2.${domain}`)
    w.internet.dns.set(domain, {
      mx: [
        [10, `mx1.${domain}`],
        [20, `mx2.${domain}`],
      ],
    })
    await w.mailTo(domain)
    const events = await w.events()
    expect(typesOf(events)).toEqual(['attempt-start', 'connect-error', ...DELIVERED, 'attempt-end'])
    expect(dataOf(events, 'delivery.delivered')).toMatchObject({ host: `mx2.${domain}` })
  })
})

test('the sixth host of a domain takes the email when the first five are dead', async () => {
  const domain = newDomain()
  const hosts = Array.from({ length: 6 }, (_, at) => `mx${at}.${domain}`)
  for (const host of hosts.slice(0, 5)) w.internet.dns.set(host, { aaaa: [REFUSING_ADDRESS] })
  const { counts } = w.internet.host(`mx5.${domain}`)
  w.internet.dns.set(domain, { mx: hosts.map((host, at) => [at, host]) })
  const address = await w.mailTo(domain)
  expect(typesOf(await w.events(address))).toContain('dsn-temp-fail')
  w.advance('10 minutes')
  expect(dataOf(await w.events(address), 'delivery.delivered')).toMatchObject({ host: `mx5.${domain}` })
  expect(counts.accepted).toBe(1)
})

test('the events of reports that come later name the email as those of its delivery do', async () => {
  const address = await w.mailTo(domainOf({}))
  const { from, rfc_message_id, message_id: mail_id } = dataOf(await w.events(address), 'delivery.delivered') ?? {}
  expect([from, rfc_message_id]).toEqual(['shop@example.com', expect.stringMatching(/^<.+@example.com>$/)])
  const path = { project_id: w.projectId, mail_id: mail_id as MessageId, recipient_no: 0 }
  const recipients = [returnPathFor(w.ctx, path, 'bounces.example.com')]
  const delay = bounceMail({ recipient: address, action: 'delayed', status: '4.2.0', diagnostic: '450 4.2.0 Later' })
  for (const content of [delay, bounceMail({ recipient: address }), complaintMail('fraud')])
    expect(await receiveMailReport(w.ctx, findCampaignSubscriptions, { recipients, content })).toBe('applied')
  const late = (await w.events(address)).map(({ type, data }) => [type, data.from, data.rfc_message_id])
  expect(late.sort()).toEqual([
    ['delivery.dsn-perm-fail', from, rfc_message_id],
    ['delivery.dsn-temp-fail', from, rfc_message_id],
    ['incoming-report.fraud-report', from, rfc_message_id],
  ])
})

test('an email that is refused for now is delivered later, with an attempt of its own', async () => {
  let refusals = 1
  const address = await w.mailTo(domainOf({ script: { RCPT: () => (refusals-- > 0 ? '451 4.3.0 Later' : undefined) } }))
  const first = await w.events(address)
  expect(typesOf(first)).toEqual(['attempt-start', 'rcpt-to-rejected', ...LATER, 'attempt-end'])
  expect(await w.events(address)).toEqual([])
  w.advance('2 minutes')
  const second = await w.events(address)
  expect(typesOf(second)).toEqual(['attempt-start', ...DELIVERED, 'attempt-end'])
  expect([first, second].map(([one]) => one?.data.attempt)).toEqual([1, 2])
})

test.each([
  ['451 4.3.0 Later', 'expired'],
  ['452 4.2.2 Mailbox full', 'mailbox-full'],
])('an email whose time is over is given up without a connection: after %s it is %s', async (reply, classification) => {
  const domain = domainOf({ script: { RCPT: reply } })
  const address = await w.mailTo(domain)
  await w.events()
  const made = () => w.internet.mx.hosts.get(`mx.${domain}`)?.counts.made
  const before = made()
  w.advance('3 days')
  const events = await w.events(address)
  expect(typesOf(events)).toEqual(['attempt-start', 'failed', ...REFUSED, 'attempt-end'])
  expect(dataOf(events, 'delivery.failed')?.reason).toBe(`expired: ${reply}`)
  expect(dataOf(events, 'delivery.dsn-perm-fail')?.classification).toBe(classification)
  expect(dataOf(events, 'delivery.attempt-end')?.result).toBe('expired')
  expect(made()).toBe(before)
})

test('delays are told at the first failure, after four hours and after a day', async () => {
  const address = await w.mailTo(domainOf({ script: { RCPT: '451 4.3.0 Later' } }))
  const notices: number[] = []
  for (let hour = 0; hour < 40; hour++) {
    if (typesOf(await w.events(address)).includes('dsn-temp-fail')) notices.push(hour)
    w.advance('1 hour')
  }
  expect(notices.length).toBe(3)
  expect([notices[0], (notices[1] ?? 0) >= 4, (notices[2] ?? 0) >= 24]).toEqual([0, true, true])
})

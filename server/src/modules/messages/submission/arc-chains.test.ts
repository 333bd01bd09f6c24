/** Submitted email that others forwarded before, with an ARC chain (D-MTA-59): what a receiver finds in the bytes that it gets. */
import { arc, sealMessage } from 'mailauth/lib/arc/index.js'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MailWorld, mailWorld } from '../../../../test/mail-queue.ts'
import { authenticator } from '../../../authenticator.ts'
import { dkimRecord, dkimRecordName, generateDkimKey, publicKeyOf, readDkimKey } from '../../../lib/dkim/keys.ts'
import { signMail } from '../../../lib/dkim/sign.ts'
import { openMailListeners } from '../../../mail-listeners.ts'

const ALGORITHM = 'rsa-sha256'
const SELECTOR = 'a1'
const CLOSING = new AsyncDisposableStack()
const zone = new Map<string, string>()
let w: MailWorld
let port = 0
let domains = 0
/** An email of Sam that two hosts sealed: one as Sam sent it, and a list, which replaced From by an address of the project. */
let forwarded = ''

async function keyOf(domain: string): Promise<string> {
  const pem = await generateDkimKey(ALGORITHM)
  zone.set(dkimRecordName(SELECTOR, domain), dkimRecord(ALGORITHM, publicKeyOf(readDkimKey(pem), ALGORITHM)))
  return pem
}

async function sealed(email: string, signingDomain: string, cv: string): Promise<string> {
  const authResults = `${signingDomain}; dkim=pass header.i=@example.net`
  const privateKey = await keyOf(signingDomain)
  const seal = { signingDomain, selector: SELECTOR, privateKey, cv, authResults, signTime: w.clock.now(), strict: true }
  return `${await sealMessage(email, seal)}${email}`
}

beforeAll(async () => {
  w = CLOSING.use(await mailWorld({ SUBMISSION_PORT: '0' }))
  port = CLOSING.use(await openMailListeners(w.ctx, authenticator.authenticate)).ports.SUBMISSION_PORT ?? 0
  const { records } = (await w.get('/api/client/domains')).body.results[0]
  for (const { name, value } of records) zone.set(name, value)
  const written = [
    'From: Sam <sam@example.net>',
    'To: list@example.com',
    'Subject: Where is my  order?',
    'Date: Mon, 23 Nov 2026 09:00:00 +0000',
    'Message-ID: <1@example.net>',
    'Content-Type: text/plain',
    '',
    'It did not arrive.',
    '',
  ].join('\r\n')
  const key = { domain: 'example.net', selector: SELECTOR, algorithm: ALGORITHM, key: readDkimKey(await keyOf('example.net')) } as const
  const sent = String(await signMail(Buffer.from(written), [key], w.clock.now()))
  const received = await sealed(sent, 'mx.example.org', 'none')
  const listed = received.replace('From: Sam <sam@example.net>', 'From: Sam by the list <list@example.com>\r\nReply-To: sam@example.net')
  forwarded = await sealed(listed, 'lists.example.org', 'pass')
})
afterAll(() => CLOSING.disposeAsync())

/** What a receiver finds in the chain and in the signatures of the project. */
async function verified(email: string | Buffer) {
  const resolver = (async (name: string) => [[zone.get(name) ?? '']]) as never
  const found = await dkimVerify(email, { resolver, curTime: w.clock.now(), strict: true })
  const { status, i } = await arc(found.arc as never, { resolver, strict: true })
  const own = found.results.filter(({ signingDomain }) => signingDomain === 'example.com')
  return { arc: status.result, sets: i, own: own.map(({ status }) => [status.result, status.aligned]) }
}

const SIGNED = [
  ['pass', 'example.com'],
  ['pass', 'example.com'],
]

/** Submits an email. Returns the bytes that the mail host of its recipient got. */
async function delivered(raw: string): Promise<Buffer> {
  const domain = `arc${++domains}.example.org`
  w.internet.domain(domain, `mx.${domain}`)
  const auth = { user: 'any', pass: w.keys.smtpproxy }
  const envelope = { from: 'list@example.com', to: `kim@${domain}` }
  await createTransport({ host: '127.0.0.1', port, auth, tls: { rejectUnauthorized: false } }).sendMail({ envelope, raw })
  await w.events()
  const mails = w.internet.mx.hosts.get(`mx.${domain}`)?.mails ?? []
  expect(mails).toHaveLength(1)
  return mails[0]?.content as Buffer
}

const ARC_HEADER = /^ARC-[^:]+:.*\r\n(?:[ \t].*\r\n)*/gim
const withoutChain = (email: string) => email.replace(ARC_HEADER, '')

test('a chain is left as it came, is still valid, and is not continued', async () => {
  const content = await delivered(forwarded)
  expect(await verified(content)).toEqual({ arc: 'pass', sets: 2, own: SIGNED })
  const added = String(content).slice(0, -forwarded.length)
  expect(String(content)).toBe(added + forwarded)
  expect(added.match(/^[^\s:]+(?=:)/gm)).toEqual(['DKIM-Signature', 'DKIM-Signature'])
  expect(added.toLowerCase()).not.toContain('arc-')
})

test('a chain whose signatures are not valid is left as it came, because they are not verified', async () => {
  const changed = forwarded.replace('Where is', 'Here is')
  const content = await delivered(changed)
  expect(await verified(content)).toEqual({ arc: 'fail', sets: 2, own: SIGNED })
  expect(String(content).endsWith(changed)).toBe(true)
})

/** A set of a number, which is not signed. */
const setOf = (i: number, cv = 'pass') =>
  [
    `ARC-Seal: i=${i}; a=rsa-sha256; cv=${cv}; d=example.org; s=a1; b=eA==`,
    `ARC-Message-Signature: i=${i}; a=rsa-sha256; d=example.org; s=a1; h=From; bh=eA==; b=eA==`,
    `ARC-Authentication-Results: i=${i}; example.org; none\r\n`,
  ].join('\r\n')

test.each<[string, (email: string) => string]>([
  ['lacks a seal', (email) => email.replace(/^ARC-Seal: i=1;.*\r\n(?:[ \t].*\r\n)*/m, '')],
  ['lacks a signature', (email) => email.replace(/^ARC-Message-Signature: i=1;.*\r\n(?:[ \t].*\r\n)*/m, '')],
  ['lacks results', (email) => email.replace(/^ARC-Authentication-Results: i=2;.*\r\n(?:[ \t].*\r\n)*/m, '')],
  ['has two seals of a set', (email) => `ARC-Seal: i=2; a=rsa-sha256; cv=pass; d=example.org; s=a1; b=eA==\r\n${email}`],
  ['has a set twice', (email) => setOf(2) + email],
  ['has a gap', (email) => setOf(4) + email],
  ['does not begin with 1', (email) => setOf(2) + withoutChain(email)],
  ['begins with 0', (email) => setOf(0) + email],
  ['has a header without a number', (email) => `ARC-Authentication-Results: example.org; none\r\n${email}`],
  ['has 51 sets', (email) => Array.from({ length: 49 }, (_, at) => setOf(51 - at)).join('') + email],
  ['was found to have failed', (email) => setOf(3, 'fail') + email],
  ['passes where there was none', (email) => setOf(1, 'pass') + withoutChain(email)],
])('a chain that %s is removed, and nothing else', async (_, changedFrom) => {
  const changed = changedFrom(forwarded)
  expect((await verified(changed)).arc).toBe('fail')
  const content = await delivered(changed)
  expect(await verified(content)).toEqual({ arc: 'none', sets: 0, own: SIGNED })
  expect(String(content).match(ARC_HEADER)).toBeNull()
  expect(String(content).endsWith(withoutChain(forwarded))).toBe(true)
})

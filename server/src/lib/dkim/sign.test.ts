import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { describe, expect, test } from 'vitest'
import { composeMail } from '../mime/compose.ts'
import { type DkimAlgorithm, type DkimKey, dkimRecord, dkimRecordName, generateDkimKey, publicKeyOf, readDkimKey } from './keys.ts'
import { signMail } from './sign.ts'

const AT = new Date('2026-11-23T09:00:00Z')
const DOMAIN = 'shop.example'

const keyFor = async (algorithm: DkimAlgorithm, selector: string): Promise<DkimKey> => ({
  domain: DOMAIN,
  selector,
  algorithm,
  key: readDkimKey(await generateDkimKey(algorithm)),
})
const [rsa, ed25519] = await Promise.all([keyFor('rsa-sha256', 'r1'), keyFor('ed25519-sha256', 'e1')])
const both = [rsa, ed25519]

const zone = new Map(
  both.map(({ domain, selector, algorithm, key }) => [
    dkimRecordName(selector, domain),
    dkimRecord(algorithm, publicKeyOf(key, algorithm)),
  ]),
)

/** What a receiver finds in each signature. */
async function verify(mail: Buffer): Promise<string[]> {
  const resolver = async (name: string) => [[zone.get(name) ?? '']]
  const { results } = await dkimVerify(mail, { resolver: resolver as never, curTime: AT })
  return results.map(({ status }) => String(status.result))
}

const bytes = (text: string) => Buffer.from(text, 'utf8')
const head = 'From: Bells <hello@shop.example>\r\nTo: kim@example.org\r\nSubject: Hello\r\nDate: Mon, 23 Nov 2026 09:00:00 +0000\r\n'

describe('a receiver verifies both signatures of an email with', () => {
  test.each<[string, string]>([
    ['a plain body', `${head}\r\nHello Kim\r\n`],
    ['no body', `${head}\r\n`],
    ['no body and no empty line', head],
    ['only empty lines', `${head}\r\n\r\n\r\n\r\n`],
    ['only white space', `${head}\r\n \t \r\n\t\r\n`],
    ['empty lines at the end', `${head}\r\nHello\r\n\r\n\r\n`],
    ['empty lines in the middle', `${head}\r\nHello\r\n\r\n \r\nKim\r\n`],
    ['no line end at the end', `${head}\r\nHello Kim`],
    ['white space at the ends of lines', `${head}\r\n  Hello \t\r\n\tKim\t \r\n`],
    ['white space at the end of the text', `${head}\r\nHello Kim \t`],
    ['letters of eight bits', `${head}\r\nGrüße, 日本語, à\r\n`],
    ['a subject of eight bits that ends in the byte A0', head.replace('Hello\r\n', 'voilà\r\n').concat('\r\nHello\r\n')],
    ['folded headers', `${head}References: <a@b>\r\n\t<c@d>\r\n  \t <e@f>\r\n\r\nHello\r\n`],
    ['odd white space in headers', `${head}reply-to \t:\t  kim@example.org \t\r\nMIME-Version:1.0\r\n\r\nHello\r\n`],
    ['headers that repeat', `List-Id: one\r\n${head}List-Id: two\r\nList-Id: three\r\n\r\nHello\r\n`],
    [
      'headers of the list',
      `${head}List-Unsubscribe: <https://x.test/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nHello\r\n`,
    ],
    ['a lone CR', `${head}\r\nHel\rlo\r\n`],
    ['a lone LF', `${head}\r\nHel\nlo\r\n`],
    ['indented lines that are longer than what is hashed at once', `${head}\r\n${`  ${'Hello\t Kim '.repeat(60)}\r\n`.repeat(120)}`],
  ])('%s', async (_, text) => {
    const signed = await signMail(bytes(text), both, AT)
    expect(signed.subarray(-text.length / 2).equals(bytes(text).subarray(-text.length / 2))).toBe(true)
    expect(await verify(signed)).toEqual(['pass', 'pass'])
  })

  test('attachments, as it is composed', async () => {
    const mail = Buffer.concat([
      ...composeMail({
        from: { name: 'Zoë & Söhne', address: 'hello@shop.example' },
        to: [{ name: '', address: 'kim@example.org' }],
        subject: 'Ein sehr langer Betreff über Glocken, Türme und alles, was dazwischen liegt und klingt',
        messageId: '<m-1@shop.example>',
        date: AT,
        html: '<p>Grüße</p>  <p>x</p> \n'.repeat(500),
        text: 'Grüße\n\n\n',
        headers: [['Feedback-ID', '1:2:campaign:carillon']],
        attachments: [{ name: 'a.bin', contentType: 'application/octet-stream', content: Buffer.alloc(200_000, 7) }],
        boundary: 'b1',
      }),
    ])
    expect(await verify(await signMail(mail, both, AT))).toEqual(['pass', 'pass'])
  })
})

test('any headers and any body that are signed are verified', { timeout: 60_000 }, async () => {
  const blank = fc.stringMatching(/^[ \t]{0,3}$/)
  const word = fc.oneof(fc.stringMatching(/^[!-9;-~]{1,12}$/), fc.constantFrom('é', 'à', '日本', 'a=b', ';', 'b='))
  const value = fc
    .array(fc.tuple(word, fc.constantFrom(' ', '\t', '  ', '\r\n ', '\r\n\t ')), { maxLength: 6 })
    .map((all) => all.flat().join(''))
  const header = fc
    .tuple(fc.constantFrom('Subject', 'Cc', 'X-Other', 'List-Id', 'content-type', 'REFERENCES', 'Received'), blank, value, word)
    .map(([name, space, value, last]) => `${name}:${space}${value}${last}\r\n`)
  const line = fc.array(fc.oneof(word, fc.constantFrom(' ', '\t', '  ', '.', '\r')), { maxLength: 6 }).map((all) => all.join(''))
  const body = fc
    .tuple(fc.array(fc.tuple(line, fc.constantFrom('\r\n', '\r\n\r\n', ' \r\n')), { maxLength: 8 }), line)
    .map((all) => all.flat(2).join(''))
  await fc.assert(
    fc.asyncProperty(fc.array(header, { maxLength: 6 }), body, async (headers, body) => {
      const text = `From: a@shop.example\r\n${headers.join('')}\r\n${body}`
      expect(await verify(await signMail(bytes(text), [ed25519], AT))).toEqual(['pass'])
    }),
    { numRuns: 400 },
  )
})

describe('a signature fails after', () => {
  const mail = bytes(`${head}Feedback-ID: 1:2\r\n\r\nHello Kim\r\n`)

  test.each<[string, (text: string) => string]>([
    ['a change of the body', (text) => text.replace('Hello Kim', 'Hello Tim')],
    ['text after the body', (text) => `${text}more\r\n`],
    ['another From', (text) => `From: evil@example.net\r\n${text}`],
    ['another To', (text) => `To: evil@example.net\r\n${text}`],
    ['another Subject', (text) => text.replace('\r\n\r\n', '\r\nSubject: Evil\r\n\r\n')],
    ['a change of Feedback-ID', (text) => text.replace('1:2', '1:3')],
  ])('%s', async (_, change) => {
    const signed = (await signMail(mail, both, AT)).toString('latin1')
    expect(await verify(Buffer.from(change(signed), 'latin1'))).not.toContain('pass')
  })
})

test('a signature survives what relays do to white space, and headers that they add', async () => {
  const signed = (await signMail(bytes(`${head}\r\nHello  Kim \r\n\r\n`), both, AT)).toString('latin1')
  const relayed = `Received: from a by b\r\n${signed.replace('Hello  Kim \r\n\r\n', 'Hello Kim\r\n').replace('Subject: Hello', 'Subject:\r\n  Hello')}`
  expect(await verify(Buffer.from(relayed, 'latin1'))).toEqual(['pass', 'pass'])
})

test('a signature has no tag `l`, and lines of at most 78 characters', async () => {
  const signed = (await signMail(bytes(`${head}\r\nHello\r\n`), both, AT)).toString('latin1')
  const lines = signed.slice(0, signed.indexOf('From: ')).split('\r\n')
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(78)
  expect(lines.join('')).not.toMatch(/[; ]l=/)
  expect(lines.join('')).toContain('h=Date:Subject:To:From:From:Subject:To;')
})

test('without keys, an email is as it was', async () => {
  expect((await signMail(bytes(head), [], AT)).toString()).toBe(head)
})

import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { describe, expect, test } from 'vitest'
import { type Attachment, composeMail, HeaderError, type MailToCompose } from './compose.ts'

const mail = (values: Partial<MailToCompose> = {}): MailToCompose => ({
  from: { name: 'Bells, Inc', address: 'hello@example.com' },
  to: [{ name: '', address: 'kim@example.org' }],
  subject: 'Hello',
  messageId: '<k-1@example.com>',
  date: new Date('2026-11-23T09:00:00Z'),
  html: '<p>Hello Kim</p>',
  text: 'Hello Kim',
  headers: [],
  boundary: 'b7f3',
  ...values,
})

const compose = (values?: Partial<MailToCompose>): string => Buffer.concat([...composeMail(mail(values))]).toString('latin1')

const parse = (raw: string) =>
  simpleParser(Buffer.from(raw, 'latin1'), { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true })

/** Without line ends, which transport makes CRLF, and which are cut at the end of a part. */
const lines = (text: string | false | undefined) =>
  String(text || '')
    .replace(/\r\n|\r/g, '\n')
    .replace(/\n+$/, '')

test('the email as it is sent', () => {
  expect(compose()).toBe(
    [
      'Message-ID: <k-1@example.com>',
      'Date: Mon, 23 Nov 2026 09:00:00 +0000',
      'From: "Bells, Inc" <hello@example.com>',
      'To: kim@example.org',
      'Subject: Hello',
      'MIME-Version: 1.0',
      'Content-Type: multipart/alternative;',
      ' boundary="=_ab7f3"',
      '',
      '--=_ab7f3',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hello Kim',
      '--=_ab7f3',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      '<p>Hello Kim</p>',
      '--=_ab7f3--',
      '',
    ].join('\r\n'),
  )
})

describe('a mail program reads what was written', () => {
  test.each<[string, string]>([
    ['empty', ''],
    ['umlauts', 'Grüße aus Zürich'],
    ['long', 'word '.repeat(100).trim()],
    ['long without spaces', 'ü'.repeat(300)],
    ['other scripts', '日本語の件名はとても長いので折り返されます。'.repeat(5)],
    ['emoji of several code points', '👩‍👩‍👧‍👦 family 🎉'.repeat(20)],
    ['what looks encoded', '=?UTF-8?B?SGVsbG8=?='],
    ['a URL with a query', 'see https://example.com/?a=?&b=?='],
    ['spaces at both ends', '  spaced  '],
  ])('a subject that is %s', async (_, subject) => {
    expect((await parse(compose({ subject }))).subject ?? '').toBe(subject)
  })

  test.each<[string]>([
    ['Bells, Inc'],
    ['The "best" \\ one'],
    ['Grüße GmbH'],
    ['Zoë (Sydney): news; more'],
    ['日本語'.repeat(20)],
    ['a@b <c>'],
  ])('the display name %s', async (name) => {
    const { from, to } = await parse(compose({ from: { name, address: 'a@example.com' }, to: [{ name, address: 'b@example.com' }] }))
    expect(from?.value).toEqual([{ name, address: 'a@example.com' }])
    expect([to].flat()[0]?.value).toEqual([{ name, address: 'b@example.com' }])
  })

  test.each<[string, string]>([
    ['umlauts', '<p>Grüße — für dich</p>'],
    ['trailing spaces', 'one \r\ntwo\t\r\n\r\nthree'],
    ['From at the start of a line', 'Hello\r\nFrom here on\r\n.\r\n..\r\n'],
    ['equals signs', 'a=b=3D=\r\n=?'],
    ['a line of 5,000', 'x'.repeat(5000)],
    ['Japanese', '日本語のメール。\n'.repeat(200)],
    ['lone line ends', 'a\rb\nc\r\nd'],
    ['a boundary of another email', '--=_ab7f4\r\nContent-Type: text/html\r\n\r\nx'],
  ])('text with %s', async (_, text) => {
    const read = await parse(compose({ text, html: `<pre>${text}</pre>` }))
    expect(lines(read.text)).toBe(lines(text))
    expect(lines(read.html)).toBe(lines(`<pre>${text}</pre>`))
  })
})

test('attachments and images are parts of their own', async () => {
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 31) % 256))
  const attachments: Attachment[] = [
    { name: 'Rechnung für März.pdf', contentType: 'application/pdf', content: bytes },
    { name: 'logo.png', contentType: 'image/png', content: Buffer.from('png'), contentId: 'logo' },
    { name: `${'lang'.repeat(40)}.txt`, contentType: 'text/plain', content: Buffer.alloc(0) },
  ]
  const raw = compose({ html: '<img src="cid:logo">', attachments })
  const read = await parse(raw)
  expect(
    read.attachments.map(({ filename, contentType, contentDisposition, cid }) => [filename, contentType, contentDisposition, cid]),
  ).toEqual([
    ['logo.png', 'image/png', 'inline', 'logo'],
    ['Rechnung für März.pdf', 'application/pdf', 'attachment', undefined],
    [`${'lang'.repeat(40)}.txt`, 'text/plain', 'attachment', undefined],
  ])
  expect(read.attachments[1]?.content.equals(bytes)).toBe(true)
  expect(raw.split('\r\n').every((line) => line.length <= 78)).toBe(true)
})

test('a word that no line can hold is encoded', async () => {
  const word = 'x'.repeat(998)
  const raw = compose({ subject: word, headers: [['X-Own', `a ${word}`]] })
  const read = await parse(raw)
  expect(read.subject).toBe(word)
  expect(String(read.headers.get('x-own')).replace(/=\?UTF-8\?Q\?([^?]*)\?= ?/g, '$1')).toBe(`a_${word}`)
  expect(raw.split('\r\n').every((line) => line.length <= 78)).toBe(true)
})

describe('nothing in a value starts another header or part', () => {
  const evil = 'x\r\nBcc: everyone@example.com\r\n\r\n<p>other</p>\u0000\u2028\u0085y'

  test('subjects, names, further headers and file names', async () => {
    const attachments = [{ name: evil, contentType: 'text/plain', content: Buffer.from('x') }]
    const mailbox = { name: evil, address: 'a@example.com' }
    const raw = compose({ subject: evil, from: mailbox, to: [mailbox], headers: [['X-Own', evil]], attachments })
    const read = await parse(raw)
    expect(read.headers.has('bcc')).toBe(false)
    expect([...read.headers.keys()].sort()).toEqual([
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
      'x-own',
    ])
    expect(lines(read.html)).toBe('<p>Hello Kim</p>')
  })

  test.each<[string, Partial<MailToCompose>]>([
    ['a header name with a line end', { headers: [['X\r\nBcc', 'x']] }],
    ['a header name with a colon', { headers: [['X:', 'x']] }],
    ['an address with a line end', { to: [{ name: '', address: 'a@example.com\r\nBcc: b@example.com' }] }],
    ['an address that is not ASCII', { to: [{ name: '', address: 'ä@example.com' }] }],
    ['a type with a line end', { attachments: [{ name: 'x', contentType: 'text/plain\r\nX: y', content: Buffer.alloc(1) }] }],
    [
      'a content id with a line end',
      { attachments: [{ name: 'x', contentType: 'text/plain', contentId: 'a>\r\nX: y', content: Buffer.alloc(1) }] },
    ],
    ['a boundary that is not a word', { boundary: 'a b"' }],
  ])('%s is refused', (_, values) => {
    expect(() => compose(values)).toThrow(HeaderError)
  })
})

/** Text of all planes, control characters, line ends and what matters to MIME. */
const unicode = fc.string({
  unit: fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(' ', '\t', '\n', '\r', '\r\n', '=', '.', '--', 'From ', '=?', '?=', '"', '\\', '<', '>', ',', '; '),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
  ),
  maxLength: 300,
})

/** What a header keeps of a text: it is one line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no header has.
const oneLine = (text: string) => text.toWellFormed().replace(/[\x00-\x1F\x7F\u0085\u2028\u2029]+/g, ' ')

const RUNS = Number(process.env.MIME_RUNS ?? 150)
const arbitrary = fc.record({ subject: unicode, name: unicode, html: unicode, text: unicode })

test('any subject, name and text comes back from an independent parser', async () => {
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ subject, name, html, text }) => {
      const raw = compose({ subject, from: { name, address: 'a@example.com' }, html: `<pre>${html}</pre>`, text })
      // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII.
      expect(raw).toMatch(/^[\x00-\x7F]*$/)
      for (const line of raw.split('\r\n')) expect(line).toSatisfy((line: string) => line.length <= 998 && !/[\r\n]/.test(line))
      const read = await parse(raw)
      expect((read.subject ?? '').trim()).toBe(oneLine(subject).trim())
      expect(read.from?.value[0]?.address).toBe('a@example.com')
      expect((read.from?.value[0]?.name ?? '').replace(/\s+/g, ' ').trim()).toBe(oneLine(name).replace(/\s+/g, ' ').trim())
      expect(lines(read.html)).toBe(lines(`<pre>${html.toWellFormed()}</pre>`))
      expect(lines(read.text)).toBe(lines(text.toWellFormed()))
    }),
    { numRuns: RUNS },
  )
})

/** Reads emails with the parser of Python, and prints their subject, sender, text and HTML. */
const PYTHON = `
import sys, json, base64, email, email.policy
out = []
for one in json.load(sys.stdin):
    m = email.message_from_bytes(base64.b64decode(one), policy=email.policy.SMTP)
    a = m['from'].addresses[0]
    body = lambda kind: m.get_body((kind,)).get_content()
    out.append([str(m['subject']), a.display_name, a.addr_spec, body('plain'), body('html'), len(m.defects)])
json.dump(out, sys.stdout)
`

const hasPython = (() => {
  try {
    execFileSync('python3', ['-c', 'import email.policy'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

test.runIf(hasPython)('any email comes back from the parser of Python, if it is installed', () => {
  const mails = fc.sample(arbitrary, { numRuns: RUNS, seed: 7 })
  const raws = mails.map(({ subject, name, html, text }) =>
    Buffer.from(compose({ subject, from: { name, address: 'a@example.com' }, html: `<pre>${html}</pre>`, text }), 'latin1').toString(
      'base64',
    ),
  )
  const read = JSON.parse(execFileSync('python3', ['-c', PYTHON], { input: JSON.stringify(raws), encoding: 'utf8' })) as string[][]
  for (const [at, { subject, html, text }] of mails.entries()) {
    const [gotSubject, , address, plain, markup, defects] = read[at] as string[]
    expect(gotSubject?.trim()).toBe(oneLine(subject).trim())
    expect(address).toBe('a@example.com')
    expect(lines(plain)).toBe(lines(text.toWellFormed()))
    expect(lines(markup)).toBe(lines(`<pre>${html.toWellFormed()}</pre>`))
    expect(defects).toBe(0)
  }
})

import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type FakeRequest, openFakeProvider } from '../../../test/fake-provider.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import type { MessageId } from '../../lib/ids.ts'
import { emailOf, encodeMailbox, formatMailbox } from './mail.ts'
import type { Outgoing, ProviderTools } from './provider.ts'
import { ses } from './providers/ses.ts'

const message = (content: object, headers: Record<string, string> = {}): Outgoing => ({
  id: 42 as MessageId,
  key: 'k-42',
  channel: 'email',
  recipient: 'kim@example.org',
  summary: 'Hello',
  content: { from: 'hello@example.com', to: 'kim@example.org', subject: 'Hello', html: 'x', text: 'x', ...content },
  headers,
  devices: [],
})

describe('the sender of an email', () => {
  test.each<[string | undefined, string | undefined, object]>([
    ['hello@example.com', 'default@example.com', { name: '', address: 'hello@example.com' }],
    ['Carillon <hello@example.com>', undefined, { name: 'Carillon', address: 'hello@example.com' }],
    ['"Bells, Inc" <hello@example.com>', undefined, { name: 'Bells, Inc', address: 'hello@example.com' }],
    ['Bells, Inc <hello@example.com>', undefined, { name: 'Bells, Inc', address: 'hello@example.com' }],
    ['Bells (Sydney): news; more <hello@example.com>', undefined, { name: 'Bells (Sydney): news; more', address: 'hello@example.com' }],
    ['"The \\"best\\", Inc" <hello@example.com>', undefined, { name: 'The "best", Inc', address: 'hello@example.com' }],
    ['Kim @ Bells <hello@example.com>', undefined, { name: 'Kim @ Bells', address: 'hello@example.com' }],
    ['hello@example.com, Ana <ana@example.com>', undefined, { name: '', address: 'hello@example.com' }],
    [undefined, 'Bells, Inc (Sydney) <default@example.com>', { name: 'Bells, Inc (Sydney)', address: 'default@example.com' }],
    [undefined, 'Default <default@example.com>', { name: 'Default', address: 'default@example.com' }],
  ])('template %j, provider %j', (from, default_from, expected) => {
    const email = emailOf(message({ from }), default_from === undefined ? {} : { default_from })
    expect(email).toMatchObject({ from: expected })
  })

  test.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['nobody', 'default@example.com'],
    ['Carillon <hello@localhost>', undefined],
  ])('template %j, provider %j is missing, and the reason explains what to do', (from, default_from) => {
    expect(emailOf(message({ from }), default_from === undefined ? {} : { default_from })).toEqual({
      is: 'rejected',
      code: 'no_sender',
      reason: expect.stringContaining('`default_from`'),
    })
  })
})

test('each recipient is in an email once', () => {
  const content = { cc: 'Ana <ana@example.org>, KIM@example.org, ana@example.org', bcc: 'boss@example.org, Ana@Example.org' }
  expect(emailOf(message(content), {})).toMatchObject({
    to: { address: 'kim@example.org' },
    cc: [{ name: 'Ana', address: 'ana@example.org' }],
    bcc: [{ name: '', address: 'boss@example.org' }],
  })
})

test('a header cannot start another one', () => {
  expect(emailOf(message({}, { 'X-Own': 'one\r\nBcc: everyone@example.com' }), {})).toMatchObject({
    headers: [['X-Own', 'one Bcc: everyone@example.com']],
  })
})

test.each([
  ['', 'a@example.com', 'a@example.com', 'a@example.com'],
  ['Carillon', 'a@example.com', '"Carillon" <a@example.com>', '"Carillon" <a@example.com>'],
  ['The "best" \\ Inc', 'a@example.com', '"The \\"best\\" \\\\ Inc" <a@example.com>', '"The \\"best\\" \\\\ Inc" <a@example.com>'],
  ['Grüße', 'a@example.com', '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?= <a@example.com>', '"Grüße" <a@example.com>'],
])('the mailbox %j <%s> is formatted', (name, address, header, plain) => {
  expect(encodeMailbox({ name, address })).toBe(header)
  expect(formatMailbox({ name, address })).toBe(plain)
})

test('a long name in a header is split into encoded words of at most 75 characters', () => {
  const [words = ''] = encodeMailbox({ name: 'Glockenspiel für alle Übriggebliebenen '.repeat(5), address: 'a@example.com' }).split(' <')
  expect(words.split(' ').every((word) => word.length <= 75 && /^=\?UTF-8\?Q\?.*\?=$/.test(word))).toBe(true)
})

describe('a request to Amazon has the signature of its specification', () => {
  const settings = { region: 'eu-central-1', access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCY' }

  /** Signature Version 4, implemented from its specification. */
  function signatureOf({ method, url, headers, body }: FakeRequest): string {
    const { host, pathname } = new URL(url)
    const all: Record<string, string> = { ...headers, host }
    const names = (/SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? '').split(';')
    const canonical = [
      method,
      pathname,
      '',
      ...names.map((name) => `${name}:${all[name]}`),
      '',
      names.join(';'),
      createHash('sha256').update(body).digest('hex'),
    ].join('\n')
    const date = headers['x-amz-date'] ?? ''
    const scope = [date.slice(0, 8), settings.region, 'ses', 'aws4_request']
    const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), createHash('sha256').update(canonical).digest('hex')].join('\n')
    const key = scope.reduce<Buffer | string>(
      (key, part) => createHmac('sha256', key).update(part).digest(),
      `AWS4${settings.secret_access_key}`,
    )
    return createHmac('sha256', key).update(text).digest('hex')
  }

  test.each([
    ['an email', (outside: ProviderTools) => ses.send(settings, message({ subject: 'Grüße' }), outside)],
    ['a provider test', (outside: ProviderTools) => ses.test(settings, outside)],
  ])('%s', async (_, act) => {
    await using fakeProvider = await openFakeProvider()
    fakeProvider.answer({ status: 200, body: {} })
    await act({ fetch: fakeProvider.fetch, clock: createTestClock() } as unknown as ProviderTools)
    const [asked] = fakeProvider.requests
    const { authorization = '', 'x-amz-date': date } = asked?.headers ?? {}
    expect(date).toBe('20261123T090000Z')
    expect(authorization).toContain('Credential=AKIAIOSFODNN7EXAMPLE/20261123/eu-central-1/ses/aws4_request')
    expect(/Signature=(\w+)$/.exec(authorization)?.[1]).toBe(signatureOf(asked as FakeRequest))
  })
})

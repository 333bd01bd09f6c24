import { describe, expect, test } from 'vitest'
import { egressPolicy } from './egress.ts'
import { dnsName, isDeeplinkMirrorUrl, isDomainName, isHostNameOrIp, isHttpsUrl, isWebsiteUrl, webhookUrlProblem } from './urls.ts'

const label63 = 'a'.repeat(63)

test.each([
  ['example.com', true],
  ['EXAMPLE.Com', true],
  ['a-b.example.xn--p1ai', true],
  [`${label63}.com`, true],
  [`a${label63}.com`, false],
  [`${`${label63}.`.repeat(4)}com`, false],
  ['localhost', false],
  ['example.com.', false],
  ['-a.com', false],
  ['1.2.3.4', false],
  ['a_b.com', false],
])('%s is a public domain: %s', (text, expected) => expect(isDomainName(text)).toBe(expected))

describe('a website', () => {
  test.each([
    '',
    'example.com',
    'https://example.com',
    'HTTP://Example.com:8080/path/to',
    'example.com:65535',
    'münchen.de/ß',
    'https://例え.テスト/',
    'xn--mnchen-3ya.de',
  ])('may be %j', (text) => expect(isWebsiteUrl(text)).toBe(true))

  test.each([
    'localhost',
    'http://127.0.0.1/',
    'https://[::1]/',
    'https://2130706433/',
    'https://127.0.0.１/',
    'ftp://example.com',
    'javascript:alert(1)',
    'mailto:kim@example.com',
    'https://kim@example.com',
    'https://example.com?x=1',
    'https://example.com/#top',
    'https://example.com:0',
    'https://example.com:65536',
    'https://example.com:',
    'https://',
    'https:///path',
    '//example.com',
    'https:\\\\example.com',
    'https://ex%61mple.com',
    'https://exa mple.com',
    'https://example.com/a b',
    'https://example.com/\n',
    'https://-example.com',
    'https://https://example.com',
  ])('may not be %j', (text) => expect(isWebsiteUrl(text)).toBe(false))
})

test.each([
  ['', true],
  ['https://links.example.com', true],
  ['HTTPS://links.example.com:8443/open?to=1', true],
  ['https://links.example.com?to=1', true],
  ['http://links.example.com', false],
  ['links.example.com', false],
  ['https://links.example.com/#a', false],
  ['https://localhost/', false],
  ['https://10.0.0.1/', false],
  ['https://kim:pw@example.com/', false],
  ['app://open', false],
])('%j is a deeplink mirror: %s', (text, expected) => expect(isDeeplinkMirrorUrl(text)).toBe(expected))

test.each([
  ['https://example.com/x?y#z', true],
  ['HTTPS://localhost', true],
  ['http://example.com', false],
  ['https://', false],
  ['https://exa mple.com', false],
  ['example.com', false],
])('%j is an https URL: %s', (text, expected) => expect(isHttpsUrl(text)).toBe(expected))

test.each([
  ['192.0.2.1', true],
  ['::1', true],
  ['[2001:db8::1]', true],
  ['localhost', true],
  ['mail.example.com', true],
  ['3com.com', true],
  ['127.1', false],
  ['2130706433', false],
  ['0x7f.1', false],
  ['256.1.1.1', false],
  ['fe80::1%eth0', false],
  ['[::1', false],
  ['[192.0.2.1]', false],
  ['a_b.example.com', false],
  ['-a.example.com', false],
  ['example.com.', false],
  ['https://example.com', false],
  ['example.com:80', false],
  ['', false],
  [`${`${label63}.`.repeat(4)}com`, false],
])('%j is a host name or address: %s', (text, expected) => expect(isHostNameOrIp(text)).toBe(expected))

test.each([
  ['example.com', 'example.com'],
  ['_Spf.Example.COM.', '_spf.example.com'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
  ['example.com..', null],
  ['localhost', null],
  ['192.0.2.1', null],
  ['１２７.0.0.1', null],
  ['::1', null],
  ['kim@example.com', null],
  ['https://example.com', null],
  ['example.com/path', null],
  ['exa\tmple.com', null],
  ['ex%61mple.com', null],
  ['a..example.com', null],
  ['example.com.123', null],
  ['', null],
])('the DNS name of %j is %j', (text, expected) => expect(dnsName(text)).toBe(expected))

describe('a webhook URL', () => {
  const closed = egressPolicy([])
  const open = egressPolicy(['127.0.0.0/8', '::1/128'])

  test.each([
    'https://example.com',
    'HTTPS://hooks.example.com:8443/in?key=1',
    'https://münchen.de/',
    'https://8.8.8.8/',
    'https://[2606:4700::1]/',
    'https://example.com./',
    'https://example.com/@kim',
  ])('may be %s', (text) => expect(webhookUrlProblem(text, closed)).toBeNull())

  test.each([
    ['http://example.com', 'starts with'],
    ['example.com', 'starts with'],
    ['https://', 'starts with'],
    ['https://exa\nmple.com', 'starts with'],
    ['https://kim:pw@example.com', 'user name'],
    ['https://@example.com', 'user name'],
    ['https:///kim:pw@example.com/path', 'user name'],
    ['https:////kim@example.com', 'user name'],
    ['https:///:pw@example.com', 'user name'],
    ['https://example.com/#top', 'fragment'],
    ['https://example.com/#', 'fragment'],
    ['https://example.com:25/', 'port'],
    ['https://example.com:80/', 'port'],
    ['https://127.0.0.1/', 'reserved address'],
    ['https://127.0.0.1./', 'reserved address'],
    ['https://2130706433/', 'reserved address'],
    ['https://0x7f.1/', 'reserved address'],
    ['https://0177.0.0.1/', 'reserved address'],
    ['https://１２７.0.0.1/', 'reserved address'],
    ['https://10.1.2.3/', 'reserved address'],
    ['https://169.254.169.254/', 'reserved address'],
    ['https://[::1]/', 'reserved address'],
    ['https://[::ffff:127.0.0.1]/', 'reserved address'],
    ['https://[fd00::1]/', 'reserved address'],
    ['https://localhost/', 'public internet'],
    ['https://LOCALHOST./', 'public internet'],
    ['https://app.localhost/', 'public internet'],
    ['https://printer.local/', 'public internet'],
    ['https://db.internal/', 'public internet'],
    ['https://nas.home.arpa/', 'public internet'],
    ['https://intranet/', 'public internet'],
    ['https://a..b/', 'public internet'],
  ])('may not be %j', (text, because) => expect(webhookUrlProblem(text, closed)).toContain(because))

  test.each(['https://localhost:8443/', 'https://127.0.0.1:8443/', 'https://127.8.9.10/', 'https://[::1]:8443/'])(
    'may be %s if loopback is allowed',
    (text) => expect(webhookUrlProblem(text, open)).toBeNull(),
  )

  test.each(['https://10.1.2.3/', 'https://app.localhost/', 'https://intranet/', 'http://localhost/'])(
    'may not be %s even if loopback is allowed',
    (text) => expect(webhookUrlProblem(text, open)).not.toBeNull(),
  )
})

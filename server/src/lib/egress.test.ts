import { describe, expect, test } from 'vitest'
import { egressPolicy, isAllowedAddress, isAllowedPort } from './egress.ts'

describe('a policy without exceptions', () => {
  const closed = egressPolicy([])

  test.each(['8.8.8.8', '1.1.1.1', '100.63.255.255', '172.15.0.1', '172.32.0.1', '2606:4700::1', '::ffff:8.8.8.8'])('allows %s', (ip) =>
    expect(isAllowedAddress(closed, ip)).toBe(true),
  )

  test.each([
    ['0.0.0.0', 'this host'],
    ['0.1.2.3', '0/8'],
    ['10.0.0.1', 'RFC 1918'],
    ['172.16.0.1', 'RFC 1918'],
    ['172.31.255.255', 'RFC 1918'],
    ['192.168.1.1', 'RFC 1918'],
    ['100.64.0.1', 'CGNAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['169.254.169.254', 'cloud metadata'],
    ['192.0.0.1', '192.0.0/24'],
    ['192.0.2.1', 'TEST-NET-1'],
    ['198.51.100.1', 'TEST-NET-2'],
    ['203.0.113.1', 'TEST-NET-3'],
    ['192.88.99.1', '6to4 relay'],
    ['198.18.0.1', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'class E'],
    ['255.255.255.255', 'broadcast'],
    ['2130706433', 'loopback as one number'],
    ['0x7f.1', 'loopback in hexadecimal'],
    ['0177.0.0.1', 'loopback in octal'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::127.0.0.1', 'IPv4-compatible loopback'],
    ['::ffff:127.0.0.1', 'mapped loopback'],
    ['::ffff:7f00:1', 'mapped loopback in hexadecimal'],
    ['::ffff:10.0.0.1', 'mapped RFC 1918'],
    ['::ffff:0:127.0.0.1', 'translated loopback'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['64:ff9b:1::1', 'local NAT64'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['3fff::1', 'documentation'],
    ['2002:7f00:1::', '6to4'],
    ['5f00::1', 'SRv6'],
    ['fc00::1', 'ULA'],
    ['fd12:3456::1', 'ULA'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local with a zone'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
    ['localhost', 'a name'],
    ['', 'nothing'],
  ])('refuses %s (%s)', (ip) => expect(isAllowedAddress(closed, ip)).toBe(false))
})

describe('a policy that allows ranges', () => {
  const policy = egressPolicy(['127.0.0.0/8', '::1/128', '10.20.0.0/16', 'fd00::/8'])

  test.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::ffff:127.0.0.1', true],
    ['::1', true],
    ['10.20.30.40', true],
    ['fd12::1', true],
    ['8.8.8.8', true],
    ['10.21.0.1', false],
    ['192.168.1.1', false],
    ['2606:4700::1', true],
    ['fe80::1', false],
    ['0.0.0.0', false],
  ])('allows %s: %s', (ip, expected) => expect(isAllowedAddress(policy, ip)).toBe(expected))

  test.each([
    '127.0.0.1',
    '10.0.0.0/33',
    '::1/129',
    '10.1/8',
    '0x7f.0.0.0/8',
    '010.0.0.0/8',
    'localhost/8',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '/8',
    '',
    'fe80::%1/64',
  ])('rejects a malformed range: %j', (cidr) =>
    expect(() => egressPolicy(['127.0.0.0/8', cidr])).toThrow(`\`${cidr}\` is not an address range`),
  )
})

/** RFC 6890 and its updates, and every form of RFC 6052 and its predecessors in which an IPv6 address contains an IPv4 address. */
const SPECIAL: [prefix: string, first: string, last: string][] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255'],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255'],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255'],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255'],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255'],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255'],
  ['::/128', '::', '::'],
  ['::1/128', '::1', '::1'],
  ['::/96 (IPv4-compatible)', '::8.8.8.8', '::255.255.255.255'],
  ['::ffff:0:0/96 (IPv4-mapped, of a private address)', '::ffff:10.0.0.0', '::ffff:10.255.255.255'],
  ['::ffff:0:0:0/96 (IPv4-translated)', '::ffff:0:8.8.8.8', '::ffff:0:255.255.255.255'],
  ['64:ff9b::/96 (NAT64)', '64:ff9b::', '64:ff9b::8.8.8.8'],
  ['64:ff9b:1::/48 (local NAT64)', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::/64', '100::', '100::ffff:ffff:ffff:ffff'],
  ['100:0:0:1::/64', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['2001::/32 (Teredo)', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::/16 (6to4)', '2002::', '2002:808:808:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::/48', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['0::/3 (not assigned)', '1::1', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::/2 and above (not assigned)', '4000::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
]

test.each(SPECIAL)('%s is refused from its first to its last address', (_, first, last) => {
  const closed = egressPolicy([])
  expect([isAllowedAddress(closed, first), isAllowedAddress(closed, last)]).toEqual([false, false])
})

test('a form that contains an IPv4 address is allowed only by its own range', () => {
  const forms = ['::10.0.0.1', '::ffff:0:10.0.0.1', '64:ff9b::10.0.0.1', '2002:a00:1::']
  const inside = egressPolicy(['10.0.0.0/8'])
  expect(forms.map((ip) => isAllowedAddress(inside, ip))).toEqual([false, false, false, false])
  expect(isAllowedAddress(egressPolicy(['64:ff9b::/96']), '64:ff9b::10.0.0.1')).toBe(true)
})

test.each([
  ['https://example.com/', true],
  ['https://example.com:443/', true],
  ['http://example.com:80/', true],
  ['https://example.com:1024/', true],
  ['https://example.com:8443/', true],
  ['https://example.com:65535/', true],
  ['https://example.com:80/', false],
  ['http://example.com:443/', false],
  ['https://example.com:1023/', false],
  ['https://example.com:25/', false],
  ['https://example.com:22/', false],
  ['https://example.com:0/', false],
])('a request to the port of %s is allowed: %s', (url, expected) => expect(isAllowedPort(new URL(url))).toBe(expected))

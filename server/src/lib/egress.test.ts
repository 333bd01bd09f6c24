import { describe, expect, test } from 'vitest'
import { egressPolicy, isAllowedAddress } from './egress.ts'

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

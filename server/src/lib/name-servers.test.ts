import { expect, test } from 'vitest'
import { parseNameServer } from './name-servers.ts'

test.each([
  ['192.0.2.1', { ip: '192.0.2.1', port: 53 }],
  ['192.0.2.1:5353', { ip: '192.0.2.1', port: 5353 }],
  ['2001:db8::1', { ip: '2001:db8::1', port: 53 }],
  ['[2001:db8::1]:5353', { ip: '2001:db8::1', port: 5353 }],
  ['192.0.2.1:', null],
  ['192.0.2.1:70000', null],
  ['[192.0.2.1:53', null],
  ['ns.example.com', null],
  ['ns.example.com:53', null],
  ['', null],
])('%s is a name server or not', (text, server) => {
  expect(parseNameServer(text)).toEqual(server)
})

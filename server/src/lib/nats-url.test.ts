import { expect, test } from 'vitest'
import { natsServers } from './nats-url.ts'

test.each([
  ['nats://127.0.0.1:4222', { servers: ['127.0.0.1:4222'], isEncrypted: false, where: '127.0.0.1:4222' }],
  ['nats://a:4222,b:4222/', { servers: ['a:4222', 'b:4222'], isEncrypted: false, where: 'a:4222 or b:4222' }],
  ['tls://kim:p%40ss@a', { servers: ['a'], isEncrypted: true, user: 'kim', pass: 'p@ss', where: 'a' }],
  ['nats://s3cret@a', { servers: ['a'], isEncrypted: false, token: 's3cret', where: 'a' }],
  ['http://a:4222', null],
  ['nats://', null],
  ['nats://a,,b', null],
  ['nats://a:99999', null],
  ['nats://%zz:p@a', null],
  ['nats://a/path', null],
])('%s', (url, expected) => expect(natsServers(url)).toEqual(expected))

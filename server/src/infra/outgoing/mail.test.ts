/** Looking up mail hosts with the parts that a server is composed of. */
import { expect, inject, test } from 'vitest'
import { openInternet } from '../../../test/internet/internet.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import { openMail } from './mail.ts'

const LIMIT_MS = 15_000

test('a name server that does not answer is waited for a few seconds, although the clock of the messages stands still', {
  timeout: LIMIT_MS,
}, async () => {
  await using internet = await openInternet(inject('authorityDir'))
  internet.dns.fault('silent.example.org', 'timeout')
  await using mail = openMail({
    config: {
      EGRESS_ALLOW_CIDRS: ['127.0.0.0/8'],
      DNS_SERVERS: [internet.dns.server],
      DNS_VALIDATES: false,
      MTA_HOSTNAME: undefined,
      MTA_PORT: internet.mx.port,
      MTA_SOURCE_ADDRESSES: [],
    },
    clock: createTestClock(),
    random: () => 0,
    ca: [],
    baseUrl: 'http://carillon.test',
    store: { find: async () => null, save: async () => undefined },
    onError: (error) => {
      throw error
    },
    isLoopbackOnly: true,
  })
  expect(await mail.resolver.mx('silent.example.org')).toMatchObject({ is: 'failed' })
})

/** Looking up mail hosts with the parts that a server is composed of. */
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { expect, inject, test } from 'vitest'
import { type Internet, openInternet } from '../../../test/internet/internet.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import { openMail } from './mail.ts'

const LIMIT_MS = 15_000

function openOn(
  internet: Internet,
  onError: (error: unknown, problem: string) => void = (error) => {
    throw error
  },
) {
  return openMail({
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
    ca: [internet.certificates.ca],
    baseUrl: 'http://carillon.test',
    store: { find: async () => null, save: async () => undefined },
    onError,
    isLoopbackOnly: true,
  })
}

/** The system refuses to tell its addresses, as to a service that may not open sockets of the family `AF_NETLINK`. */
function withoutInterfaces(): Disposable {
  const { networkInterfaces } = os
  const set = (read: typeof networkInterfaces) => {
    Object.assign(os, { networkInterfaces: read })
    syncBuiltinESMExports()
  }
  set(() => {
    throw new Error('uv_interface_addresses returned Unknown system error 97')
  })
  return { [Symbol.dispose]: () => set(networkInterfaces) }
}

test('a name server that does not answer is waited for a few seconds, although the clock of the messages stands still', {
  timeout: LIMIT_MS,
}, async () => {
  await using internet = await openInternet(inject('authorityDir'))
  internet.dns.fault('silent.example.org', 'timeout')
  await using mail = openOn(internet)
  expect(await mail.resolver.mx('silent.example.org')).toMatchObject({ is: 'failed' })
})

test('email is delivered where the system does not tell the addresses of the machine, and one warning says so', async () => {
  await using internet = await openInternet(inject('authorityDir'))
  const host = internet.host('mx.example.org')
  using _ = withoutInterfaces()
  const problems: string[] = []
  await using mail = openOn(internet, (_, problem) => problems.push(problem))
  const route = { site: 'a', domain: 'example.org', hosts: [{ host: 'mx.example.org', preference: 10 }], steps: [] }
  const limits = { connections: 1, mailsPerConnection: 10 }
  for (const name of ['kim', 'lee']) {
    const one = { from: 'a@example.com', to: [`${name}@example.org`], content: Buffer.from('Subject: Hello\r\n\r\nHello\r\n') }
    await mail.client.deliver(route, one, limits)
  }
  expect(host.mails.map(({ to }) => to)).toEqual([['kim@example.org'], ['lee@example.org']])
  expect(await mail.reach('mx.example.org')).toBe('success')
  expect(problems).toEqual(['the addresses of this machine cannot be read, so email to them is not refused'])
})

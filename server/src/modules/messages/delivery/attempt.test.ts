import { expect, test } from 'vitest'
import type { Route } from '../../../infra/outgoing/mx/outcome.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { ClaimedRecipient, MailRow } from '../../mta/index.ts'
import { createScheduler, siteOf } from '../../mta/index.ts'
import { groupsOf, usable } from './attempt.ts'

const claimed = (mail: number, domain: string, count: number) =>
  Array.from({ length: count }, (_, no) => ({
    mail: { id: mail as MessageId } as MailRow,
    recipient: { mail_id: mail as MessageId, no, domain, address: `${no}@${domain}` } as ClaimedRecipient,
  }))

test.each([1, 99, 100, 101, 250])('an email to %i recipients at a domain goes to each once, to at most 100 at a time', (count) => {
  const groups = groupsOf(claimed(1, 'example.org', count))
  expect(groups.map(({ recipients }) => recipients.length).slice(0, -1)).toEqual(Array(Math.ceil(count / 100) - 1).fill(100))
  expect(groups.flatMap(({ recipients }) => recipients.map(({ no }) => no))).toEqual(Array.from({ length: count }, (_, no) => no))
})

test('recipients at another domain, and those of another email, get it in another transaction', () => {
  const groups = groupsOf([...claimed(1, 'example.org', 2), ...claimed(2, 'example.org', 1), ...claimed(1, 'example.net', 1)])
  expect(groups.map(({ mail, domain, recipients }) => [mail.id, domain, recipients.length])).toEqual([
    [1, 'example.org', 2],
    [2, 'example.org', 1],
    [1, 'example.net', 1],
  ])
})

test.each<[string, string[], string[] | undefined, string[]]>([
  ['another host', ['mx1.example.org', 'mx2.example.org'], undefined, ['mx2.example.org']],
  ['no other host', ['mx1.example.org'], undefined, ['mx1.example.org']],
  ['no other host that its policy names', ['mx1.example.org', 'mx.old.example'], ['*.example.org'], ['mx1.example.org', 'mx.old.example']],
])('of a host that failed often and %s, these are tried', (_, names, enforcedHosts, expected) => {
  const scheduler = createScheduler({ now: () => 0, processes: () => 1, overrides: {} })
  const site = siteOf(names)
  for (let at = 0; at < 100; at++) scheduler.recordHost(site, 'mx1.example.org', 'failed')
  const hosts = names.map((host) => ({ host, preference: 10 }))
  const route: Route = { site: site.key, domain: 'example.org', hosts, steps: [], ...(enforcedHosts && { enforcedHosts }) }
  expect(usable(scheduler, site, route).hosts.map(({ host }) => host)).toEqual(expected)
})

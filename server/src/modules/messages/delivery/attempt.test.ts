import { expect, test } from 'vitest'
import type { MessageId } from '../../../lib/ids.ts'
import type { ClaimedRecipient, MailRow } from '../../mta/index.ts'
import { groupsOf } from './attempt.ts'

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

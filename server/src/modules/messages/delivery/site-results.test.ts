import { expect, test } from 'vitest'
import type { MailAttempt } from './events.ts'
import type { Decided, Outcome } from './results.ts'
import { siteResultsOf } from './site-results.ts'

const GOOGLE = { key: 'google', label: 'Google' }
const decided = (outcome: object, isAttempt = true) =>
  ({ outcome: outcome as Outcome, isAttempt, recipient: { address: 'Kim.Lee@example.org' } }) as Decided
const attempt = (site: MailAttempt['site'], ...all: Decided[]) => ({ site, decided: all }) as unknown as MailAttempt
const delivered = decided({ is: 'delivered' })
const refused = (is: string, response: string) => decided({ is, reply: { code: 450, response } })

test('the recipients of all attempts at a site are counted, with the last reply that refused one', () => {
  const results = siteResultsOf([
    attempt(GOOGLE, delivered, refused('temporary', '450 Later')),
    attempt({ key: 'mx-1', label: 'example.org' }, delivered),
    attempt(GOOGLE, refused('permanent', '550 Unknown'), decided({ is: 'uncertain', reason: 'timeout' })),
  ])
  expect(results).toEqual([
    { site: 'google', label: 'Google', delivered: 1, deferred: 2, bounced: 1, last_reply: '550 Unknown' },
    { site: 'mx-1', label: 'example.org', delivered: 1, deferred: 0, bounced: 0, last_reply: null },
  ])
})

test.each([
  ['550 5.1.1 <kim.lee@example.org>: Recipient address rejected', '550 5.1.1 <[address]>: Recipient address rejected'],
  ['550 kim.lee@example.org... User unknown; see postmaster@example.org.', '550 [address] User unknown; see [address]'],
  ["550 5.7.1 No such user 'KIM.LEE' here: kim.lee.", "550 5.7.1 No such user '[address]' here: [address]"],
  ['450 4.7.1 Try kim later', '450 4.7.1 Try kim later'],
])('the last reply of a site names no recipient: %s', (reply, kept) => {
  expect(siteResultsOf([attempt(GOOGLE, refused('permanent', reply))])).toMatchObject([{ last_reply: kept }])
})

test('an attempt counts if one recipient was tried, and not if none was or no site was found', () => {
  const postponed = decided({ is: 'postponed', limit: null }, false)
  expect(siteResultsOf([attempt(GOOGLE, postponed, delivered)])).toMatchObject([{ site: 'google', delivered: 1, deferred: 0 }])
  expect(siteResultsOf([attempt(GOOGLE, postponed), attempt(null, delivered)])).toEqual([])
})

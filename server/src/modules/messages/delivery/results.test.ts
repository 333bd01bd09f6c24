import { describe, expect, test } from 'vitest'
import type { MessageId, ProjectId } from '../../../lib/ids.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import type { ClaimedRecipient, MailRow } from '../../mta/index.ts'
import { decide, type Outcome, reduced, UNSAVED } from './results.ts'

const AT = new Date('2026-11-23T09:00:00Z')
const after = (ms: number) => new Date(AT.getTime() + ms)
const mail: MailRow = {
  ...{ id: 7 as MessageId, source: 'message', priority: 0, campaign_id: null, journey_id: null, rfc_message_id: '<m-7@shop.example>' },
  ...{ mail_from: 'hello@shop.example', return_domain: null, size: 900, recipients: 1, needs_smtp_utf8: false, needs_8bit: false },
  ...{ envelope_id: null, returns: null, created_at: AT, retry_minutes: null, expires_at: after(48 * HOUR_MS), completed_at: null },
}
const recipient: ClaimedRecipient = {
  ...{ project_id: 1 as ProjectId, mail_id: mail.id, no: 0, address: 'kim@example.org', domain: 'example.org', site: null },
  ...{ campaign_id: null, size: 900, attempts: 2, attempt: 2, due_at: AT, last_attempt_at: null, last_error: null, notify: null },
  ...{ was_sender_refused: false, was_answered: false, original_recipient: null, lease_token: 'a lease' },
}
const OWN_ADDRESS = '203.0.113.9'
const ownAddresses = () => [OWN_ADDRESS]
const decided = (outcome: Outcome, over: Partial<MailRow> = {}, random = 0.5) =>
  decide({ ...mail, ...over }, recipient, outcome, 'mx-1', { at: AT, random, ownAddresses })

const host = 'mx.example.org'
const later = { code: 451, enhancedCode: '4.3.0', response: '451 4.3.0 Later' }
const tls = { protocol: 'TLSv1.3', cipher: 'AES', verified: true }

describe('the history of a recipient has', () => {
  const base = { attempt: 2, at: AT.toISOString() }
  test.each<[string, Outcome, object | null]>([
    [
      'what the host replied, over which connection',
      { is: 'delivered', host, peer: { ip: '192.0.2.1', tls }, reply: { code: 250, response: '250 OK' } },
      { ...base, outcome: 'delivered', host, ip: '192.0.2.1', tls: 'TLSv1.3 AES', code: 250, response: '250 OK' },
    ],
    [
      'the reply and not the reason',
      { is: 'temporary', reason: 'refused', host, reply: later, scope: 'recipient' },
      { ...base, outcome: 'deferred', host, code: 451, enhanced_code: '4.3.0', response: '451 4.3.0 Later' },
    ],
    [
      'the reason without a reply',
      { is: 'temporary', reason: 'timeout', host, scope: 'site' },
      { ...base, outcome: 'deferred', host, detail: 'timeout' },
    ],
    ['the reason without a host', { is: 'permanent', reason: 'no such domain' }, { ...base, outcome: 'failed', detail: 'no such domain' }],
    ['a suppression', { is: 'suppressed', reason: 'bounce' }, { ...base, outcome: 'failed', detail: 'bounce' }],
    ['the end of the lifetime', { is: 'expired' }, { ...base, outcome: 'expired' }],
    [
      'up to 500 characters of a reply',
      { is: 'permanent', reason: '', host, reply: { code: 550, response: 'n'.repeat(501) } },
      { ...base, outcome: 'failed', host, code: 550, response: 'n'.repeat(500) },
    ],
    [
      'up to 500 characters of a reason',
      { is: 'uncertain', reason: 'n'.repeat(501), host },
      { ...base, outcome: 'uncertain', host, detail: 'n'.repeat(500) },
    ],
    ['no wait', { is: 'postponed', until: after(MINUTE_MS), limit: null }, null],
    ['no pause', { is: 'held' }, null],
  ])('%s', (_, outcome, expected) => {
    expect(decided(outcome).result.history).toEqual(expected)
  })
})

describe('a recipient', () => {
  const open = { state: 'queued', is_held: false }
  test.each<[string, Outcome, object, boolean]>([
    [
      'whom the host refuses for now is tried again',
      { is: 'temporary', reason: '', scope: 'site' },
      { ...open, due_at: after(5 * MINUTE_MS) },
      true,
    ],
    [
      'who waits has had no attempt',
      { is: 'postponed', until: after(MINUTE_MS), limit: 'rate' },
      { ...open, is_untried: true, due_at: after(MINUTE_MS) },
      false,
    ],
    [
      'whose email waits until after its end is looked at when its time is over',
      { is: 'postponed', until: after(60 * HOUR_MS), limit: 'warm-up' },
      { ...open, is_untried: true, due_at: after(48 * HOUR_MS + 1) },
      false,
    ],
    [
      'whose email is held is looked at when its time is over',
      { is: 'held' },
      { ...open, is_held: true, is_untried: true, due_at: after(48 * HOUR_MS + 1) },
      false,
    ],
    [
      'whose address is suppressed has had no attempt',
      { is: 'suppressed', reason: 'bounce' },
      { state: 'failed', is_untried: true },
      false,
    ],
    [
      'whose campaign stopped has had no attempt',
      { is: 'cancelled', reason: 'campaign_stopped' },
      { state: 'cancelled', is_untried: true },
      false,
    ],
    ['of a refused email has had an attempt', { is: 'permanent', reason: 'no' }, { state: 'failed', is_untried: false }, true],
    ['who may have the email gets it no more', UNSAVED, { state: 'failed', is_untried: false }, true],
  ])('%s', (_, outcome, result, isAttempt) => {
    const { result: found, isAttempt: counts } = decided(outcome)
    expect([found, counts]).toEqual([expect.objectContaining({ is_untried: false, ...result }), isAttempt])
  })

  test('is tried again at the times of its campaign, and at last when its time is over', () => {
    const outcome: Outcome = { is: 'temporary', reason: '', scope: 'site' }
    expect(decided(outcome, { retry_minutes: [1, 7] }).result.due_at).toEqual(after(7 * MINUTE_MS))
    expect(decided(outcome, { expires_at: after(MINUTE_MS) }).result.due_at).toEqual(after(MINUTE_MS))
  })
})

test('a failure without a code is temporary while the email is tried again, and for good at the end', () => {
  const { classification: waits } = decided({ is: 'temporary', reason: 'something', scope: 'site' })
  const { classification: failed } = decided({ is: 'permanent', reason: 'something' })
  expect([waits?.isPermanent, failed?.isPermanent]).toEqual([false, true])
})

test.each<[number, string, string | undefined, string, string]>([
  [550, '5.4.4', undefined, 'routing', 'soft'],
  [550, '5.1.2', undefined, 'dns', 'soft'],
  [556, '5.1.10', undefined, 'invalid-recipient', 'hard'],
  [550, '5.1.2', host, 'invalid-recipient', 'hard'],
  [552, '5.3.4', undefined, 'message-too-large', 'soft'],
  [553, '5.6.7', undefined, 'protocol', 'soft'],
  [550, '5.4.4', host, 'invalid-recipient', 'hard'],
])('a refusal of ours means what its codes say, and that of a host what its words say: %i %s of %s is %s', (...row) => {
  const [code, enhancedCode, host, label, bounce] = row
  const reply = { code, enhancedCode, response: `${code} ${enhancedCode} It does not exist` }
  const outcome: Outcome = { is: 'permanent', reason: '', reply, ...(host !== undefined && { host }) }
  expect(decided(outcome).classification).toMatchObject({ label, bounce })
})

test.each([
  ['550 Rejected', true],
  ['550 5.1.0 Rejected', true],
  ['450 Rejected', false],
])('a refusal that names our address is about the sender: %s', (words, isPermanent) => {
  const reply = { code: Number(words.slice(0, 3)), response: `${words} [${OWN_ADDRESS}]` }
  const outcome: Outcome = isPermanent
    ? { is: 'permanent', reason: '', host, reply }
    : { is: 'temporary', reason: '', host, reply, scope: 'recipient' }
  expect(decided(outcome).classification).toMatchObject({ label: 'sender-reputation', suppresses: { is: 'never' } })
})

test.each<[string, string | null, number, boolean]>([
  ['after failures of its whole lifetime', '451 4.7.1 Greylisted', 48 * HOUR_MS, true],
  ['without an attempt', null, 48 * HOUR_MS, false],
  ['at a deadline before the end of its lifetime', '451 4.7.1 Greylisted', 5 * MINUTE_MS, false],
])('an email that expires %s counts as a bounce or not', (_, last_error, ms, isBounce) => {
  const expiring = { ...mail, expires_at: after(ms) }
  const { classification } = decide(expiring, { ...recipient, last_error }, { is: 'expired' }, null, {
    at: after(ms),
    random: 0.5,
    ownAddresses,
  })
  expect(classification).toMatchObject({ label: 'expired', isBounce })
})

test.each<[string, string, boolean, boolean]>([
  ['about the sender', '450 4.1.8 <b.1-2@bounce.shop.example>: Sender address rejected: Domain not found', false, false],
  ['about its reputation', '451 4.7.1 blocked using zen.spamhaus.org', false, false],
  ['that names our address', `450 Rejected [${OWN_ADDRESS}]`, false, false],
  ['about a policy', '421 4.7.26 Unauthenticated email is deferred', false, false],
  ['about the content', '451 4.7.1 Looks like spam', false, false],
  ['of MAIL, whatever it says', '451 4.3.0 Later', true, false],
  ['of MAIL, with the words of a full mailbox', '452 4.2.2 Mailbox full', true, false],
  ['of the recipient', '451 4.3.0 Later', false, true],
])(
  'an email whose last failure was a refusal %s is a bounce or not once its lifetime is over',
  (_, last_error, was_sender_refused, isBounce) => {
    const expiring = { ...recipient, last_error, was_sender_refused }
    const { classification } = decide(mail, expiring, { is: 'expired' }, null, { at: after(48 * HOUR_MS), random: 0.5, ownAddresses })
    expect(classification).toMatchObject({ label: 'expired', isBounce, isPermanent: true })
  },
)

test('the history says which refusals are of the sender', () => {
  const refusal: Outcome = { is: 'temporary', reason: 'later', host, reply: later, scope: 'recipient' }
  expect(decided({ ...refusal, isOfSender: true }).result.history).toMatchObject({ sender_refused: true })
  expect(decided(refusal).result.history).not.toHaveProperty('sender_refused')
})

test.each<[string, Outcome, boolean]>([
  ['a pause', { is: 'held' }, false],
  ['the limit of a warm-up', { is: 'postponed', until: after(60 * HOUR_MS), limit: 'warm-up' }, false],
  ['a suspension of the site, which had failed', { is: 'postponed', until: after(49 * HOUR_MS), limit: 'suspended' }, true],
])('an email that was tried once and expires during %s counts as a bounce or not', (_, wait, isBounce) => {
  const { due_at } = decided(wait).result
  const expiring = { ...recipient, last_error: '451 4.7.1 Greylisted', due_at: due_at as Date }
  const { classification } = decide(mail, expiring, { is: 'expired' }, null, { at: after(49 * HOUR_MS), random: 0.5, ownAddresses })
  expect(classification).toMatchObject({ label: 'expired', isBounce })
})

test.each<[Outcome, Outcome['is']]>([
  [{ is: 'delivered', host, peer: {}, reply: later }, 'unsaved'],
  [{ is: 'uncertain', reason: '', host }, 'unsaved'],
  [{ is: 'permanent', reason: '', host, reply: later }, 'permanent'],
  [{ is: 'temporary', reason: '', host, reply: later, scope: 'site' }, 'temporary'],
  [{ is: 'expired' }, 'expired'],
])('a result that the database refuses is saved without what the host said: %o is %s', (outcome, is) => {
  const less = reduced(outcome)
  expect([less.is, 'reply' in less]).toEqual([is, false])
})

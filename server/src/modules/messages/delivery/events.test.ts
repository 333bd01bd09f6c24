import { expect, test } from 'vitest'
import type { MessageId, ProjectId } from '../../../lib/ids.ts'
import type { ClaimedRecipient, MailRow } from '../../mta/index.ts'
import { EVENT_TYPES } from '../../webhook-events/index.ts'
import { eventsOfAttempt, type MailAttempt } from './events.ts'
import { decide } from './results.ts'

const AT = new Date('2026-11-23T09:00:00Z')
const mail: MailRow = {
  ...{ id: 7 as MessageId, source: 'message', priority: 1, campaign_id: null, journey_id: null, rfc_message_id: '<m-7@shop.example>' },
  ...{ mail_from: 'hello@shop.example', return_domain: null, size: 900, recipients: 1, needs_smtp_utf8: false, needs_8bit: false },
  ...{ envelope_id: null, returns: null, created_at: AT, retry_minutes: null, expires_at: AT, completed_at: null },
}
const recipient: ClaimedRecipient = {
  ...{ project_id: 1 as ProjectId, mail_id: mail.id, no: 0, address: 'kim@example.org', domain: 'example.org', site: null },
  ...{ campaign_id: null, size: 900, attempts: 1, attempt: 1, due_at: AT, last_attempt_at: null, last_error: null, notify: null },
  ...{ was_sender_refused: false, was_answered: false, original_recipient: null, lease_token: 'a lease' },
}

test('what every email has is made only for endpoints that want it', () => {
  const reply = { code: 250, response: '250 OK' }
  const decided = decide(mail, recipient, { is: 'delivered', host: 'mx.example.org', peer: {}, reply }, 'mx-1', {
    at: AT,
    random: 0,
    ownAddresses: () => [],
  })
  const attempt: MailAttempt = { mail, startedAt: AT, elapsedMs: 3, steps: [], decided: [decided], site: null, tls: [], exceeded: null }
  const typesOf = (wanted: readonly string[]) =>
    eventsOfAttempt(
      attempt,
      {
        user: undefined,
        completed: { id: mail.id, delivered: 1, failed: 0 },
        isErased: false,
        suppressed: new Set(),
        wanted: new Set(wanted),
      },
      AT,
    ).map(({ type }) => type)
  const all = ['delivery.attempt-start', 'delivery.delivered', 'delivery.completed', 'delivery.attempt-end']
  expect(typesOf(EVENT_TYPES)).toEqual(all)
  for (const type of all) expect(typesOf([type])).toEqual([type])
  expect(typesOf(['delivery.dsn-perm-fail'])).toEqual([])
})

test('an attempt is for the recipients that the warm-up let through, and the others wait', () => {
  const now = { at: AT, random: 0, ownAddresses: () => [] }
  const to = (name: string, no: number) => ({ ...recipient, no, address: `${name}@example.org` })
  const waits = { is: 'postponed', until: AT, limit: 'warm-up' } as const
  const reply = { code: 250, response: '250 OK' }
  const decided = [
    decide(mail, to('ana', 0), { is: 'delivered', host: 'mx.example.org', peer: {}, reply }, 'mx-1', now),
    decide(mail, to('bo', 1), waits, 'mx-1', now),
    decide(mail, to('cy', 2), waits, 'mx-1', now),
  ]
  const noAddress = { is: 'ip-lookup-failed', host: 'mx2.example.org', reason: 'It has no address.' } as const
  const attempt: MailAttempt = { mail, startedAt: AT, elapsedMs: 3, steps: [noAddress], decided, site: null, tls: [], exceeded: null }
  const known = { user: undefined, completed: undefined, isErased: false, suppressed: new Set<string>(), wanted: new Set(EVENT_TYPES) }
  const all = { to: ['ana@example.org', 'bo@example.org', 'cy@example.org'] }
  const ana = { to: 'ana@example.org' }
  expect(eventsOfAttempt(attempt, known, AT)).toMatchObject([
    { type: 'delivery.attempt-start', data: ana },
    { type: 'delivery.ip-lookup-failed', data: ana },
    { type: 'delivery.delivered', data: ana },
    { type: 'queue.rescheduled', data: { ...all, pending: ['bo@example.org', 'cy@example.org'] } },
    { type: 'delivery.attempt-end', data: { ...ana, result: 'delivered' } },
  ])
})

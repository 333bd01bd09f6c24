import { createHmac } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../../../../lib/times.ts'
import { type RecordedCall, recording } from '../../recording.ts'

const SIGNING_KEY = 'a-signing-key-of-mailgun'
const API = 'https://api.eu.mailgun.net/v3/mg.example.com/messages'

const data = (event: string, more: object = {}) => ({
  event,
  id: 'W3X4JOhFT-OZidZGKKr9iA',
  timestamp: 1_763_888_300.5,
  recipient: 'kim@example.org',
  'user-variables': { carillon_message_id: '42' },
  message: { headers: { to: 'kim@example.org', 'message-id': '20251123085820.1.ABC@mg.example.com', from: 'hello@example.com' } },
  ...more,
})

const failed = (severity: string, reason: string) =>
  data('failed', {
    severity,
    reason,
    'delivery-status': { code: 550, 'enhanced-code': '5.1.1', message: '5.1.1 The account does not exist', description: '' },
  })

/** Failures by severity and reason, and the report of each. */
const FAILURES = [
  ['permanent', 'bounce', 'bounced'],
  ['permanent', 'suppress-bounce', 'bounced'],
  ['permanent', 'suppress-complaint', 'failed'],
  ['permanent', 'suppress-unsubscribe', 'failed'],
  ['permanent', 'old', 'failed'],
  ['permanent', 'espblock', 'failed'],
  ['permanent', 'hardfail', 'failed'],
  ['permanent', 'generic', 'failed'],
  ['temporary', 'generic', 'delayed'],
  ['temporary', 'greylisted', 'delayed'],
  ['temporary', 'bounce', 'delayed'],
] as const

/** Signed as by Mailgun: the time and a token, but not the content. */
function signed(now: Date, event: object, key = SIGNING_KEY): RecordedCall {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const token = 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0'
  const signature = createHmac('sha256', key)
    .update(timestamp + token)
    .digest('hex')
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event }),
  }
}

export const mailgun = recording({
  over: 'https',
  settings: () => ({
    api_key: 'key-of-mailgun',
    domain: 'mg.example.com',
    region: 'eu',
    signing_key: SIGNING_KEY,
    default_from: 'default@example.com',
  }),
  sends: {
    success: {
      replies: [{ status: 200, body: { id: '<20251123085820.1.ABC@mg.example.com>', message: 'Queued. Thank you.' } }],
      outcome: { is: 'accepted', delivered: false, reference: '20251123085820.1.ABC@mg.example.com' },
      message: {
        headers: { 'List-Unsubscribe': '<https://carillon.test/u/1>' },
        content: {
          from: 'Carillon <hello@example.com>',
          to: 'kim@example.org',
          cc: 'Ana <ana@example.org>',
          reply_to: 'help@example.com',
          subject: 'Grüße & mehr',
          html: '<p>Hello Kim</p>',
          text: 'Hello Kim',
        },
      },
      requests: [
        {
          method: 'POST',
          url: API,
          headers: {
            authorization: `Basic ${Buffer.from('api:key-of-mailgun').toString('base64')}`,
            'content-type': 'application/x-www-form-urlencoded',
          },
          form: {
            from: '"Carillon" <hello@example.com>',
            to: 'kim@example.org',
            cc: '"Ana" <ana@example.org>',
            subject: 'Grüße & mehr',
            text: 'Hello Kim',
            html: '<p>Hello Kim</p>',
            'h:Reply-To': 'help@example.com',
            'h:List-Unsubscribe': '<https://carillon.test/u/1>',
            'v:carillon_message_id': '42',
            'o:tracking': 'no',
          },
        },
      ],
    },
    bad_recipient: {
      replies: [{ status: 400, body: { message: "'to' parameter is not a valid address. please check documentation" } }],
      outcome: { is: 'rejected', bounced: true, code: '400' },
    },
    bad_request: {
      replies: [{ status: 400, body: { message: "'from' parameter is not a valid address. please check documentation" } }],
      outcome: { is: 'rejected', reason: "'from' parameter is not a valid address. please check documentation" },
    },
    wrong_key: { replies: [{ status: 401, body: 'Forbidden' }], outcome: { is: 'deferred', code: '401', reason: 'Forbidden' } },
    deleted_domain: {
      replies: [{ status: 404, body: { message: 'Domain not found: mg.example.com' } }],
      outcome: { is: 'deferred', code: '404', reason: 'Domain not found: mg.example.com' },
    },
    not_activated: {
      replies: [{ status: 403, body: { message: 'Domain mg.example.com is not allowed to send: Please activate your Mailgun account.' } }],
      outcome: { is: 'deferred', code: '403' },
    },
    throttled: {
      replies: [{ status: 429, headers: { 'retry-after': '30' }, body: { message: 'Too many requests' } }],
      outcome: { is: 'deferred', code: '429', retryAt: new Date('2026-11-23T09:00:30Z') },
    },
    outage: { replies: [{ status: 500, body: { message: 'Internal Server Error' } }], outcome: { is: 'deferred', code: '500' } },
    nonsense: { replies: [{ status: 200, body: 'OK' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 400, body: '' }], outcome: { is: 'rejected', code: '400' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
    no_reply: { replies: ['hang'], outcome: { is: 'uncertain' } },
  },
  tests: [
    {
      replies: [{ status: 400, body: { message: 'from parameter is missing' } }],
      works: true,
      requests: [{ method: 'POST', url: API, body: '' }],
    },
    { replies: [{ status: 401, body: 'Forbidden' }], works: false },
    { replies: [{ status: 404, body: { message: 'Domain not found: mg.example.com' } }], works: false },
    { replies: ['refused'], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        call: (now) => signed(now, data('delivered', { 'delivery-status': { code: 250, message: 'OK' } })),
        reports: [
          {
            what: 'delivered',
            messageId: 42 as never,
            reference: '20251123085820.1.ABC@mg.example.com',
            address: 'kim@example.org',
            at: new Date(1_763_888_300_500),
            code: '250',
          },
        ],
      },
      {
        name: 'bounced',
        call: (now) => signed(now, failed('permanent', 'bounce')),
        reports: [{ what: 'bounced', code: '5.1.1', diagnostic: '5.1.1 The account does not exist' }],
      },
      ...FAILURES.map(([severity, reason, what]) => ({
        name: `${severity} ${reason} is ${what}`,
        call: (now: Date) => signed(now, failed(severity, reason)),
        reports: [{ what }],
      })),
      {
        name: 'rejected',
        call: (now) => signed(now, data('rejected', { reject: { reason: 'Rate limit' } })),
        reports: [{ what: 'failed' }],
      },
      { name: 'complained', call: (now) => signed(now, data('complained')), reports: [{ what: 'complained' }] },
      { name: 'unsubscribed', call: (now) => signed(now, data('unsubscribed')), reports: [{ what: 'unsubscribed' }] },
      ...[{}, { headers: {} }, { headers: { 'message-id': '<>' } }].map((message) => ({
        name: `without the id of a message: ${JSON.stringify(message)}`,
        call: (now: Date) => signed(now, data('complained', { message })),
        reports: [],
      })),
      { name: 'opened', call: (now) => signed(now, data('opened')), reports: [] },
      {
        name: 'repeated after eight hours',
        call: (now) => signed(new Date(now.getTime() - 8 * HOUR_MS), data('complained')),
        reports: [{ what: 'complained' }],
      },
    ],
    forged: [
      { name: 'another key', call: (now) => signed(now, data('complained'), 'another') },
      { name: 'no signature', call: () => ({ body: JSON.stringify({ 'event-data': data('complained') }) }) },
      { name: 'a day old', call: (now) => signed(new Date(now.getTime() - DAY_MS), data('complained')) },
      { name: 'a day ahead', call: (now) => signed(new Date(now.getTime() + DAY_MS), data('complained')) },
    ],
  },
})

import { createHmac } from 'node:crypto'
import { FULL_EMAIL, type RecordedCall, recording } from '../../recording.ts'

const KEY = Buffer.from('a secret of resend in 32 bytes!!')
const ID = '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794'

const refusal = (statusCode: number, name: string, message: string) => ({ status: statusCode, body: { statusCode, name, message } })

const event = (type: string, more: object = {}) => ({
  type,
  created_at: '2026-11-23T08:59:00.126Z',
  data: { email_id: ID, from: 'hello@example.com', to: ['kim@example.org'], subject: 'Hello', tags: { message_id: '42' }, ...more },
})

/** Types of bounce, and the report of each. */
const BOUNCES = [
  ['Permanent', 'General', 'bounced'],
  ['Permanent', 'NoEmail', 'bounced'],
  ['Permanent', 'Suppressed', 'bounced'],
  ['Transient', 'General', 'failed'],
  ['Transient', 'MailboxFull', 'failed'],
  ['Transient', 'MessageTooLarge', 'failed'],
  ['Transient', 'ContentRejected', 'failed'],
  ['Transient', 'AttachmentRejected', 'failed'],
  ['Undetermined', 'Undetermined', 'failed'],
] as const

/** Errors of the account’s key, or of a parallel request. */
const LATER = ['invalid_api_key', 'missing_api_key', 'restricted_api_key', 'concurrent_idempotent_requests']

/** Signed as by Svix: id, time and body. */
function signed(now: Date, body: object, { key = KEY, before = '' } = {}): RecordedCall {
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
  const time = String(Math.floor(now.getTime() / 1000))
  const text = JSON.stringify(body)
  const signature = createHmac('sha256', key).update(`${id}.${time}.${text}`).digest('base64')
  return { headers: { 'svix-id': id, 'svix-timestamp': time, 'svix-signature': `${before}v1,${signature}` }, body: text }
}

export const resend = recording({
  over: 'https',
  settings: () => ({
    api_key: 're_a-key-of-resend',
    webhook_secret: `whsec_${KEY.toString('base64')}`,
    default_from: 'default@example.com',
  }),
  sends: {
    success: {
      replies: [{ status: 200, body: { id: ID } }],
      outcome: { is: 'accepted', delivered: false, reference: ID },
      message: FULL_EMAIL,
      requests: [
        {
          method: 'POST',
          url: 'https://api.resend.com/emails',
          headers: { authorization: 'Bearer re_a-key-of-resend', 'idempotency-key': 'k-42' },
          json: {
            from: '"Carillon" <hello@example.com>',
            to: ['kim@example.org'],
            cc: ['"Ana" <ana@example.org>'],
            bcc: ['boss@example.org'],
            reply_to: ['help@example.com'],
            subject: 'Hello',
            html: '<p>Hello Kim</p>',
            text: 'Hello Kim',
            headers: { 'List-Unsubscribe': '<https://carillon.test/u/1>' },
            tags: [{ name: 'message_id', value: '42' }],
          },
        },
      ],
    },
    headers: {
      replies: [{ status: 200, body: { id: 'r-1' } }],
      outcome: { is: 'accepted' },
      message: { headers: { 'X-Kunde': 'Müller', 'X-Order': '7731' } },
      requests: [{ json: { headers: { 'X-Kunde': '=?UTF-8?Q?M=C3=BCller?=', 'X-Order': '7731' } } }],
    },
    bad_recipient: {
      replies: [refusal(422, 'validation_error', 'Invalid `to` field. The email address needs to follow the `email@example.com` format.')],
      outcome: { is: 'rejected', bounced: true, code: 'validation_error' },
    },
    unverified_domain: {
      replies: [refusal(403, 'validation_error', 'The example.com domain is not verified.')],
      outcome: { is: 'rejected', code: 'validation_error', reason: 'The example.com domain is not verified.' },
    },
    ...Object.fromEntries(
      LATER.map((code) => [code, { replies: [refusal(403, code, 'Not now.')], outcome: { is: 'deferred' as const, code } }]),
    ),
    deleted_key: {
      replies: [refusal(401, 'validation_error', 'API key is invalid')],
      outcome: { is: 'deferred', code: 'validation_error', reason: 'API key is invalid' },
    },
    deleted_key_by_another_status: {
      replies: [refusal(400, 'validation_error', 'API key is invalid')],
      outcome: { is: 'deferred', code: 'validation_error', reason: 'API key is invalid' },
    },
    bad_request: {
      replies: [refusal(400, 'validation_error', 'We found an error with one or more fields in the request.')],
      outcome: { is: 'rejected', code: 'validation_error' },
    },
    suspended: { replies: [refusal(403, 'account_suspended', 'Not now.')], outcome: { is: 'deferred', code: '403' } },
    bad_copy: {
      replies: [refusal(422, 'validation_error', 'Invalid `cc` field.')],
      outcome: { is: 'rejected', code: 'validation_error', reason: 'Invalid `cc` field.' },
    },
    throttled: {
      replies: [{ ...refusal(429, 'rate_limit_exceeded', 'Too many requests.'), headers: { 'retry-after': '1' } }],
      outcome: { is: 'deferred', code: '429', retryAt: new Date('2026-11-23T09:00:01Z') },
    },
    in_progress: {
      replies: [refusal(409, 'concurrent_idempotent_requests', 'Another request with the same key is in progress.')],
      outcome: { is: 'deferred', code: 'concurrent_idempotent_requests' },
    },
    sent_already: {
      replies: [refusal(409, 'invalid_idempotent_request', 'The key was used with a different request body.')],
      outcome: { is: 'accepted', delivered: false },
    },
    outage: { replies: [refusal(500, 'application_error', 'An unexpected error occurred.')], outcome: { is: 'deferred', code: '500' } },
    nonsense: { replies: [{ status: 200, body: 'OK' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 422, body: '<html>' }], outcome: { is: 'rejected', code: '422' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'deferred' } },
    no_reply: { replies: ['hang'], outcome: { is: 'deferred' } },
    gateway: { replies: [{ status: 504 }], outcome: { is: 'deferred', isUncertain: true } },
    lost_gateway: { replies: [{ status: 502 }], outcome: { is: 'deferred', isUncertain: true } },
  },
  tests: [
    {
      replies: [{ status: 200, body: { data: [] } }],
      works: true,
      requests: [{ method: 'GET', url: 'https://api.resend.com/domains', headers: { authorization: 'Bearer re_a-key-of-resend' } }],
    },
    { replies: [refusal(401, 'restricted_api_key', 'This API key is restricted to only send emails')], works: true },
    { replies: [refusal(400, 'validation_error', 'API key is invalid')], works: false },
    { replies: ['refused'], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        call: (now) => signed(now, event('email.delivered')),
        reports: [
          {
            what: 'delivered',
            messageId: 42 as never,
            reference: ID,
            address: 'kim@example.org',
            at: new Date('2026-11-23T08:59:00.126Z'),
          },
        ],
      },
      {
        name: 'also signed with the old secret',
        call: (now) => signed(now, event('email.delivered'), { before: 'v1,b2xk v2,AAAA ' }),
        reports: [{ what: 'delivered' }],
      },
      {
        name: 'bounced',
        call: (now) =>
          signed(now, event('email.bounced', { bounce: { type: 'Permanent', subType: 'General', message: 'No such mailbox.' } })),
        reports: [{ what: 'bounced', code: 'General', diagnostic: 'No such mailbox.' }],
      },
      ...BOUNCES.map(([type, subType, what]) => ({
        name: `a ${type} bounce, ${subType}, is ${what}`,
        call: (now: Date) => signed(now, event('email.bounced', { bounce: { type, subType, message: 'No.' } })),
        reports: [{ what, code: subType }],
      })),
      { name: 'suppressed', call: (now) => signed(now, event('email.suppressed')), reports: [{ what: 'failed' }] },
      { name: 'delayed', call: (now) => signed(now, event('email.delivery_delayed')), reports: [{ what: 'delayed' }] },
      { name: 'complained', call: (now) => signed(now, event('email.complained')), reports: [{ what: 'complained' }] },
      {
        name: 'failed',
        call: (now) => signed(now, event('email.failed', { failed: { reason: 'reached_daily_quota' } })),
        reports: [{ what: 'failed', diagnostic: 'reached_daily_quota' }],
      },
      { name: 'sent', call: (now) => signed(now, event('email.sent')), reports: [] },
    ],
    forged: [
      { name: 'another secret', call: (now) => signed(now, event('email.delivered'), { key: Buffer.from('guess') }) },
      { name: 'no signature', call: () => ({ body: JSON.stringify(event('email.delivered')) }) },
      { name: 'another body', call: (now) => ({ ...signed(now, event('email.delivered')), body: '{}' }) },
      { name: 'ten minutes old', call: (now) => signed(new Date(now.getTime() - 600_000), event('email.delivered')) },
    ],
  },
})

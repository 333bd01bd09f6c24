import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { DAY_MS } from '../../../../lib/times.ts'
import { FULL_EMAIL, type RecordedCall, recording } from '../../recording.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

const refusal = (status: number, message: string, field: string | null) => ({
  status,
  body: { errors: [{ message, field, help: null }] },
})

const events = [
  {
    email: 'kim@example.org',
    timestamp: 1_763_888_300,
    event: 'delivered',
    sg_event_id: 'ZGVsaXZlcmVk',
    sg_message_id: 'Q3xk2m1TQ1yEwpXr.recvd-6b7c-1-0',
    'smtp-id': '<Q3xk2m1TQ1yEwpXr@geopod-ismtpd-1>',
    response: '250 2.0.0 OK',
    carillon_message_id: '42',
  },
  {
    email: 'ana@example.org',
    timestamp: 1_763_888_301,
    event: 'bounce',
    type: 'bounce',
    status: '5.1.1',
    reason: '550 5.1.1 The email account that you tried to reach does not exist.',
    bounce_classification: 'Invalid Address',
    sg_message_id: 'Q3xk2m1TQ1yEwpXs.recvd-6b7c-1-0',
    carillon_message_id: '43',
  },
  {
    email: 'ana@example.org',
    timestamp: 1_763_888_302,
    event: 'bounce',
    type: 'blocked',
    status: '4.7.0',
    reason: 'blocked',
    carillon_message_id: '44',
  },
  { email: 'ana@example.org', timestamp: 1_763_888_303, event: 'deferred', response: '421 busy', carillon_message_id: '45' },
  { email: 'ana@example.org', timestamp: 1_763_888_304, event: 'spamreport', carillon_message_id: '46' },
  { email: 'ana@example.org', timestamp: 1_763_888_305, event: 'unsubscribe', carillon_message_id: '47' },
  { email: 'ana@example.org', timestamp: 1_763_888_306, event: 'dropped', reason: 'Bounced Address', carillon_message_id: '48' },
  { email: 'ana@example.org', timestamp: 1_763_888_307, event: 'dropped', reason: 'Spam Reporting Address', carillon_message_id: '49' },
  { email: 'ana@example.org', timestamp: 1_763_888_308, event: 'processed', carillon_message_id: '50' },
  { email: 'ana@example.org', timestamp: 1_763_888_309, event: 'open', carillon_message_id: '51' },
]

/** Events about emails that were not delivered, and the report of each. */
const FAILURES = [
  [{ event: 'bounce', type: 'bounce' }, 'bounced'],
  [{ event: 'bounce' }, 'bounced'],
  [{ event: 'bounce', type: 'blocked' }, 'failed'],
  [{ event: 'dropped', reason: 'Bounced Address' }, 'bounced'],
  [{ event: 'dropped', reason: 'Invalid' }, 'bounced'],
  [{ event: 'dropped', reason: 'Invalid SMTPAPI header' }, 'failed'],
  [{ event: 'dropped', reason: 'Unsubscribed Address' }, 'failed'],
  [{ event: 'dropped', reason: 'Spam Reporting Address' }, 'failed'],
  [{ event: 'dropped', reason: 'Spam Content (if Spam Checker app is enabled)' }, 'failed'],
  [{ event: 'dropped', reason: 'Recipient List over Package Quota' }, 'failed'],
  [{ event: 'dropped' }, 'failed'],
  [{ event: 'deferred' }, 'delayed'],
  [{ event: 'group_unsubscribe' }, 'unsubscribed'],
] as const

/** Signed as by SendGrid: the time, then the body. */
function signed(now: Date, body: string, key: KeyObject = privateKey): RecordedCall {
  const time = String(Math.floor(now.getTime() / 1000))
  const signature = sign('sha256', Buffer.from(time + body), key).toString('base64')
  return {
    headers: { 'x-twilio-email-event-webhook-signature': signature, 'x-twilio-email-event-webhook-timestamp': time },
    body,
  }
}

export const sendgrid = recording({
  over: 'https',
  settings: () => ({
    api_key: 'SG.a-key-of-sendgrid',
    verification_key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    default_from: 'default@example.com',
  }),
  sends: {
    success: {
      replies: [{ status: 202, headers: { 'x-message-id': 'Q3xk2m1TQ1yEwpXr' } }],
      outcome: { is: 'accepted', delivered: false, reference: 'Q3xk2m1TQ1yEwpXr' },
      message: { ...FULL_EMAIL, content: { ...FULL_EMAIL.content, cc: 'Ana <ana@example.org>, kim@example.org' } },
      requests: [
        {
          method: 'POST',
          url: 'https://api.sendgrid.com/v3/mail/send',
          headers: { authorization: 'Bearer SG.a-key-of-sendgrid', 'content-type': 'application/json' },
          json: {
            personalizations: [
              {
                to: [{ email: 'kim@example.org' }],
                cc: [{ email: 'ana@example.org', name: 'Ana' }],
                bcc: [{ email: 'boss@example.org' }],
              },
            ],
            from: { email: 'hello@example.com', name: 'Carillon' },
            reply_to_list: [{ email: 'help@example.com' }],
            subject: 'Hello',
            content: [
              { type: 'text/plain', value: 'Hello Kim' },
              { type: 'text/html', value: '<p>Hello Kim</p>' },
            ],
            headers: { 'List-Unsubscribe': '<https://carillon.test/u/1>' },
            custom_args: { carillon_message_id: '42' },
          },
        },
      ],
    },
    default_sender: {
      replies: [{ status: 202 }],
      outcome: { is: 'accepted' },
      message: { content: { to: 'kim@example.org', subject: 'Hello', html: '<p>Hello</p>', text: '' } },
      requests: [{ json: { from: { email: 'default@example.com' }, content: [{ type: 'text/html', value: '<p>Hello</p>' }] } }],
    },
    bad_recipient: {
      replies: [refusal(400, 'Does not contain a valid address.', 'personalizations.0.to.0.email')],
      outcome: { is: 'rejected', bounced: true, code: '400', reason: 'Does not contain a valid address.' },
    },
    unverified_sender: {
      replies: [refusal(403, 'The from address does not match a verified Sender Identity.', 'from')],
      outcome: { is: 'rejected', code: '403', reason: 'The from address does not match a verified Sender Identity.' },
    },
    suspended: { replies: [refusal(403, 'access forbidden', null)], outcome: { is: 'deferred', code: '403', reason: 'access forbidden' } },
    wrong_key: {
      replies: [refusal(401, 'The provided authorization grant is invalid, expired, or revoked', null)],
      outcome: { is: 'deferred', code: '401' },
    },
    throttled: {
      replies: [
        { status: 429, headers: { 'x-ratelimit-reset': '1795424460' }, body: { errors: [{ message: 'too many requests', field: null }] } },
      ],
      outcome: { is: 'deferred', code: '429', reason: 'too many requests', retryAt: new Date(1_795_424_460_000) },
    },
    outage: { replies: [{ status: 503, body: 'Service Unavailable' }], outcome: { is: 'deferred', code: '503' } },
    gateway: { replies: [{ status: 504 }], outcome: { is: 'uncertain' } },
    nonsense: { replies: [{ status: 202, body: '<html>' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 400, body: '<html>' }], outcome: { is: 'rejected', code: '400' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
    no_reply: { replies: ['hang'], outcome: { is: 'uncertain' } },
  },
  tests: [
    {
      replies: [{ status: 200, body: { scopes: ['alerts.read', 'mail.send'] } }],
      works: true,
      requests: [{ method: 'GET', url: 'https://api.sendgrid.com/v3/scopes' }],
    },
    { replies: [{ status: 200, body: { scopes: ['alerts.read'] } }], works: false },
    { replies: [{ status: 401, body: { errors: [{ message: 'authorization required' }] } }], works: false },
    { replies: ['refused'], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'a batch of events',
        call: (now) => signed(now, JSON.stringify(events)),
        reports: [
          {
            what: 'delivered',
            messageId: 42 as never,
            reference: 'Q3xk2m1TQ1yEwpXr',
            address: 'kim@example.org',
            at: new Date(1_763_888_300_000),
            diagnostic: '250 2.0.0 OK',
          },
          { what: 'bounced', messageId: 43 as never, code: '5.1.1', address: 'ana@example.org' },
          { what: 'failed', messageId: 44 as never },
          { what: 'delayed', messageId: 45 as never, diagnostic: '421 busy' },
          { what: 'complained', messageId: 46 as never },
          { what: 'unsubscribed', messageId: 47 as never },
          { what: 'bounced', messageId: 48 as never },
          { what: 'failed', messageId: 49 as never },
        ],
      },
      ...FAILURES.map(([event, what]) => ({
        name: `${JSON.stringify(event)} is ${what}`,
        call: (now: Date) => signed(now, JSON.stringify([{ email: 'ana@example.org', timestamp: 1_763_888_300, ...event }])),
        reports: [{ what }],
      })),
      ...['processed', 'open', 'click', 'group_resubscribe'].map((event) => ({
        name: `${event} is not reported`,
        call: (now: Date) => signed(now, JSON.stringify([{ email: 'ana@example.org', event }])),
        reports: [],
      })),
      { name: 'an unknown body', call: (now) => signed(now, '"ping"'), reports: [] },
    ],
    forged: [
      { name: 'another key', call: (now) => signed(now, '[]', stranger) },
      { name: 'no signature', call: () => ({ body: '[]' }) },
      {
        name: 'an invalid signature',
        call: (now) => ({
          ...signed(now, '[]'),
          headers: { ...signed(now, '[]').headers, 'x-twilio-email-event-webhook-signature': 'AAAA' },
        }),
      },
      { name: 'another body', call: (now) => ({ ...signed(now, '[]'), body: '[{}]' }) },
      { name: 'two days old', call: (now) => signed(new Date(now.getTime() - 2 * DAY_MS), '[]') },
    ],
  },
})

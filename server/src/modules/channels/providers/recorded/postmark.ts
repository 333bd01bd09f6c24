import { FULL_EMAIL, type RecordedCall, recording } from '../../recording.ts'

const ID = 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817'

const refusal = (status: number, ErrorCode: number, Message: string) => ({ status, body: { ErrorCode, Message } })

const about = { MessageID: ID, ServerID: 23, MessageStream: 'outbound', Metadata: { message_id: '42' }, Tag: '' }

const bounce = (Type: string) => ({
  RecordType: 'Bounce',
  ...about,
  ID: 4_323_372_036_854,
  Type,
  TypeCode: 1,
  Name: 'Hard bounce',
  Description: 'The server was unable to deliver your message (ex: unknown user, mailbox not found).',
  Details: 'smtp;550 5.1.1 unknown user',
  Email: 'kim@example.org',
  From: 'hello@example.com',
  BouncedAt: '2026-11-23T08:58:20.0000000Z',
  Inactive: true,
})

/** Postmark’s types of bounce, and the report of each; null: none. */
const BOUNCES = [
  ['HardBounce', 'bounced'],
  ['BadEmailAddress', 'bounced'],
  ['SoftBounce', 'failed'],
  ['DnsError', 'failed'],
  ['SpamNotification', 'failed'],
  ['SpamComplaint', 'failed'],
  ['VirusNotification', 'failed'],
  ['Blocked', 'failed'],
  ['SMTPApiError', 'failed'],
  ['InboundError', 'failed'],
  ['DMARCPolicy', 'failed'],
  ['ManuallyDeactivated', 'failed'],
  ['TemplateRenderingFailed', 'failed'],
  ['Unknown', 'failed'],
  ['Transient', 'delayed'],
  ['Unsubscribe', 'unsubscribed'],
  ['Subscribe', null],
  ['AutoResponder', null],
  ['AddressChange', null],
  ['OpenRelayTest', null],
  ['ChallengeVerification', null],
  ['Unconfirmed', null],
] as const

/** Error codes that concern the account and not the message. */
const LATER = [10, 100, 405, 412, 413]

const called = (body: object, password = 'hook-password'): RecordedCall => ({
  headers: { authorization: `Basic ${Buffer.from(`carillon:${password}`).toString('base64')}` },
  body: JSON.stringify(body),
})

export const postmark = recording({
  over: 'https',
  settings: () => ({
    server_token: 'a-token-of-postmark',
    message_stream: 'broadcast',
    webhook_username: 'carillon',
    webhook_password: 'hook-password',
    default_from: 'default@example.com',
  }),
  sends: {
    success: {
      replies: [
        { status: 200, body: { To: 'kim@example.org', SubmittedAt: '2026-11-23T09:00:00Z', MessageID: ID, ErrorCode: 0, Message: 'OK' } },
      ],
      outcome: { is: 'accepted', delivered: false, reference: ID },
      message: FULL_EMAIL,
      requests: [
        {
          method: 'POST',
          url: 'https://api.postmarkapp.com/email',
          headers: { 'x-postmark-server-token': 'a-token-of-postmark', 'content-type': 'application/json' },
          json: {
            From: '"Carillon" <hello@example.com>',
            To: 'kim@example.org',
            Cc: '"Ana" <ana@example.org>',
            Bcc: 'boss@example.org',
            ReplyTo: 'help@example.com',
            Subject: 'Hello',
            HtmlBody: '<p>Hello Kim</p>',
            TextBody: 'Hello Kim',
            Headers: [{ Name: 'List-Unsubscribe', Value: '<https://carillon.test/u/1>' }],
            Metadata: { message_id: '42' },
            MessageStream: 'broadcast',
            TrackOpens: false,
            TrackLinks: 'None',
          },
        },
      ],
    },
    bad_recipient: {
      replies: [refusal(422, 406, 'You tried to send to recipient(s) that have been marked as inactive.')],
      outcome: { is: 'rejected', bounced: true, code: '406' },
    },
    malformed_recipient: {
      replies: [refusal(422, 300, "Error parsing 'To': Illegal email domain 'example'.")],
      outcome: { is: 'rejected', bounced: true, code: '300' },
    },
    malformed_sender: {
      replies: [refusal(422, 300, "Invalid 'From' address: 'hello'.")],
      outcome: { is: 'rejected', code: '300', reason: "Invalid 'From' address: 'hello'." },
    },
    unknown_sender: {
      replies: [refusal(422, 400, 'The Sender Signature was not found.')],
      outcome: { is: 'rejected', code: '400' },
    },
    wrong_token: {
      replies: [refusal(401, 10, 'The Server Token you provided in the X-Postmark-Server-Token request header was invalid.')],
      outcome: { is: 'deferred', code: '10' },
    },
    ...Object.fromEntries(
      LATER.map((code) => [
        `account_trouble_${code}`,
        { replies: [refusal(422, code, 'Not allowed to send.')], outcome: { is: 'deferred' as const, code: String(code) } },
      ]),
    ),
    throttled: {
      replies: [{ status: 429, headers: { 'retry-after': '5' }, body: { ErrorCode: 0, Message: 'Rate limit exceeded.' } }],
      outcome: { is: 'deferred', code: '429', retryAt: new Date('2026-11-23T09:00:05Z') },
    },
    outage: { replies: [refusal(503, 100, 'Maintenance')], outcome: { is: 'deferred', code: '503' } },
    nonsense: { replies: [{ status: 200, body: 'OK' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 422, body: '<html>' }], outcome: { is: 'rejected', code: '422' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
    no_reply: { replies: ['hang'], outcome: { is: 'uncertain' } },
  },
  tests: [
    {
      replies: [{ status: 200, body: { ID: 23, Name: 'Production' } }],
      works: true,
      requests: [
        { method: 'GET', url: 'https://api.postmarkapp.com/server', headers: { 'x-postmark-server-token': 'a-token-of-postmark' } },
      ],
    },
    { replies: [refusal(401, 10, 'The Server Token you provided was invalid.')], works: false },
    { replies: ['refused'], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        call: () =>
          called({
            RecordType: 'Delivery',
            ...about,
            Recipient: 'kim@example.org',
            DeliveredAt: '2026-11-23T08:59:00Z',
            Details: 'smtp;250 OK',
          }),
        reports: [
          {
            what: 'delivered',
            messageId: 42 as never,
            reference: ID,
            address: 'kim@example.org',
            at: new Date('2026-11-23T08:59:00Z'),
            diagnostic: 'smtp;250 OK',
          },
        ],
      },
      {
        name: 'bounced',
        call: () => called(bounce('HardBounce')),
        reports: [
          {
            what: 'bounced',
            messageId: 42 as never,
            address: 'kim@example.org',
            code: 'HardBounce',
            diagnostic: 'smtp;550 5.1.1 unknown user',
            at: new Date('2026-11-23T08:58:20Z'),
          },
        ],
      },
      ...BOUNCES.map(([type, what]) => ({
        name: `a bounce of the type ${type} is ${what ?? 'none'}`,
        call: () => called(bounce(type)),
        reports: what === null ? [] : [{ what, code: type }],
      })),
      {
        name: 'complained',
        call: () => called({ ...bounce('SpamComplaint'), RecordType: 'SpamComplaint' }),
        reports: [{ what: 'complained', address: 'kim@example.org' }],
      },
      {
        name: 'unsubscribed',
        call: () =>
          called({
            RecordType: 'SubscriptionChange',
            ...about,
            Recipient: 'kim@example.org',
            ChangedAt: '2026-11-23T08:59:00Z',
            Origin: 'Recipient',
            SuppressSending: true,
            SuppressionReason: 'ManualSuppression',
          }),
        reports: [{ what: 'unsubscribed', address: 'kim@example.org' }],
      },
      ...(['HardBounce', 'SpamComplaint'] as const).map((SuppressionReason) => ({
        name: `suppressed after a reported ${SuppressionReason}`,
        call: () => called({ RecordType: 'SubscriptionChange', ...about, SuppressSending: true, SuppressionReason }),
        reports: [],
      })),
      {
        name: 'subscribed again',
        call: () => called({ RecordType: 'SubscriptionChange', ...about, SuppressSending: false, SuppressionReason: 'ManualSuppression' }),
        reports: [],
      },
    ],
    forged: [
      { name: 'another password', call: () => called(bounce('HardBounce'), 'guess') },
      { name: 'no credentials', call: () => ({ body: JSON.stringify(bounce('HardBounce')) }) },
    ],
  },
})

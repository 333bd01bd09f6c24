import { DAY_MS } from '../../../../lib/times.ts'
import { altered, signed, stranger, TOPIC, withCertificate } from '../../recorded-sns.ts'
import { type RecordedReply, recording } from '../../recording.ts'

const ID = '0100018c1f2e3d4c-5b6a7980-1234-5678-9abc-def012345678-000000'
const API = 'https://email.eu-central-1.amazonaws.com/v2/email'

const refusal = (status: number, type: string, message: string) => ({
  status,
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazonaws.sesv2/` },
  body: { message },
})

const event = (eventType: string, members: object) =>
  JSON.stringify({
    eventType,
    mail: { messageId: ID, timestamp: '2026-11-23T08:58:00.000Z', destination: ['kim@example.org'], tags: { message_id: ['42'] } },
    ...members,
  })

const timestamp = '2026-11-23T08:59:00.000Z'

/** The ids of a long thread, each of 50 characters: with spaces, 17 of them have 866, and 18 have more than a header may have. */
const THREAD = Array.from({ length: 19 }, (_, at) => `<${String(at).padStart(36, '0')}@example.com>`)

const bounce = (bounceType: string, bounceSubType = 'General') =>
  event('Bounce', {
    bounce: {
      bounceType,
      bounceSubType,
      bouncedRecipients: [
        { emailAddress: 'kim@example.org', action: 'failed', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' },
      ],
      timestamp,
      feedbackId: '0100',
    },
  })

/** Types of bounce with their subtypes, and the report of each. */
const BOUNCES = [
  ['Permanent', 'General', 'bounced'],
  ['Permanent', 'NoEmail', 'bounced'],
  ['Permanent', 'Suppressed', 'bounced'],
  ['Permanent', 'OnAccountSuppressionList', 'bounced'],
  ['Transient', 'General', 'failed'],
  ['Transient', 'MailboxFull', 'failed'],
  ['Transient', 'MessageTooLarge', 'failed'],
  ['Transient', 'ContentRejected', 'failed'],
  ['Transient', 'AttachmentRejected', 'failed'],
  ['Undetermined', 'Undetermined', 'failed'],
] as const

/** Errors that concern the account or its limits, so the message is sent again later. */
const LATER = [
  'AccountSuspendedException',
  'SendingPausedException',
  'LimitExceededException',
  'TooManyRequestsException',
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'InvalidClientTokenId',
  'ExpiredTokenException',
  'IncompleteSignature',
  'NotAuthorized',
  'RequestExpired',
  'Throttling',
  'ThrottlingException',
]

/** SES’s messages about an invalid address. */
const BAD_ADDRESSES = [
  "Missing final '@domain'",
  'Local address contains control or whitespace',
  'Domain contains illegal character',
  'Domain is missing',
  'User name is missing: @example.org',
  'Illegal address',
]

const complaintOf = (complaintFeedbackType: string | null) =>
  event('Complaint', {
    complaint: { complainedRecipients: [{ emailAddress: 'kim@example.org' }], timestamp, complaintFeedbackType },
  })

const complaint = complaintOf('abuse')

/** Types of feedback, and the report of each. */
const FEEDBACK = [
  [null, 'complained'],
  ['other', 'complained'],
  ['fraud', 'fraud'],
  ['virus', 'virus'],
  ['not-spam', null],
  ['auth-failure', null],
] as const

const delivery = event('Delivery', { delivery: { timestamp, recipients: ['kim@example.org'], smtpResponse: '250 ok' } })

const delay = event('DeliveryDelay', {
  deliveryDelay: { delayedRecipients: [{ emailAddress: 'kim@example.org', status: '4.4.1' }], timestamp },
})

/** SNS repeats a report after 503 and drops it after 400. */
const UNAVAILABLE: RecordedReply[] = ['refused', 'cut', 'hang', { status: 500 }, { status: 503 }, { status: 429 }]

const subscription = {
  Type: 'SubscriptionConfirmation',
  Token: '2336412f37fb687f5d51e6e2425dacbbfff1',
  Message: 'You have chosen to subscribe to the topic.',
  SubscribeURL: `https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f37fb687f5d51e6e2425dacbbfff1`,
}

const FOREIGN_CERTIFICATES = [
  'https://example.com/SimpleNotificationService.pem',
  'https://sns.eu-central-1.amazonaws.com.example.com/x.pem',
  'https://example.com/sns.eu-central-1.amazonaws.com/x.pem',
  'https://sns.eu-central-1.amazonaws.com@example.com/x.pem',
  'https://sns.eu-central-1.amazonaws.com:8443/x.pem',
  'http://sns.eu-central-1.amazonaws.com/x.pem',
  'https://sns.s3.eu-central-1.amazonaws.com/x.pem',
  'nonsense',
]

export const ses = recording({
  over: 'https',
  settings: () => ({
    region: 'eu-central-1',
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    configuration_set: 'carillon',
    topic_arn: TOPIC,
    default_from: 'default@example.com',
  }),
  sends: {
    success: {
      replies: [{ status: 200, body: { MessageId: ID } }],
      outcome: { is: 'accepted', delivered: false, reference: ID },
      message: {
        headers: { 'List-Unsubscribe': '<https://carillon.test/u/1>' },
        content: {
          from: 'Grüße <hello@example.com>',
          to: 'kim@example.org',
          cc: 'Ana <ana@example.org>',
          bcc: 'boss@example.org',
          reply_to: 'help@example.com',
          subject: 'Grüße',
          html: '<p>Hello Kim</p>',
          text: 'Hello Kim',
        },
      },
      requests: [
        {
          method: 'POST',
          url: `${API}/outbound-emails`,
          headers: { 'content-type': 'application/json', 'x-amz-date': '20261123T090000Z' },
          json: {
            FromEmailAddress: '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?= <hello@example.com>',
            Destination: {
              ToAddresses: ['kim@example.org'],
              CcAddresses: ['"Ana" <ana@example.org>'],
              BccAddresses: ['boss@example.org'],
            },
            ReplyToAddresses: ['help@example.com'],
            Content: {
              Simple: {
                Subject: { Data: 'Grüße', Charset: 'UTF-8' },
                Body: { Html: { Data: '<p>Hello Kim</p>', Charset: 'UTF-8' }, Text: { Data: 'Hello Kim', Charset: 'UTF-8' } },
                Headers: [{ Name: 'List-Unsubscribe', Value: '<https://carillon.test/u/1>' }],
              },
            },
            EmailTags: [{ Name: 'message_id', Value: '42' }],
            ConfigurationSetName: 'carillon',
          },
        },
      ],
    },
    headers: {
      replies: [{ status: 200, body: { MessageId: ID } }],
      outcome: { is: 'accepted' },
      message: { headers: { 'X-Kunde': 'Müller', 'X-Order': '7731', References: THREAD.join(' ') } },
      requests: [
        {
          json: {
            Content: {
              Simple: {
                Headers: [
                  { Name: 'X-Kunde', Value: '=?UTF-8?Q?M=C3=BCller?=' },
                  { Name: 'X-Order', Value: '7731' },
                  { Name: 'References', Value: [THREAD[0], ...THREAD.slice(-16)].join(' ') },
                ],
              },
            },
          },
        },
      ],
    },
    bad_recipient: {
      replies: [refusal(400, 'BadRequestException', "Missing final '@domain'")],
      outcome: { is: 'rejected', bounced: true, code: 'BadRequestException', reason: "Missing final '@domain'" },
    },
    unverified_sender: {
      replies: [refusal(400, 'MessageRejected', 'Email address is not verified.')],
      outcome: { is: 'rejected', code: 'MessageRejected' },
    },
    not_signed_up: {
      replies: [refusal(403, 'OptInRequired', 'The account needs a subscription.')],
      outcome: { is: 'deferred', code: 'OptInRequired' },
    },
    no_configuration_set: {
      replies: [refusal(404, 'NotFoundException', 'Configuration set carillon does not exist.')],
      outcome: { is: 'deferred', code: 'NotFoundException', reason: 'Configuration set carillon does not exist.' },
    },
    bad_request: {
      replies: [refusal(400, 'BadRequestException', 'Header name not allowed.')],
      outcome: { is: 'rejected', code: 'BadRequestException', reason: 'Header name not allowed.' },
    },
    not_of_the_address: {
      replies: [refusal(400, 'MessageRejected', 'Illegal address')],
      outcome: { is: 'rejected', code: 'MessageRejected' },
    },
    ...Object.fromEntries([
      ...BAD_ADDRESSES.map((message) => [
        message,
        { replies: [refusal(400, 'BadRequestException', message)], outcome: { is: 'rejected' as const, bounced: true as const } },
      ]),
      ...LATER.map((code) => [code, { replies: [refusal(400, code, 'Not now.')], outcome: { is: 'deferred' as const, code } }]),
    ]),
    throttled: {
      replies: [
        {
          status: 429,
          headers: { 'x-amzn-errortype': 'TooManyRequestsException', 'retry-after': '2' },
          body: { message: 'Maximum sending rate exceeded.' },
        },
      ],
      outcome: { is: 'deferred', code: 'TooManyRequestsException', retryAt: new Date('2026-11-23T09:00:02Z') },
    },
    outage: { replies: [refusal(503, 'ServiceUnavailableException', 'Unavailable')], outcome: { is: 'deferred', code: '503' } },
    gateway: { replies: [{ status: 504 }], outcome: { is: 'uncertain' } },
    nonsense: { replies: [{ status: 200, body: '<html>' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 400, body: '<html>' }], outcome: { is: 'rejected', code: '400' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
    no_reply: { replies: ['hang'], outcome: { is: 'uncertain' } },
  },
  tests: [
    {
      replies: [{ status: 200, body: { SendingEnabled: true, ProductionAccessEnabled: true } }],
      works: true,
      requests: [{ method: 'GET', url: `${API}/account` }],
    },
    { replies: [{ status: 200, body: { SendingEnabled: false } }], works: false },
    { replies: [refusal(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.')], works: false },
    { replies: ['refused'], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        replies: withCertificate,
        call: (now) => signed(now, { Subject: 'Amazon SES Email Event Notification', Message: delivery }),
        reports: [
          {
            what: 'delivered',
            messageId: 42 as never,
            reference: ID,
            address: 'kim@example.org',
            at: new Date(timestamp),
            diagnostic: '250 ok',
          },
        ],
      },
      {
        name: 'bounced',
        replies: withCertificate,
        call: (now) => signed(now, { Message: bounce('Permanent') }),
        reports: [{ what: 'bounced', address: 'kim@example.org', code: '5.1.1', diagnostic: 'smtp; 550 5.1.1 user unknown' }],
      },
      {
        name: 'failed, in the older signature',
        replies: withCertificate,
        call: (now) => signed(now, { Message: bounce('Transient') }, { version: '1' }),
        reports: [{ what: 'failed' }],
      },
      ...BOUNCES.flatMap(([type, subType, what]) =>
        (['eventType', 'notificationType'] as const).map((member) => ({
          name: `a ${type} bounce, ${subType}, by ${member}, is ${what}`,
          replies: withCertificate,
          call: (now: Date) => signed(now, { Message: bounce(type, subType).replace('"eventType"', `"${member}"`) }),
          reports: [{ what, address: 'kim@example.org' }],
        })),
      ),
      {
        name: 'complained',
        replies: withCertificate,
        call: (now) => signed(now, { Message: complaint }),
        reports: [{ what: 'complained', address: 'kim@example.org', code: 'abuse' }],
      },
      ...FEEDBACK.map(([type, what]) => ({
        name: `feedback of type ${type} is ${what}`,
        replies: withCertificate,
        call: (now: Date) => signed(now, { Message: complaintOf(type) }),
        reports: what === null ? [] : [{ what, address: 'kim@example.org' }],
      })),
      {
        name: 'delayed',
        replies: withCertificate,
        call: (now) => signed(now, { Message: delay }),
        reports: [{ what: 'delayed', code: '4.4.1' }],
      },
      {
        name: 'rejected',
        replies: withCertificate,
        call: (now) => signed(now, { Message: event('Reject', { reject: { reason: 'Bad content' } }) }),
        reports: [{ what: 'failed', messageId: 42 as never, address: 'kim@example.org', diagnostic: 'Bad content' }],
      },
      {
        name: 'opened',
        replies: withCertificate,
        call: (now) => signed(now, { Message: event('Open', { open: { ipAddress: '192.0.2.1' } }) }),
        reports: [],
      },
      {
        name: 'a subscription, which is confirmed',
        replies: [...withCertificate, { status: 200, body: '<ConfirmSubscriptionResponse/>' }],
        call: (now) => signed(now, subscription),
        reports: [],
      },
      {
        name: 'a subscription that cannot be confirmed now',
        replies: [...withCertificate, { status: 500 }],
        call: (now) => signed(now, subscription),
        reports: [],
        reply: { status: 503 },
      },
      ...UNAVAILABLE.map((reply) => ({
        name: `no certificate now: ${typeof reply === 'string' ? reply : reply.status}`,
        replies: [reply],
        call: (now: Date) => signed(now, { Message: bounce('Permanent') }),
        reports: [],
        reply: { status: 503 },
      })),
      {
        name: 'a subscription to be confirmed elsewhere',
        replies: withCertificate,
        call: (now) => signed(now, { ...subscription, SubscribeURL: 'https://example.com/?Action=ConfirmSubscription' }),
        reports: [],
        reply: { status: 503 },
      },
    ],
    forged: [
      { name: 'another key', replies: withCertificate, call: (now) => signed(now, { Message: complaint }, { key: stranger }) },
      {
        name: 'no signature',
        replies: withCertificate,
        call: (now) => altered(signed(now, { Message: complaint }), { Signature: undefined }),
      },
      {
        name: 'another message',
        replies: withCertificate,
        call: (now) => altered(signed(now, { Message: complaint }), { Message: bounce('Permanent') }),
      },
      {
        name: 'another topic',
        replies: withCertificate,
        call: (now) => signed(now, { Message: complaint }, { topic: `${TOPIC}-of-others` }),
      },
      { name: 'a day old', replies: withCertificate, call: (now) => signed(new Date(now.getTime() - DAY_MS), { Message: complaint }) },
      ...FOREIGN_CERTIFICATES.map((SigningCertURL) => ({
        name: `a certificate at ${SigningCertURL}`,
        replies: withCertificate,
        call: (now: Date) => signed(now, { Message: complaint, SigningCertURL }),
      })),
      { name: 'a missing certificate', replies: [{ status: 404 }], call: (now) => signed(now, { Message: complaint }) },
      {
        name: 'an invalid certificate',
        replies: [{ status: 200, body: '<html>' }],
        call: (now) => signed(now, { Message: complaint }),
      },
    ],
  },
})

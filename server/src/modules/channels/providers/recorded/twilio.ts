import { createHmac } from 'node:crypto'
import { CALLBACK_URL, type RecordedCall, recording } from '../../recording.ts'

const ACCOUNT = `AC${'0123456789abcdef'.repeat(2)}`
const TOKEN = 'a-token-of-twilio'

const URL_OF_MESSAGES = `https://api.twilio.com/2010-04-01/Accounts/${ACCOUNT}/Messages.json`

const sent = {
  sid: 'SM6a1f0b0c1d2e3f405162738495a6b7c8',
  account_sid: ACCOUNT,
  to: '+61400000000',
  from: '+61411111111',
  body: 'Hello Ana',
  status: 'queued',
  num_segments: '1',
  direction: 'outbound-api',
  error_code: null,
  error_message: null,
}

const refused = (code: number, message: string) => ({
  status: 400,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status: 400 },
})

/** A form signed as by Twilio: the URL, then names and values in order. */
function signed(form: Record<string, string>, query: string, token = TOKEN): RecordedCall {
  const values = Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1))
  const text = `${CALLBACK_URL}${query === '' ? '' : `?${query}`}${values.flat().join('')}`
  const signature = createHmac('sha1', token).update(text).digest('base64')
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature }
  return { headers, ...(query !== '' && { query }), body: String(new URLSearchParams(form)) }
}

const status = (MessageStatus: string, more: Record<string, string> = {}) => ({
  MessageSid: sent.sid,
  AccountSid: ACCOUNT,
  From: '+61411111111',
  To: '+61400000000',
  SmsStatus: MessageStatus,
  MessageStatus,
  ...more,
})

/** Error codes of failed messages, and the report of each. */
const FAILURES = [
  ['30005', 'bounced'],
  ['30006', 'bounced'],
  ['21211', 'bounced'],
  ['21614', 'bounced'],
  ['21635', 'bounced'],
  ['30001', 'failed'],
  ['30002', 'failed'],
  ['30003', 'failed'],
  ['30004', 'failed'],
  ['30007', 'failed'],
  ['30008', 'failed'],
  ['21610', 'failed'],
  ['', 'failed'],
] as const

/** Error codes of refused requests, and whether they mean an invalid number. */
const REFUSALS = [
  ['21211', true],
  ['21614', true],
  ['21635', true],
  ['21212', false],
  ['21408', false],
  ['21610', false],
  ['21612', false],
] as const

const inbound = {
  MessageSid: 'SM0f',
  AccountSid: ACCOUNT,
  From: '+61400000000',
  To: '+61411111111',
  Body: 'Stop',
  NumMedia: '0',
  SmsStatus: 'received',
}

const { SmsStatus: _, ...withoutStatus } = inbound

export const twilio = recording({
  over: 'https',
  settings: () => ({ account_sid: ACCOUNT, auth_token: TOKEN, from: '+61411111111' }),
  message: { recipient: '+61400000000', content: { to: '+61400000000', body: 'Hello Ana' } },
  sends: {
    success: {
      replies: [{ status: 201, body: sent }],
      outcome: { is: 'accepted', delivered: false, reference: sent.sid },
      requests: [
        {
          method: 'POST',
          url: URL_OF_MESSAGES,
          headers: { authorization: `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}` },
          form: { To: '+61400000000', From: '+61411111111', Body: 'Hello Ana', StatusCallback: `${CALLBACK_URL}?message=42` },
        },
      ],
    },
    bad_recipient: {
      replies: [refused(21211, "Invalid 'To' Phone Number: +6140000XXXX")],
      outcome: { is: 'rejected', bounced: true, code: '21211', reason: "Invalid 'To' Phone Number: +6140000XXXX" },
    },
    suspended: {
      replies: [{ ...refused(20403, 'The account has been suspended.'), status: 403 }],
      outcome: { is: 'deferred', code: '403', reason: 'The account has been suspended.' },
    },
    forbidden_region: {
      replies: [{ ...refused(21408, 'Permission to send an SMS has not been enabled for the region.'), status: 403 }],
      outcome: { is: 'rejected', code: '21408' },
    },
    throttled: {
      replies: [{ status: 429, headers: { 'retry-after': '7' }, body: { code: 20429, message: 'Too Many Requests', status: 429 } }],
      outcome: { is: 'deferred', retryAt: new Date('2026-11-23T09:00:07Z') },
    },
    queue_full: {
      replies: [refused(21611, "This 'From' number has exceeded the maximum number of queued messages")],
      outcome: { is: 'deferred', code: '21611' },
    },
    ...Object.fromEntries(
      REFUSALS.map(([code, isBad]) => [
        `refused_${code}`,
        { replies: [refused(Number(code), 'No.')], outcome: { is: 'rejected' as const, code, ...(isBad && { bounced: true as const }) } },
      ]),
    ),
    wrong_credentials: {
      replies: [{ status: 401, body: { code: 20003, message: 'Authenticate', status: 401 } }],
      outcome: { is: 'deferred', code: '401' },
    },
    outage: { replies: [{ status: 503, body: 'Service Unavailable' }], outcome: { is: 'deferred', code: '503' } },
    gateway: { replies: [{ status: 504, body: '' }], outcome: { is: 'uncertain' } },
    nonsense: { replies: [{ status: 201, body: '<html>' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: {
      replies: [{ status: 400, body: '<html>no</html>' }],
      outcome: { is: 'rejected', code: '400', reason: '<html>no</html>' },
    },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
  },
  tests: [
    {
      replies: [{ status: 200, body: { messages: [] } }],
      works: true,
      requests: [{ method: 'GET', url: `${URL_OF_MESSAGES}?PageSize=1` }],
    },
    { replies: [{ status: 401, body: { code: 20003, message: 'Authenticate', status: 401 } }], works: false },
    { replies: ['refused'], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        call: () => signed(status('delivered'), 'message=42'),
        reports: [{ what: 'delivered', messageId: 42 as never, reference: sent.sid, address: '+61400000000' }],
      },
      { name: 'not final', call: () => signed(status('sent'), 'message=42'), reports: [] },
      { name: 'read', call: () => signed(status('read'), 'message=42'), reports: [{ what: 'delivered' }] },
      ...FAILURES.flatMap(([code, what]) =>
        (['undelivered', 'failed'] as const).map((is) => ({
          name: `${is} with error ${code || 'none'} is ${what}`,
          call: () => signed(status(is, code === '' ? {} : { ErrorCode: code }), 'message=42'),
          reports: [{ what, messageId: 42 as never, ...(code !== '' && { code }) }],
        })),
      ),
      {
        name: 'a message from a user',
        call: () => signed(inbound, ''),
        reports: [{ what: 'received', address: '+61400000000', text: 'Stop' }],
        reply: { status: 200, body: '<?xml version="1.0" encoding="UTF-8"?><Response></Response>' },
      },
      ...(
        [
          ['without a status', withoutStatus],
          ['of a messaging service', { ...inbound, MessagingServiceSid: `MG${'0123456789abcdef'.repeat(2)}`, SmsStatus: 'receiving' }],
          ['with the status of messages', { ...withoutStatus, MessageStatus: 'received' }],
        ] as const
      ).flatMap(([what, form]) =>
        ['', 'message=42'].map((query) => ({
          name: `a message from a user ${what}${query && ', at the URL of a report'}`,
          call: () => signed(form, query),
          reports: [{ what: 'received' as const, address: '+61400000000', text: 'Stop', reference: 'SM0f' }],
          reply: { status: 200, body: '<?xml version="1.0" encoding="UTF-8"?><Response></Response>' },
        })),
      ),
      {
        name: 'a message from a user by GET',
        call: () => signed({}, String(new URLSearchParams(inbound))),
        reports: [{ what: 'received', address: '+61400000000', text: 'Stop', reference: 'SM0f' }],
        reply: { status: 200, body: '<?xml version="1.0" encoding="UTF-8"?><Response></Response>' },
      },
      {
        name: 'a report by GET',
        call: () => signed({}, String(new URLSearchParams({ message: '42', ...status('delivered') }))),
        reports: [{ what: 'delivered', messageId: 42 as never, reference: sent.sid }],
      },
      {
        name: 'a picture without words from a user',
        call: () => signed({ ...inbound, Body: '', NumMedia: '1' }, ''),
        reports: [{ what: 'received', text: '' }],
      },
      {
        name: 'the report of a message that repeats its text',
        call: () => signed({ ...status('delivered'), Body: 'Hello Ana' }, 'message=42'),
        reports: [{ what: 'delivered', messageId: 42 as never }],
      },
    ],
    forged: [
      { name: 'another token', call: () => signed(status('delivered'), 'message=42', 'another') },
      { name: 'no signature', call: () => ({ ...signed(status('delivered'), 'message=42'), headers: {} }) },
      { name: 'another message', call: () => ({ ...signed(status('delivered'), 'message=42'), query: 'message=43' }) },
      {
        name: 'another text by GET',
        call: () => ({
          ...signed({}, String(new URLSearchParams(inbound))),
          query: String(new URLSearchParams({ ...inbound, Body: 'Start' })),
        }),
      },
      {
        name: 'another status',
        call: () => ({ ...signed(status('failed'), 'message=42'), body: String(new URLSearchParams(status('delivered'))) }),
      },
    ],
  },
})

import { createHmac } from 'node:crypto'
import { CALLBACK_URL, type RecordedCall, recording } from '../../recording.ts'

const AUTH_ID = 'MAXXXXXXXXXXXXXXXXXX'
const TOKEN = 'a-token-of-plivo'
const UUID = 'db3ce55a-7f1d-11e1-8ea7-1231380bc196'
const NONCE = '05429567804466091622'

const status = (Status: string, more: Record<string, string> = {}) => ({
  From: '61411111111',
  To: '61400000000',
  MessageUUID: UUID,
  Status,
  Units: '1',
  ...more,
})

/** Error codes of failed messages, and the report of each. */
const FAILURES = [
  ['50', 'bounced'],
  ['70', 'bounced'],
  ['10', 'failed'],
  ['20', 'failed'],
  ['30', 'failed'],
  ['40', 'failed'],
  ['60', 'failed'],
  ['80', 'failed'],
  ['90', 'failed'],
  ['100', 'failed'],
  ['110', 'failed'],
  ['200', 'failed'],
  ['1000', 'failed'],
] as const

/** Error messages of Plivo, and whether they are about the number of the recipient. */
const REFUSALS = [
  ['dst is not a valid phone number', true],
  ['destination number is invalid', true],
  ['recipient is incorrect', true],
  ['dst parameter not valid', true],
  ['src is not a valid phone number', false],
  ['dst is blocked', false],
] as const

const inbound = { From: '61400000000', To: '61411111111', Type: 'sms', Text: 'Stop', MessageUUID: 'in-1' }

/** A form signed as by Plivo: URL, query, names and values in order, nonce. */
function signed(form: Record<string, string>, query: string, { token = TOKEN, header = 'x-plivo-signature-ma-v3' } = {}): RecordedCall {
  const values = Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1))
  const text = `${CALLBACK_URL}?${query}${query === '' ? '' : '.'}${values.flat().join('')}.${NONCE}`
  const signature = createHmac('sha256', token).update(text).digest('base64')
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded', [header]: `b2xk,${signature}`, 'x-plivo-signature-v3-nonce': NONCE },
    ...(query !== '' && { query }),
    body: String(new URLSearchParams(form)),
  }
}

/** A query signed as by Plivo: URL, names and values in order, nonce. */
function signedQuery(query: Record<string, string>): RecordedCall {
  const values = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))
  const text = `${CALLBACK_URL}?${values.map(([name, value]) => `${name}=${value}`).join('&')}.${NONCE}`
  const signature = createHmac('sha256', TOKEN).update(text).digest('base64')
  return { headers: { 'x-plivo-signature-v3': signature, 'x-plivo-signature-v3-nonce': NONCE }, query: String(new URLSearchParams(query)) }
}

export const plivo = recording({
  over: 'https',
  settings: () => ({ auth_id: AUTH_ID, auth_token: TOKEN, from: '+61411111111' }),
  message: { recipient: '+61400000000', content: { to: '+61400000000', body: 'Hello Ana' } },
  sends: {
    success: {
      replies: [
        { status: 202, body: { message: 'message(s) queued', message_uuid: [UUID], api_id: 'db342550-7f1d-11e1-8ea7-1231380bc196' } },
      ],
      outcome: { is: 'accepted', delivered: false, reference: UUID },
      requests: [
        {
          method: 'POST',
          url: `https://api.plivo.com/v1/Account/${AUTH_ID}/Message/`,
          headers: { authorization: `Basic ${Buffer.from(`${AUTH_ID}:${TOKEN}`).toString('base64')}` },
          json: { src: '+61411111111', dst: '+61400000000', text: 'Hello Ana', url: `${CALLBACK_URL}?message=42`, method: 'POST' },
        },
      ],
    },
    bad_recipient: {
      replies: [{ status: 400, body: { api_id: 'a1', error: 'dst is not a valid phone number' } }],
      outcome: { is: 'rejected', bounced: true, reason: 'dst is not a valid phone number' },
    },
    no_credit: {
      replies: [{ status: 400, body: { api_id: 'a1', error: 'insufficient credit' } }],
      outcome: { is: 'deferred', code: '400', reason: 'insufficient credit' },
    },
    suspended: { replies: [{ status: 403, body: { error: 'account is suspended' } }], outcome: { is: 'deferred', code: '403' } },
    omitted_number: {
      replies: [{ status: 202, body: { api_id: 'a1', message: 'no valid numbers', message_uuid: [], invalid_number: ['61400000000'] } }],
      outcome: { is: 'rejected', bounced: true },
    },
    ...Object.fromEntries(
      REFUSALS.map(([error, isBad]) => [
        error,
        {
          replies: [{ status: 400, body: { api_id: 'a1', error } }],
          outcome: { is: 'rejected' as const, code: '400', reason: error, ...(isBad && { bounced: true as const }) },
        },
      ]),
    ),
    throttled: {
      replies: [{ status: 429, headers: { 'retry-after': '5' }, body: { error: 'rate limit exceeded' } }],
      outcome: { is: 'deferred', retryAt: new Date('2026-11-23T09:00:05Z') },
    },
    outage: { replies: [{ status: 500, body: { error: 'server error' } }], outcome: { is: 'deferred', code: '500' } },
    nonsense: { replies: [{ status: 202, body: '' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 400, body: '' }], outcome: { is: 'rejected', code: '400' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
  },
  tests: [
    {
      replies: [{ status: 200, body: { auth_id: AUTH_ID } }],
      works: true,
      requests: [{ url: `https://api.plivo.com/v1/Account/${AUTH_ID}/` }],
    },
    { replies: [{ status: 401, body: 'Could not verify your access level for that URL.' }], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        call: () => signed(status('delivered'), 'message=42'),
        reports: [{ what: 'delivered', messageId: 42 as never, reference: UUID, address: '+61400000000' }],
      },
      {
        name: 'the second part of a long message',
        call: () => signed(status('delivered', { MessageUUID: 'part-2', ParentMessageUUID: UUID, PartInfo: '2 of 2' }), 'message=42'),
        reports: [{ what: 'delivered', messageId: 42 as never, reference: UUID, address: '+61400000000' }],
      },
      {
        name: 'signed by the account itself',
        call: () => signed(status('delivered'), 'message=42', { header: 'x-plivo-signature-v3' }),
        reports: [{ what: 'delivered' }],
      },
      { name: 'not final', call: () => signed(status('sent'), 'message=42'), reports: [] },
      ...FAILURES.flatMap(([code, what]) =>
        (['undelivered', 'failed', 'rejected'] as const).map((is) => ({
          name: `${is} with error ${code} is ${what}`,
          call: () => signed(status(is, { ErrorCode: code }), 'message=42'),
          reports: [{ what, code, messageId: 42 as never }],
        })),
      ),
      { name: 'failed without a reason', call: () => signed(status('failed'), 'message=42'), reports: [{ what: 'failed' }] },
      {
        name: 'a message from a user',
        call: () => signed(inbound, ''),
        reports: [{ what: 'received', address: '+61400000000', text: 'Stop', reference: 'in-1' }],
        reply: { status: 200, body: '<Response></Response>' },
      },
      {
        name: 'a message from a user by GET',
        call: () => signedQuery(inbound),
        reports: [{ what: 'received', address: '+61400000000', text: 'Stop', reference: 'in-1' }],
        reply: { status: 200, body: '<Response></Response>' },
      },
      {
        name: 'a report by GET',
        call: () => signedQuery({ message: '42', ...status('delivered') }),
        reports: [{ what: 'delivered', messageId: 42 as never, reference: UUID }],
      },
    ],
    forged: [
      { name: 'another token', call: () => signed(status('delivered'), 'message=42', { token: 'another' }) },
      {
        name: 'another text by GET',
        call: () => ({ ...signedQuery(inbound), query: String(new URLSearchParams({ ...inbound, Text: 'Start' })) }),
      },
      { name: 'another message', call: () => ({ ...signed(status('delivered'), 'message=42'), query: 'message=43' }) },
      {
        name: 'another status',
        call: () => ({ ...signed(status('failed'), 'message=42'), body: String(new URLSearchParams(status('delivered'))) }),
      },
      { name: 'no signature', call: () => ({ body: String(new URLSearchParams(status('delivered'))) }) },
      {
        name: 'no nonce',
        call: () => ({
          headers: { 'x-plivo-signature-v3': createHmac('sha256', TOKEN).update(`${CALLBACK_URL}?Statusdelivered.`).digest('base64') },
          body: 'Status=delivered',
        }),
      },
    ],
  },
})

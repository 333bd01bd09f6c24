import { createHash } from 'node:crypto'
import { SignJWT } from 'jose'
import { MINUTE_MS } from '../../../../lib/times.ts'
import { CALLBACK_URL, type RecordedCall, recording } from '../../recording.ts'

const SECRET = 'a-signature-secret-of-vonage-0123'
const UUID = 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab'

const problem = (code: number, title: string, detail: string, more = {}) => ({
  type: `https://developer.vonage.com/api-errors/messages#${code}`,
  title,
  detail,
  instance: 'bf0ca0bf927b3b52e3cb03217e1a1ddf',
  ...more,
})

const status = (what: string, more = {}) => ({
  message_uuid: UUID,
  to: '61400000000',
  from: '61411111111',
  timestamp: '2026-11-23T08:59:58.000Z',
  status: what,
  client_ref: '42',
  channel: 'sms',
  ...more,
})

/** Error codes of failed messages, and the report of each. */
const FAILURES = [
  ['1170', 'bounced'],
  ['1190', 'bounced'],
  ['1300', 'bounced'],
  ['1000', 'failed'],
  ['1050', 'failed'],
  ['1160', 'failed'],
  ['1180', 'failed'],
  ['1210', 'failed'],
  ['1240', 'failed'],
  ['1250', 'failed'],
  ['1310', 'failed'],
  ['1400', 'failed'],
] as const

/** A body with a token that contains its hash. */
async function signed(body: object, at: Date, { secret = SECRET, of = body, api_key = 'abcd1234' } = {}): Promise<RecordedCall> {
  const text = JSON.stringify(body)
  const payload_hash = createHash('sha256').update(JSON.stringify(of)).digest('hex')
  const token = await new SignJWT({ payload_hash, api_key, jti: 'c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b5' })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer('Vonage')
    .setIssuedAt(at)
    .sign(Buffer.from(secret))
  return { headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` }, body: text }
}

const earlier = (now: Date, minutes: number) => new Date(now.getTime() - minutes * MINUTE_MS)

export const vonage = recording({
  over: 'https',
  settings: () => ({ api_key: 'abcd1234', api_secret: 'a-secret-of-vonage', signature_secret: SECRET, from: '+61411111111' }),
  message: { recipient: '+61400000000', content: { to: '+61400000000', body: 'Hello Ana' } },
  sends: {
    success: {
      replies: [{ status: 202, body: { message_uuid: UUID } }],
      outcome: { is: 'accepted', delivered: false, reference: UUID },
      requests: [
        {
          method: 'POST',
          url: 'https://api.nexmo.com/v1/messages',
          headers: { authorization: `Basic ${Buffer.from('abcd1234:a-secret-of-vonage').toString('base64')}` },
          json: {
            message_type: 'text',
            channel: 'sms',
            to: '61400000000',
            from: '61411111111',
            text: 'Hello Ana',
            client_ref: '42',
            webhook_url: CALLBACK_URL,
            webhook_version: 'v1',
          },
        },
      ],
    },
    bad_recipient: {
      replies: [
        {
          status: 422,
          body: problem(1020, 'Invalid params', 'The value of one or more parameters is invalid.', {
            invalid_parameters: [{ name: 'to', reason: 'Invalid value' }],
          }),
        },
      ],
      outcome: { is: 'rejected', bounced: true, code: '1020', reason: 'Invalid params: The value of one or more parameters is invalid.' },
    },
    ...Object.fromEntries(
      FAILURES.map(([code, what]) => [
        `refused_${code}`,
        {
          replies: [{ status: 422, body: problem(Number(code), 'Refused', 'No.') }],
          outcome: { is: 'rejected' as const, code, ...(what === 'bounced' && { bounced: true as const }) },
        },
      ]),
    ),
    bad_sender: {
      replies: [{ status: 422, body: problem(1120, 'Invalid sender', 'The sender id was not accepted.') }],
      outcome: { is: 'rejected', code: '1120' },
    },
    no_credit: {
      replies: [
        {
          status: 403,
          body: { ...problem(0, 'You do not have enough credit', 'Top up.'), type: 'https://example.com/Error#out-of-credit' },
        },
      ],
      outcome: { is: 'deferred', code: '403' },
    },
    forbidden_number: {
      replies: [{ status: 403, body: problem(1170, 'Invalid number', 'No.') }],
      outcome: { is: 'rejected', bounced: true, code: '1170' },
    },
    throttled: {
      replies: [
        { status: 429, headers: { 'retry-after': '2' }, body: problem(1000, 'Rate Limit Hit', 'Please wait, then retry your request') },
      ],
      outcome: { is: 'deferred', retryAt: new Date('2026-11-23T09:00:02Z') },
    },
    low_balance: {
      replies: [
        { status: 402, body: problem(1070, 'Low balance', 'This request could not be performed due to your account balance being low.') },
      ],
      outcome: { is: 'deferred', code: '402' },
    },
    outage: { replies: [{ status: 500, body: problem(1030, 'Internal error', '') }], outcome: { is: 'deferred', code: '500' } },
    nonsense: { replies: [{ status: 202, body: 'ok' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 422, body: '?' }], outcome: { is: 'rejected', code: '422' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
  },
  tests: [
    { replies: [{ status: 200, body: { value: 12.5 } }], works: true, requests: [{ url: 'https://rest.nexmo.com/account/get-balance' }] },
    { replies: [{ status: 401, body: problem(0, 'Unauthorized', 'You did not provide correct credentials.') }], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        call: (now) => signed(status('delivered'), now),
        reports: [
          { what: 'delivered', messageId: 42 as never, reference: UUID, address: '+61400000000', at: new Date('2026-11-23T08:59:58Z') },
        ],
      },
      { name: 'not final', call: (now) => signed(status('submitted'), now), reports: [] },
      { name: 'read', call: (now) => signed(status('read'), now), reports: [{ what: 'delivered' }] },
      ...FAILURES.flatMap(([code, what]) =>
        (['rejected', 'undeliverable'] as const).map((is) => ({
          name: `${is} with error ${code} is ${what}`,
          call: (now: Date) => signed(status(is, { error: problem(Number(code), code, 'No.') }), now),
          reports: [{ what, code }],
        })),
      ),
      { name: 'rejected without a reason', call: (now) => signed(status('rejected'), now), reports: [{ what: 'failed' }] },
      {
        name: 'a number that is no longer active',
        call: (now) => signed(status('rejected', { error: problem(1190, '1190', 'Absent Subscriber Permanent') }), now),
        reports: [{ what: 'bounced', code: '1190', diagnostic: 'Absent Subscriber Permanent' }],
      },
      {
        name: 'a handset that is switched off',
        call: (now) => signed(status('undeliverable', { error: problem(1180, '1180', 'Absent Subscriber Temporary') }), now),
        reports: [{ what: 'failed', code: '1180' }],
      },
      {
        name: 'a message from a user, a little late',
        call: (now) => {
          const { client_ref: _, status: __, ...message } = status('')
          return signed({ ...message, from: '61400000000', to: '61411111111', text: 'STOP' }, earlier(now, 4))
        },
        reports: [{ what: 'received', address: '+61400000000', text: 'STOP', reference: UUID }],
      },
    ],
    forged: [
      { name: 'another secret', call: (now) => signed(status('delivered'), now, { secret: 'another-secret-0123456789-0123456789' }) },
      { name: 'another account', call: (now) => signed(status('delivered'), now, { api_key: 'other' }) },
      { name: 'another body', call: (now) => signed(status('delivered'), now, { of: status('rejected') }) },
      { name: 'an old token', call: (now) => signed(status('delivered'), earlier(now, 6)) },
      { name: 'no token', call: () => ({ body: JSON.stringify(status('delivered')) }) },
    ],
  },
})

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { CALLBACK_URL, type RecordedCall, recording } from '../../recording.ts'

const keys = generateKeyPairSync('ed25519')
const strangers = generateKeyPairSync('ed25519')
const PUBLIC_KEY = keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
const ID = '40385f64-5717-4562-b3fc-2c963f66afa6'

const failure = (code: string, title: string, detail: string, pointer?: string) => ({
  errors: [
    {
      code,
      title,
      detail,
      meta: { url: `https://developers.telnyx.com/docs/overview/errors/${code}` },
      ...(pointer && { source: { pointer } }),
    },
  ],
})

const event = (event_type: string, payload: object) => ({
  data: {
    event_type,
    id: '4ee8c3a6-4995-4309-a3c6-38e3db9ea4be',
    occurred_at: '2026-11-23T08:59:58.148+00:00',
    payload,
    record_type: 'event',
  },
  meta: { attempt: 1, delivered_to: CALLBACK_URL },
})

const finalized = (status: string, errors: object[] = []) =>
  event('message.finalized', {
    direction: 'outbound',
    id: ID,
    tags: ['message:42'],
    to: [{ phone_number: '+61400000000', status, connection: 'TELSTRA', line_type: 'Wireless' }],
    from: { phone_number: '+61411111111' },
    text: 'Hello Ana',
    errors,
  })

/** Error codes of failed messages, and the report of each. */
const FAILURES = [
  ['40001', 'bounced'],
  ['40012', 'bounced'],
  ['40002', 'failed'],
  ['40003', 'failed'],
  ['40004', 'failed'],
  ['40005', 'failed'],
  ['40006', 'failed'],
  ['40008', 'failed'],
  ['40009', 'failed'],
  ['40011', 'failed'],
  ['40300', 'failed'],
] as const

/** A body signed as by Telnyx: the time, a bar, and the body. */
function signed(body: object, at: Date, key: KeyObject = keys.privateKey): RecordedCall {
  const text = JSON.stringify(body)
  const time = String(Math.floor(at.getTime() / 1000))
  const signature = sign(null, Buffer.from(`${time}|${text}`), key).toString('base64')
  return { headers: { 'content-type': 'application/json', 'telnyx-timestamp': time, 'telnyx-signature-ed25519': signature }, body: text }
}

export const telnyx = recording({
  over: 'https',
  settings: () => ({ api_key: 'KEY-of-telnyx', public_key: PUBLIC_KEY, from: '+61411111111' }),
  message: { recipient: '+61400000000', content: { to: '+61400000000', body: 'Hello Ana' } },
  sends: {
    success: {
      replies: [
        {
          status: 200,
          body: { data: { id: ID, record_type: 'message', to: [{ phone_number: '+61400000000', status: 'queued' }], errors: [] } },
        },
      ],
      outcome: { is: 'accepted', delivered: false, reference: ID },
      requests: [
        {
          method: 'POST',
          url: 'https://api.telnyx.com/v2/messages',
          headers: { authorization: 'Bearer KEY-of-telnyx' },
          json: {
            from: '+61411111111',
            to: '+61400000000',
            text: 'Hello Ana',
            type: 'SMS',
            tags: ['message:42'],
            webhook_url: CALLBACK_URL,
            use_profile_webhooks: false,
          },
        },
      ],
    },
    bad_recipient: {
      replies: [{ status: 400, body: failure('40310', "Invalid 'to' address", "The 'to' address should be in E.164 format.", '/to') }],
      outcome: { is: 'rejected', bounced: true, code: '40310', reason: "The 'to' address should be in E.164 format." },
    },
    not_of_the_number: {
      replies: [
        { status: 422, body: failure('40313', 'Alpha sender not allowed', 'An alphanumeric sender cannot send to this country.', '/to') },
      ],
      outcome: { is: 'rejected', code: '40313' },
    },
    bad_recipient_by_code: {
      replies: [{ status: 400, body: failure('40310', "Invalid 'to' address", 'No.') }],
      outcome: { is: 'rejected', bounced: true, code: '40310' },
    },
    bad_sender: {
      replies: [{ status: 400, body: failure('40305', "Invalid 'from' address", 'No.', '/from') }],
      outcome: { is: 'rejected', code: '40305' },
    },
    opted_out: {
      replies: [{ status: 400, body: failure('40300', 'Blocked due to STOP message', 'Messages cannot be sent to this number.') }],
      outcome: { is: 'rejected', code: '40300' },
    },
    suspended: {
      replies: [
        { status: 403, body: failure('10010', 'Authorization failed', 'You do not have permission to perform the requested action.') },
      ],
      outcome: { is: 'deferred', code: '403' },
    },
    stopped_number: {
      replies: [{ status: 403, body: failure('40300', 'Blocked due to STOP message', 'Messages cannot be sent to this number.') }],
      outcome: { is: 'rejected', code: '40300' },
    },
    throttled: {
      replies: [{ status: 429, headers: { 'retry-after': '3' }, body: failure('10011', 'Too many requests', 'Rate limit exceeded.') }],
      outcome: { is: 'deferred', retryAt: new Date('2026-11-23T09:00:03Z') },
    },
    outage: { replies: [{ status: 503, body: '' }], outcome: { is: 'deferred', code: '503' } },
    nonsense: { replies: [{ status: 200, body: '[]' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 422, body: '{"errors":"no"}' }], outcome: { is: 'rejected', code: '422' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
  },
  tests: [
    {
      replies: [{ status: 200, body: { data: { balance: '300.00' } } }],
      works: true,
      requests: [{ url: 'https://api.telnyx.com/v2/balance' }],
    },
    { replies: [{ status: 401, body: failure('10009', 'Authentication failed', 'Could not understand the credentials.') }], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        call: (now) => signed(finalized('delivered'), now),
        reports: [
          { what: 'delivered', messageId: 42 as never, reference: ID, address: '+61400000000', at: new Date('2026-11-23T08:59:58.148Z') },
        ],
      },
      { name: 'not final', call: (now) => signed(event('message.sent', { id: ID, to: [{ status: 'sent' }] }), now), reports: [] },
      { name: 'unconfirmed', call: (now) => signed(finalized('delivery_unconfirmed'), now), reports: [] },
      ...FAILURES.flatMap(([code, what]) =>
        (['delivery_failed', 'sending_failed', 'expired'] as const).map((is) => ({
          name: `${is} with error ${code} is ${what}`,
          call: (now: Date) => signed(finalized(is, failure(code, 'No', 'No.').errors), now),
          reports: [{ what, code }],
        })),
      ),
      { name: 'failed without a reason', call: (now) => signed(finalized('delivery_failed'), now), reports: [{ what: 'failed' }] },
      {
        name: 'a landline',
        call: (now) => signed(finalized('delivery_failed', failure('40001', 'Not routable', 'The destination is a landline.').errors), now),
        reports: [{ what: 'bounced', code: '40001', diagnostic: 'The destination is a landline.' }],
      },
      {
        name: 'a spam filter',
        call: (now) => signed(finalized('delivery_failed', failure('40002', 'Blocked as spam', 'Temporary.').errors), now),
        reports: [{ what: 'failed', code: '40002' }],
      },
      {
        name: 'a message from a user',
        call: (now) => signed(event('message.received', { id: 'in-1', from: { phone_number: '+61400000000' }, text: 'Stop' }), now),
        reports: [{ what: 'received', address: '+61400000000', text: 'Stop', reference: 'in-1' }],
      },
    ],
    forged: [
      { name: 'another key', call: (now) => signed(finalized('delivered'), now, strangers.privateKey) },
      { name: 'an old time', call: (now) => signed(finalized('delivered'), new Date(now.getTime() - 301_000)) },
      {
        name: 'another body',
        call: (now) => ({ ...signed(finalized('delivered'), now), body: JSON.stringify(finalized('delivery_failed')) }),
      },
      { name: 'no signature', call: () => ({ body: JSON.stringify(finalized('delivered')) }) },
      {
        name: 'an invalid signature',
        call: (now) => ({
          ...signed(finalized('delivered'), now),
          headers: { 'telnyx-timestamp': String(Math.floor(now.getTime() / 1000)), 'telnyx-signature-ed25519': 'AAAA' },
        }),
      },
    ],
  },
})

import { createHash } from 'node:crypto'
import { SignJWT } from 'jose'
import { CALLBACK_URL, type RecordedCall, recording } from '../../recording.ts'

const KEY = 'a-signing-key-of-messagebird-012'
const ID = 'e8077d803532c0b5937c639b60216938'

const failure = (code: number, description: string, parameter: string | null) => ({ errors: [{ code, description, parameter }] })

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

type Signing = { key?: string; url?: string; issuer?: string; hash?: string }

/** A call with a token that contains the hashes of its URL and body. */
async function signed(call: RecordedCall, at: Date, { key = KEY, url, issuer = 'MessageBird', hash }: Signing = {}): Promise<RecordedCall> {
  const address = url ?? `${CALLBACK_URL}${call.query === undefined ? '' : `?${call.query}`}`
  const payload_hash = hash ?? (call.body === undefined ? undefined : sha256(call.body))
  const seconds = Math.floor(at.getTime() / 1000)
  const token = await new SignJWT({ url_hash: sha256(address), jti: 'j1', ...(payload_hash !== undefined && { payload_hash }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(issuer)
    .setNotBefore(seconds)
    .setExpirationTime(seconds + 60)
    .sign(Buffer.from(key))
  return { ...call, headers: { ...call.headers, 'messagebird-signature-jwt': token } }
}

const report = (status: string, more: Record<string, string> = {}): RecordedCall => ({
  query: String(
    new URLSearchParams({
      id: ID,
      reference: '42',
      recipient: '61400000000',
      status,
      statusDatetime: '2026-11-23T08:59:58+00:00',
      ...more,
    }),
  ),
})

/** Failed deliveries: the status, its error code, its reason, and the report of each. */
const FAILURES = [
  ['delivery_failed', '1', '', 'bounced'],
  ['delivery_failed', '5', '', 'bounced'],
  ['delivery_failed', '', 'unknown subscriber', 'bounced'],
  ['delivery_failed', '', 'Unknown subscriber', 'bounced'],
  ['delivery_failed', '', 'incorrect number', 'bounced'],
  ['delivery_failed', '6', 'unavailable subscriber', 'failed'],
  ['delivery_failed', '9', 'illegal subscriber', 'failed'],
  ['delivery_failed', '27', 'unavailable subscriber', 'failed'],
  ['delivery_failed', '31', '', 'failed'],
  ['delivery_failed', '103', 'carrier rejected', 'failed'],
  ['delivery_failed', '', 'opted out', 'failed'],
  ['delivery_failed', '', '', 'failed'],
  ['expired', '1', 'unknown subscriber', 'failed'],
] as const

const inbound = {
  id: 'in-1',
  originator: '61400000000',
  recipient: '61411111111',
  body: 'Stop',
  createdDatetime: '2026-11-23T08:59:57+00:00',
}

export const messagebird = recording({
  over: 'https',
  settings: () => ({ access_key: 'a-key-of-messagebird', signing_key: KEY, from: 'Carillon' }),
  message: { recipient: '+61400000000', content: { to: '+61400000000', body: 'Hello Ana' } },
  sends: {
    success: {
      replies: [
        {
          status: 201,
          body: { id: ID, href: `https://rest.messagebird.com/messages/${ID}`, direction: 'mt', type: 'sms', reference: '42' },
        },
      ],
      outcome: { is: 'accepted', delivered: false, reference: ID },
      requests: [
        {
          method: 'POST',
          url: 'https://rest.messagebird.com/messages',
          headers: { authorization: 'AccessKey a-key-of-messagebird' },
          json: {
            originator: 'Carillon',
            recipients: ['61400000000'],
            body: 'Hello Ana',
            datacoding: 'auto',
            reference: '42',
            reportUrl: CALLBACK_URL,
          },
        },
      ],
    },
    bad_recipient: {
      replies: [{ status: 422, body: failure(9, 'no (correct) recipients found', 'recipient') }],
      outcome: { is: 'rejected', bounced: true, code: '9', reason: 'no (correct) recipients found' },
    },
    bad_sender: {
      replies: [{ status: 422, body: failure(10, 'originator is invalid', 'originator') }],
      outcome: { is: 'rejected', code: '10' },
    },
    low_balance: {
      replies: [{ status: 422, body: failure(25, 'Not enough balance', null) }],
      outcome: { is: 'deferred', code: '25' },
    },
    throttled: {
      replies: [{ status: 429, headers: { 'retry-after': '9' }, body: failure(101, 'Too many requests', null) }],
      outcome: { is: 'deferred', retryAt: new Date('2026-11-23T09:00:09Z') },
    },
    outage: { replies: [{ status: 503, body: '<html>' }], outcome: { is: 'deferred', code: '503' } },
    gateway: { replies: [{ status: 502, body: '<html>' }], outcome: { is: 'uncertain' } },
    nonsense: { replies: [{ status: 201, body: '<html>' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 422, body: '{}' }], outcome: { is: 'rejected', code: '422' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
  },
  tests: [
    {
      replies: [{ status: 200, body: { payment: 'prepaid', type: 'euros', amount: 9 } }],
      works: true,
      requests: [{ url: 'https://rest.messagebird.com/balance' }],
    },
    { replies: [{ status: 401, body: failure(2, 'Request not allowed (incorrect access_key)', 'access_key') }], works: false },
  ],
  callbacks: {
    genuine: [
      {
        name: 'delivered',
        call: (now) => signed(report('delivered'), now),
        reports: [
          { what: 'delivered', messageId: 42 as never, reference: ID, address: '+61400000000', at: new Date('2026-11-23T08:59:58Z') },
        ],
      },
      { name: 'not final', call: (now) => signed(report('buffered'), now), reports: [] },
      {
        name: 'an unknown number',
        call: (now) => signed(report('delivery_failed', { statusErrorCode: '1', statusReason: 'unknown subscriber' }), now),
        reports: [{ what: 'bounced', code: '1', diagnostic: 'unknown subscriber' }],
      },
      ...FAILURES.map(([is, statusErrorCode, statusReason, what]) => ({
        name: `${is} with error ${statusErrorCode || 'none'}, ${statusReason || 'no reason'}, is ${what}`,
        call: (now: Date) =>
          signed(report(is, { ...(statusErrorCode && { statusErrorCode }), ...(statusReason && { statusReason }) }), now),
        reports: [{ what }],
      })),
      { name: 'expired', call: (now) => signed(report('expired'), now), reports: [{ what: 'failed' }] },
      {
        name: 'a message from a user',
        call: (now) => signed({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(inbound) }, now),
        reports: [{ what: 'received', address: '+61400000000', text: 'Stop', reference: 'in-1' }],
      },
      {
        name: 'a message from a user, as a query',
        call: (now) => signed({ query: String(new URLSearchParams(inbound)) }, now),
        reports: [{ what: 'received', address: '+61400000000', text: 'Stop' }],
      },
    ],
    forged: [
      { name: 'another key', call: (now) => signed(report('delivered'), now, { key: 'another-key-0123456789-0123456789' }) },
      { name: 'another address', call: (now) => signed(report('delivered'), now, { url: CALLBACK_URL }) },
      { name: 'another issuer', call: (now) => signed(report('delivered'), now, { issuer: 'Stranger' }) },
      { name: 'another body', call: (now) => signed({ body: 'originator=1&body=Stop' }, now, { hash: sha256('other') }) },
      { name: 'an old token', call: (now) => signed(report('delivered'), new Date(now.getTime() - 120_000)) },
      { name: 'no token', call: () => report('delivered') },
      {
        name: 'a body without a hash',
        call: async (now) => ({ ...(await signed(report('delivered'), now)), body: 'status=delivered' }),
      },
    ],
  },
})

import { generateKeyPairSync } from 'node:crypto'
import { recording } from '../../recording.ts'

const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
const PIXEL = { device_id: 'pixel', os: 'Android', token: `d1:APA91b${'x'.repeat(134)}` }
const NAME = 'projects/shop-1/messages/0:1500415314455276%31bd1c9631bd1c96'

const token = { status: 200, body: { access_token: 'ya29.token', expires_in: 3599, token_type: 'Bearer' } }
const failure = (code: number, status: string, message: string, errorCode?: string) => ({
  error: {
    code,
    message,
    status,
    details: errorCode === undefined ? [] : [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }],
  },
})

let accounts = 0

export const fcm = recording({
  over: 'https',
  // A new account each time, because tokens are cached per account.
  settings: () => ({
    service_account: JSON.stringify({
      type: 'service_account',
      project_id: 'shop-1',
      client_email: `push-${++accounts}@shop-1.iam.gserviceaccount.com`,
      private_key: PRIVATE_KEY,
      token_uri: 'https://oauth2.googleapis.com/token',
    }),
  }),
  message: {
    content: { title: 'Hello', body: 'Ana', url: 'app://here', topic: 'news', custom: { badge: 1, name: 'Ana' } },
    devices: [PIXEL],
  },
  sends: {
    success: {
      replies: [token, { status: 200, body: { name: NAME } }],
      outcome: { is: 'accepted', delivered: false, reference: NAME },
      requests: [
        { method: 'POST', url: 'https://oauth2.googleapis.com/token', form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' } },
        {
          method: 'POST',
          url: 'https://fcm.googleapis.com/v1/projects/shop-1/messages:send',
          headers: { authorization: 'Bearer ya29.token' },
          json: {
            message: {
              token: PIXEL.token,
              notification: { title: 'Hello', body: 'Ana' },
              data: { badge: '1', name: 'Ana', url: 'app://here', topic: 'news' },
              android: { priority: 'HIGH', notification: { tag: 'k-42' } },
              apns: { headers: { 'apns-collapse-id': 'k-42' }, payload: { aps: { sound: 'default' } } },
            },
          },
        },
      ],
    },
    custom_url: {
      message: { content: { title: 'Hello', body: 'Ana', custom: { url: 'app://x', topic: 't', badge: 1 } }, devices: [PIXEL] },
      replies: [token, { status: 200, body: { name: NAME } }],
      outcome: { is: 'accepted', delivered: false, reference: NAME },
      requests: [
        { method: 'POST', url: 'https://oauth2.googleapis.com/token' },
        {
          method: 'POST',
          url: 'https://fcm.googleapis.com/v1/projects/shop-1/messages:send',
          json: {
            message: {
              token: PIXEL.token,
              notification: { title: 'Hello', body: 'Ana' },
              data: { url: 'app://x', topic: 't', badge: '1' },
              android: { priority: 'HIGH', notification: { tag: 'k-42' } },
              apns: { headers: { 'apns-collapse-id': 'k-42' }, payload: { aps: { sound: 'default' } } },
            },
          },
        },
      ],
    },
    bad_recipient: {
      replies: [token, { status: 404, body: failure(404, 'NOT_FOUND', 'Requested entity was not found.', 'UNREGISTERED') }],
      outcome: { is: 'rejected', reason: 'no_push_device', deadTokens: [PIXEL.token] },
    },
    no_project: {
      replies: [token, { status: 404, body: failure(404, 'NOT_FOUND', 'Requested entity was not found.') }],
      outcome: { is: 'deferred', reason: 'Requested entity was not found.', code: 'NOT_FOUND' },
    },
    no_token: {
      replies: [
        token,
        {
          status: 400,
          body: failure(400, 'INVALID_ARGUMENT', 'The registration token is not a valid FCM registration token', 'INVALID_ARGUMENT'),
        },
      ],
      outcome: { is: 'rejected', reason: 'no_push_device', deadTokens: [PIXEL.token] },
    },
    bad_data: {
      replies: [token, { status: 400, body: failure(400, 'INVALID_ARGUMENT', 'Invalid data payload key: from', 'INVALID_ARGUMENT') }],
      outcome: { is: 'rejected', reason: 'Invalid data payload key: from', code: 'INVALID_ARGUMENT' },
    },
    another_sender: {
      replies: [token, { status: 403, body: failure(403, 'PERMISSION_DENIED', 'SenderId mismatch', 'SENDER_ID_MISMATCH') }],
      outcome: { is: 'rejected', code: 'SENDER_ID_MISMATCH' },
    },
    not_permitted: {
      replies: [token, { status: 403, body: failure(403, 'PERMISSION_DENIED', 'Permission denied') }],
      outcome: { is: 'deferred', code: 'PERMISSION_DENIED' },
    },
    throttled: {
      replies: [
        token,
        { status: 429, headers: { 'retry-after': '60' }, body: failure(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', 'QUOTA_EXCEEDED') },
      ],
      outcome: { is: 'deferred', code: 'QUOTA_EXCEEDED', retryAt: new Date('2026-11-23T09:01:00Z') },
    },
    outage: {
      replies: [token, { status: 503, body: failure(503, 'UNAVAILABLE', 'The service is currently unavailable.', 'UNAVAILABLE') }],
      outcome: { is: 'deferred', code: '503' },
    },
    no_access_token: {
      replies: [{ status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } }],
      outcome: { is: 'deferred', reason: 'Google issued no access token: Invalid JWT Signature.' },
    },
    lost_connection_for_the_token: { replies: ['cut'], outcome: { is: 'deferred' } },
    nonsense: { replies: [token, { status: 200, body: '<html>' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [token, { status: 404, body: '<!DOCTYPE html>' }], outcome: { is: 'rejected', code: '404' } },
    refused: { replies: [token, 'refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: [token, 'cut'], outcome: { is: 'uncertain' } },
    no_device: { message: { devices: [] }, replies: [], outcome: { is: 'rejected', reason: 'no_push_device' } },
  },
  tests: [
    {
      replies: [token, { status: 200, body: { name: 'projects/shop-1/messages/fake_message_id' } }],
      works: true,
      requests: [{}, { json: { validate_only: true, message: { topic: 'connection-test' } } }],
    },
    { replies: [{ status: 400, body: { error: 'invalid_grant' } }], works: false },
    { replies: [token, { status: 403, body: failure(403, 'PERMISSION_DENIED', 'Permission denied') }], works: false },
  ],
})

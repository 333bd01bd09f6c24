import { generateKeyPairSync } from 'node:crypto'
import { recording } from '../../recording.ts'

const PRIVATE_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString().trim()
const PHONE = { device_id: 'phone', os: 'iOS', token: 'a1'.repeat(32) }
const TABLET = { device_id: 'tablet', os: 'iPadOS', token: 'b2'.repeat(32) }
const ID = 'eabeae54-14a8-11e5-b60b-1697f925ec7b'

const refused = (status: number, reason: string, headers = {}) => ({ status, headers, body: { reason } })
const gone = { status: 410, body: { reason: 'Unregistered', timestamp: 1454948015990 } }
const taken = { status: 200, headers: { 'apns-id': ID } }

export const apns = recording({
  over: 'https',
  settings: () => ({ team_id: 'TEAM000001', key_id: 'KEY0000001', private_key: PRIVATE_KEY, bundle_id: 'com.example.app' }),
  message: { content: { title: 'Hello', body: 'Ana', url: 'app://here', topic: 'news', custom: { badge: 1 } }, devices: [PHONE] },
  sends: {
    success: {
      replies: [taken],
      outcome: { is: 'accepted', delivered: false, reference: ID },
      requests: [
        {
          method: 'POST',
          url: `https://api.push.apple.com/3/device/${PHONE.token}`,
          headers: {
            'apns-topic': 'com.example.app',
            'apns-push-type': 'alert',
            'apns-priority': '10',
            'apns-collapse-id': 'k-42',
          },
          json: { aps: { alert: { title: 'Hello', body: 'Ana' }, sound: 'default', 'thread-id': 'news' }, url: 'app://here', badge: 1 },
        },
      ],
    },
    bad_recipient: { replies: [gone], outcome: { is: 'rejected', reason: 'no_push_device', deadTokens: [PHONE.token] } },
    bad_token: {
      replies: [refused(400, 'BadDeviceToken')],
      outcome: { is: 'rejected', reason: 'BadDeviceToken', code: '400' },
    },
    idle_connection: { replies: [refused(400, 'IdleTimeout')], outcome: { is: 'deferred', reason: 'IdleTimeout', code: '400' } },
    another_app: {
      replies: [refused(400, 'DeviceTokenNotForTopic')],
      outcome: { is: 'rejected', reason: 'DeviceTokenNotForTopic', code: '400' },
    },
    too_large: { replies: [refused(413, 'PayloadTooLarge')], outcome: { is: 'rejected', reason: 'PayloadTooLarge' } },
    revoked_key: { replies: [refused(403, 'InvalidProviderToken')], outcome: { is: 'deferred', reason: 'InvalidProviderToken' } },
    throttled: {
      replies: [refused(429, 'TooManyRequests', { 'retry-after': '60' })],
      outcome: { is: 'deferred', reason: 'TooManyRequests', retryAt: new Date('2026-11-23T09:01:00Z') },
    },
    outage: { replies: [refused(503, 'ServiceUnavailable')], outcome: { is: 'deferred', reason: 'ServiceUnavailable' } },
    nonsense: { replies: [{ status: 200, body: '<html>' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 400, body: '<html>' }], outcome: { is: 'rejected', code: '400' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
    two_devices: {
      message: { devices: [PHONE, TABLET] },
      replies: [gone, gone],
      outcome: { is: 'rejected', reason: 'no_push_device', deadTokens: [PHONE.token, TABLET.token] },
    },
    no_device: { message: { devices: [] }, replies: [], outcome: { is: 'rejected', reason: 'no_push_device' } },
  },
  tests: [
    { replies: [refused(400, 'BadDeviceToken')], works: true },
    { replies: [refused(403, 'InvalidProviderToken')], works: false },
    { replies: ['refused'], works: false },
  ],
})

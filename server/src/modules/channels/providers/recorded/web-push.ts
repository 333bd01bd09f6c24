import { createECDH, randomBytes } from 'node:crypto'
import webPushLibrary from 'web-push'
import { recording } from '../../recording.ts'

const { publicKey, privateKey } = webPushLibrary.generateVAPIDKeys()
const browser = createECDH('prime256v1')

const ENDPOINT = 'https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk'
const subscription = (endpoint: string) =>
  JSON.stringify({ endpoint, keys: { p256dh: browser.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') } })
const DESKTOP = { device_id: 'desktop', os: null, token: subscription(ENDPOINT) }
const LOCATION = 'https://updates.push.services.mozilla.com/m/gAAAAABk'

export const webPush = recording({
  over: 'https',
  settings: () => ({ subject: 'mailto:push@example.com', public_key: publicKey, private_key: privateKey }),
  message: { content: { title: 'Hello', body: 'Ana', url: 'https://example.com/' }, devices: [DESKTOP] },
  sends: {
    success: {
      replies: [{ status: 201, headers: { location: LOCATION } }],
      outcome: { is: 'accepted', delivered: false, reference: LOCATION },
      requests: [{ method: 'POST', url: ENDPOINT, headers: { ttl: '2419200', urgency: 'normal', 'content-encoding': 'aes128gcm' } }],
    },
    bad_recipient: {
      replies: [{ status: 410, body: { code: 410, errno: 106, error: 'Gone' } }],
      outcome: { is: 'rejected', reason: 'no_push_device', deadTokens: [DESKTOP.token] },
    },
    unknown: { replies: [{ status: 404 }], outcome: { is: 'rejected', reason: 'no_push_device', deadTokens: [DESKTOP.token] } },
    other_keys: {
      replies: [{ status: 403, body: 'the key in the authorization header does not correspond to the sender ID used to subscribe' }],
      outcome: { is: 'rejected', code: '403' },
    },
    throttled: {
      replies: [{ status: 429, headers: { 'retry-after': '30' } }],
      outcome: { is: 'deferred', retryAt: new Date('2026-11-23T09:00:30Z') },
    },
    outage: { replies: [{ status: 503 }], outcome: { is: 'deferred', code: '503' } },
    nonsense: { replies: [{ status: 200, body: '?' }], outcome: { is: 'accepted', delivered: false } },
    nonsense_refusal: { replies: [{ status: 400, body: '?' }], outcome: { is: 'rejected', code: '400' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
    no_subscription: {
      message: { devices: [{ device_id: 'desktop', os: 'web', token: 'nothing' }] },
      replies: [],
      outcome: { is: 'rejected', reason: 'no_push_device', deadTokens: ['nothing'] },
    },
    plain_http: {
      message: { devices: [{ ...DESKTOP, token: subscription('http://push.example.com/1') }] },
      replies: [],
      outcome: { is: 'rejected', reason: 'no_push_device' },
    },
    no_keys: {
      message: { devices: [{ ...DESKTOP, token: JSON.stringify({ endpoint: ENDPOINT, keys: { p256dh: 'AAAA', auth: 'AAAA' } }) }] },
      replies: [],
      outcome: { is: 'rejected', reason: 'no_push_device' },
    },
  },
  tests: [{ replies: [], works: true }],
})

import { createHmac } from 'node:crypto'
import { recording } from '../../recording.ts'

const ENDPOINT = 'https://hooks.example.com/carillon?to=ana'
const BODY = '{"name":"Ana"}'
/** 2026-11-23T09:00:00Z, the time of the recording. */
const T = 1795424400
const content = { method: 'put', endpoint: ENDPOINT, headers: { 'X-Kind': 'greeting', Host: 'elsewhere.example.com' }, body: BODY }

export const http = recording({
  over: 'https',
  settings: () => ({ secret: 'a-secret-of-the-endpoint' }),
  message: { recipient: ENDPOINT, content },
  sends: {
    success: {
      replies: [{ status: 202, body: 'thanks' }],
      outcome: { is: 'accepted', delivered: true },
      requests: [
        {
          method: 'PUT',
          url: ENDPOINT,
          headers: {
            'x-kind': 'greeting',
            'content-type': 'application/json',
            'idempotency-key': 'k-42',
            'service-signature': `t=${T},v1=${createHmac('sha256', 'a-secret-of-the-endpoint').update(`${T}.${BODY}`).digest('hex')}`,
          },
          body: BODY,
        },
      ],
    },
    without_a_body: {
      message: { content: { method: 'GET', endpoint: ENDPOINT, headers: {} } },
      replies: [{ status: 200 }],
      outcome: { is: 'accepted', delivered: true },
      requests: [{ method: 'GET', url: ENDPOINT, body: '' }],
    },
    bad_recipient: { replies: [{ status: 404, body: 'who?' }], outcome: { is: 'rejected', code: '404' } },
    throttled: {
      replies: [{ status: 429, headers: { 'retry-after': 'Mon, 23 Nov 2026 09:02:00 GMT' } }],
      outcome: { is: 'deferred', code: '429', retryAt: new Date('2026-11-23T09:02:00Z') },
    },
    too_early: { replies: [{ status: 425 }], outcome: { is: 'deferred', code: '425' } },
    outage: { replies: [{ status: 500, body: 'oops' }], outcome: { is: 'deferred', code: '500' } },
    redirect: { replies: [{ status: 302, headers: { location: 'https://example.com/' } }], outcome: { is: 'deferred', code: '302' } },
    gateway: { replies: [{ status: 504 }], outcome: { is: 'uncertain' } },
    nonsense: { replies: [{ status: 200, body: '\0' }], outcome: { is: 'accepted', delivered: true } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', code: 'refused' } },
    cut: { replies: ['cut'], outcome: { is: 'uncertain' } },
    invalid_header: {
      message: { content: { ...content, headers: { 'X-Name': 'Zoë 🔔' } } },
      replies: [],
      outcome: { is: 'rejected', reason: 'The header `X-Name` contains characters that HTTP does not allow.' },
    },
    invalid_endpoint: { message: { content: { ...content, endpoint: 'https://' } }, replies: [], outcome: { is: 'rejected' } },
    invalid_method: { message: { content: { ...content, method: 'BREW' } }, replies: [], outcome: { is: 'rejected' } },
  },
  tests: [{ replies: [], works: true }],
})

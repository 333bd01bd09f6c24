import { createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { SafeRequest } from '../../../infra/outgoing/safe-fetch.ts'
import { Exact, Line } from '../../../lib/shapes.ts'
import { type Outgoing, provider } from '../provider.ts'
import * as providerHttp from '../provider-http.ts'
import type { WebhookContent } from '../webhook.ts'

const Settings = Exact({
  secret: Type.Optional(
    Line(255, {
      title: 'Secret',
      writeOnly: true,
      description: 'If a secret is set, every request has a `Service-Signature` header, as webhook requests do.',
    }),
  ),
})
type Settings = Static<typeof Settings>

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
/** Headers that belong to the connection. */
const CONNECTION_HEADERS = ['connection', 'content-length', 'expect', 'host', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\u0020-\u007E\u0080-\u00FF]*$/

/** Sends a request to the endpoint in the content. */
export const http = provider({
  label: 'HTTP',
  channels: ['webhook'],
  settings: Settings,
  repeatable: false,
  idempotent: false,
  atOnce: 50,
  async send(settings, message, outside) {
    const content = message.content as WebhookContent
    const problem = problemOf(content)
    if (problem) return { is: 'rejected', reason: problem }
    const now = outside.clock.now()
    const response = await providerHttp.callProvider(outside, requestOf(settings, message, now))
    if (response.is === 'failed') {
      // A retry would not help, because the egress policy does not change.
      return response.reason === 'blocked' ? { is: 'rejected', reason: response.message } : providerHttp.failureOf(response, false)
    }
    const { status, headers } = response
    if (status >= 200 && status < 300) return { is: 'accepted', delivered: true }
    const code = String(status)
    const reason = `The endpoint responded with status ${status}.`
    if (status >= 400 && status < 500 && ![408, 425, 429].includes(status)) return { is: 'rejected', reason, code }
    if (status === 504) return { is: 'uncertain', reason }
    return { is: 'deferred', reason, code, ...providerHttp.retryAt(headers, now) }
  },
  // The endpoint is in the messages, so there is nothing to test.
  test: async () => ({ works: true }),
})

/** Why the content cannot be sent, or null. */
function problemOf({ method, endpoint, headers }: WebhookContent): string | null {
  if (!URL.canParse(endpoint)) return 'The endpoint is not a URL.'
  if (!METHODS.includes(method.toUpperCase())) return `The method must be one of ${METHODS.join(', ')}.`
  const bad = Object.entries(headers).find(([name, value]) => !NAME.test(name) || !VALUE.test(value))
  return bad ? `The header \`${providerHttp.excerptOf(bad[0])}\` contains characters that HTTP does not allow.` : null
}

function requestOf({ secret }: Settings, { key, content }: Outgoing, now: Date): providerHttp.ProviderHttpRequest {
  const { method, endpoint, headers, body } = content as WebhookContent
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const kept = Object.fromEntries(given.filter(([name]) => !CONNECTION_HEADERS.includes(name)))
  const type = body !== undefined && !('content-type' in kept) ? { 'content-type': typeOf(body) } : {}
  return {
    method: method.toUpperCase() as SafeRequest['method'],
    url: endpoint,
    headers: {
      ...kept,
      ...type,
      'idempotency-key': key,
      ...(secret !== undefined && { 'service-signature': signatureOf(secret, body ?? '', now) }),
    },
    ...(body !== undefined && { body }),
  }
}

function typeOf(body: string): string {
  try {
    JSON.parse(body)
    return 'application/json'
  } catch {
    return 'text/plain; charset=utf-8'
  }
}

/** HMAC-SHA256 over the time in Unix seconds, a dot, and the body (D-WH-SIG-1). */
function signatureOf(secret: string, body: string, now: Date): string {
  const t = Math.floor(now.getTime() / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}

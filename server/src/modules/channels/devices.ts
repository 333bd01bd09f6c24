/** Push messages go to every device of a user that a push service serves. The responses are joined into one. */
import type { Outgoing, ProviderResponse, PushTarget } from './provider.ts'

export const PUSH_SERVICES = ['apns', 'fcm', 'web_push'] as const
export type PushService = (typeof PUSH_SERVICES)[number]

const APNS_TOKEN = /^(?:[0-9a-f]{2}){32,100}$/i
const FCM_TOKEN = /^[\w-]+:[\w-]{40,}$/
const APPLE = /^(?:ios|ipados|macos|mac os|os x|tvos|watchos|visionos)/i

/**
 * The push service of a device. The format of the token is decisive, because an iPhone app that uses Firebase has a Firebase token.
 * Null if neither the token nor the operating system is known.
 */
export function serviceOf({ os, token }: PushTarget): PushService | null {
  if (token.startsWith('{')) return 'web_push'
  if (APNS_TOKEN.test(token)) return 'apns'
  if (FCM_TOKEN.test(token)) return 'fcm'
  if (os === null) return null
  if (APPLE.test(os)) return 'apns'
  if (/^android/i.test(os)) return 'fcm'
  return /^web/i.test(os) ? 'web_push' : null
}

/** Sends to each device of the service. A device that no longer exists is `rejected`, with its token in `deadTokens`. */
export async function pushTo(
  service: PushService,
  { devices }: Outgoing,
  send: (device: PushTarget) => Promise<ProviderResponse>,
): Promise<ProviderResponse> {
  const reached = devices.filter((device) => serviceOf(device) === service)
  return joinResponses(await Promise.all(reached.map(send)))
}

/** The response for a device whose token is no longer valid. */
export const deadToken = (token: string, reason: string): ProviderResponse => ({ is: 'rejected', reason, deadTokens: [token] })

/** Joins the responses of a user’s devices. The message is accepted if it is for one of them. */
export function joinResponses(outcomes: ProviderResponse[]): ProviderResponse {
  const deadTokens = outcomes.flatMap((outcome) => ('deadTokens' in outcome ? (outcome.deadTokens ?? []) : []))
  const dead = deadTokens.length > 0 ? { deadTokens } : {}
  const accepted = outcomes.find(({ is }) => is === 'accepted')
  if (accepted) return { ...accepted, ...dead } as ProviderResponse
  const uncertain = outcomes.find(({ is }) => is === 'uncertain')
  if (uncertain) return uncertain
  const [deferred] = outcomes.filter((outcome) => outcome.is === 'deferred').sort((a, b) => timeOf(b.retryAt) - timeOf(a.retryAt))
  if (deferred) return deferred
  const refused = outcomes.find((outcome) => outcome.is === 'rejected' && !outcome.deadTokens)
  return refused ? ({ ...refused, ...dead } as ProviderResponse) : { is: 'rejected', reason: 'no_push_device', ...dead }
}

const timeOf = (instant: Date | undefined): number => instant?.getTime() ?? 0

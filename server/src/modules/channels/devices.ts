/** A push goes to every device of a person that a service reaches, and what comes of it is one outcome. */
import type { Outgoing, ProviderResponse, PushTarget } from './provider.ts'

export const PUSH_SERVICES = ['apns', 'fcm', 'web_push'] as const
export type PushService = (typeof PUSH_SERVICES)[number]

const APNS_TOKEN = /^(?:[0-9a-f]{2}){32,100}$/i
const FCM_TOKEN = /^[\w-]+:[\w-]{40,}$/
const APPLE = /^(?:ios|ipados|macos|mac os|os x|tvos|watchos|visionos)/i

/**
 * Which service reaches a device. The form of a token tells it best: an iPhone whose app uses Firebase has a token of Firebase.
 * Null when neither the token nor the system says anything.
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

/** Sends to each device that the service reaches. A device that is gone is `rejected` with its token among the dead. */
export async function pushTo(
  service: PushService,
  { devices }: Outgoing,
  send: (device: PushTarget) => Promise<ProviderResponse>,
): Promise<ProviderResponse> {
  const reached = devices.filter((device) => serviceOf(device) === service)
  return together(await Promise.all(reached.map(send)))
}

/** What a device says that its token leads nowhere any more. */
export const deadToken = (token: string, reason: string): ProviderResponse => ({ is: 'rejected', reason, deadTokens: [token] })

/** One outcome out of those of the devices: whoever got it on one device got it. */
export function together(outcomes: ProviderResponse[]): ProviderResponse {
  const deadTokens = outcomes.flatMap((outcome) => ('deadTokens' in outcome ? (outcome.deadTokens ?? []) : []))
  const died = deadTokens.length > 0 ? { deadTokens } : {}
  const accepted = outcomes.find(({ is }) => is === 'accepted')
  if (accepted) return { ...accepted, ...died } as ProviderResponse
  const uncertain = outcomes.find(({ is }) => is === 'uncertain')
  if (uncertain) return uncertain
  const [deferred] = outcomes.filter((outcome) => outcome.is === 'deferred').sort((a, b) => timeOf(b.retryAt) - timeOf(a.retryAt))
  if (deferred) return deferred
  const refused = outcomes.find((outcome) => outcome.is === 'rejected' && !outcome.deadTokens)
  return refused ? ({ ...refused, ...died } as ProviderResponse) : { is: 'rejected', reason: 'no_push_device', ...died }
}

const timeOf = (instant: Date | undefined): number => instant?.getTime() ?? 0

/** Push messages go to every device of a user. The responses are joined into one. */
import type { Outgoing, ProviderResponse, PushTarget } from './provider.ts'

/** Sends to each device. A device that no longer exists is `rejected`, with its token in `deadTokens`. */
export const sendToDevices = async (
  { devices }: Outgoing,
  send: (device: PushTarget) => Promise<ProviderResponse>,
): Promise<ProviderResponse> => joinResponses(await Promise.all(devices.map(send)))

/** The response for a device whose token is no longer valid. */
export const deadToken = (token: string, reason: string): ProviderResponse => ({ is: 'rejected', reason, deadTokens: [token] })

/** Joins the responses of a user’s devices. The message is accepted if it was accepted for one of them. */
export function joinResponses(outcomes: ProviderResponse[]): ProviderResponse {
  const deadTokens = outcomes.flatMap((outcome) => ('deadTokens' in outcome ? (outcome.deadTokens ?? []) : []))
  const dead = deadTokens.length > 0 ? { deadTokens } : {}
  const accepted = outcomes.find(({ is }) => is === 'accepted')
  if (accepted) return { ...accepted, ...dead } as ProviderResponse
  const uncertain = outcomes.find(({ is }) => is === 'uncertain')
  if (uncertain) return { ...uncertain, ...dead } as ProviderResponse
  const [deferred] = outcomes.filter((outcome) => outcome.is === 'deferred').sort((a, b) => timeOf(b.retryAt) - timeOf(a.retryAt))
  if (deferred) return { ...deferred, ...dead } as ProviderResponse
  const refused = outcomes.find((outcome) => outcome.is === 'rejected' && !outcome.deadTokens)
  return refused ? ({ ...refused, ...dead } as ProviderResponse) : { is: 'rejected', reason: 'no_push_device', ...dead }
}

const timeOf = (instant: Date | undefined): number => instant?.getTime() ?? 0

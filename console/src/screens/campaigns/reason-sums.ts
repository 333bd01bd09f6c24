import type { components } from '@carillon/sdk'

type Count = components['schemas']['CampaignDeliveryReply']['states'][number]

export type ReasonSum = { state: Count['state']; reason: string; messages: number }

/** The messages of each state and reason, of all variants together, the most first. */
export function sumsOf(states: readonly Count[]): ReasonSum[] {
  const sums = new Map<string, ReasonSum>()
  for (const { state, reason, messages } of states) {
    if (reason === null) continue
    const sum = sums.get(`${state} ${reason}`) ?? { state, reason, messages: 0 }
    sums.set(`${state} ${reason}`, { ...sum, messages: sum.messages + messages })
  }
  return [...sums.values()].toSorted((a, b) => b.messages - a.messages)
}

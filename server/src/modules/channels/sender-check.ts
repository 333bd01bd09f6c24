/** Whether marketing may be sent from a domain, and the sentence that says what to do (D-MTA-43). Pure. */
import type { SendingDomain } from '../domains/index.ts'
import type { ProviderName } from './registry.ts'
import { unverifiedSender } from './unverified-sender.ts'

/** `blocks`: the provider refuses the email. Otherwise receivers may. */
export type SenderProblem = { blocks: boolean; message: string }

const HERE: readonly ProviderName[] = ['sandbox', 'discard', 'inbox']

/** Whether no message over a provider reaches a receiver outside this server. */
export const staysHere = (provider: ProviderName): boolean => HERE.includes(provider)

/** This server, whose reputation all of its projects share. */
const OWN: readonly string[] = ['mta']

/** What is wrong with sending marketing from a domain over a provider; null if nothing is. */
export function senderProblemOf(fromDomain: string, sender: SendingDomain | undefined, provider: ProviderName): SenderProblem | null {
  if (sender?.is_verified || staysHere(provider)) return null
  return { blocks: OWN.includes(provider), message: unverifiedSender(fromDomain, sender) }
}

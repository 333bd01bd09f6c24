/** Simulates a provider for the addresses of the simulator (D-MSG-5). */
import type { Clock } from '../../lib/clock.ts'
import { type Simulated, simulatedBy } from '../../lib/simulator.ts'
import type { Outgoing, ProviderResponse } from './provider.ts'

const SLOW_MS = 10_000

/** The outcome that the recipient of a message requests. Null unless it is an address of the simulator. */
export const simulatedFor = ({ channel, recipient }: Pick<Outgoing, 'channel' | 'recipient'>): Simulated | null =>
  channel === 'email' ? simulatedBy(recipient) : null

/** Returns the response of a provider with this outcome. `accept` stores an accepted message in the sandbox. */
export async function simulate(
  simulated: Simulated,
  { clock }: { clock: Clock },
  accept: () => Promise<ProviderResponse>,
): Promise<ProviderResponse> {
  switch (simulated) {
    case 'bounce':
      return { is: 'rejected', reason: '550 5.1.1 The simulator has no such mailbox', code: '5.1.1', bounced: true }
    case 'deferred':
      return { is: 'deferred', reason: '451 4.7.1 The simulator defers every attempt', code: '4.7.1' }
    case 'complaint': {
      const response = await accept()
      return response.is === 'accepted' ? { ...response, complained: true } : response
    }
    case 'slow':
      await clock.sleep(SLOW_MS)
      return accept()
    case 'delivered':
      return accept()
    default:
      return simulated satisfies never
  }
}

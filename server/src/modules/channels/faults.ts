/** Outcomes that the sandbox acts out for a share of the messages of a project, to show what your systems do then (D-SBX-3). */
import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Clock } from '../../lib/clock.ts'
import { Exact } from '../../lib/shapes.ts'
import type { Outgoing, ProviderResponse } from './provider.ts'
import { simulate } from './simulate.ts'

/** The lease of a message outlasts it. */
const DELAY_S_MAX = 10

const Percent = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description })

export const SandboxFaults = Exact({
  bounce_percent: Percent('Percentage of emails that bounce.'),
  complaint_percent: Percent('Percentage of emails that are delivered and then reported as spam.'),
  soft_fail_percent: Percent('Percentage of messages of any channel whose first attempt is deferred. The next attempt is accepted.'),
  delay_seconds: Type.Integer({ minimum: 0, maximum: DELAY_S_MAX, description: 'How long each attempt takes, in seconds.' }),
})
export type SandboxFaults = Static<typeof SandboxFaults>

export const NO_FAULTS: SandboxFaults = { bounce_percent: 0, complaint_percent: 0, soft_fail_percent: 0, delay_seconds: 0 }

export const sharesOf = ({ bounce_percent, complaint_percent, soft_fail_percent }: SandboxFaults): number =>
  bounce_percent + complaint_percent + soft_fail_percent

export type Fault = 'bounce' | 'complaint' | 'soft_fail'

/** The fault of a message. It depends only on the key of the message, so every attempt has the same fault. */
export function faultOf(faults: SandboxFaults, { key, channel }: Pick<Outgoing, 'key' | 'channel'>): Fault | null {
  const drawn = (100 * createHash('sha256').update(`fault ${key}`).digest().readUInt32BE()) / 2 ** 32
  const { bounce_percent, complaint_percent } = faults
  if (drawn < bounce_percent) return channel === 'email' ? 'bounce' : null
  if (drawn < bounce_percent + complaint_percent) return channel === 'email' ? 'complaint' : null
  return drawn < sharesOf(faults) ? 'soft_fail' : null
}

const DEFERRED: ProviderResponse = { is: 'deferred', reason: '451 4.7.1 The sandbox acts out a first attempt that fails', code: '4.7.1' }

/** Acts out the fault of a message, if it has one, instead of only accepting it. */
export async function actOut(
  faults: SandboxFaults,
  message: Pick<Outgoing, 'key' | 'channel' | 'isRetry'>,
  { clock }: { clock: Clock },
  accept: () => Promise<ProviderResponse>,
): Promise<ProviderResponse> {
  if (faults.delay_seconds > 0) await clock.sleep(1000 * faults.delay_seconds)
  const fault = faultOf(faults, message)
  switch (fault) {
    case null:
      return accept()
    case 'soft_fail':
      return message.isRetry ? accept() : DEFERRED
    case 'bounce':
      return {
        is: 'rejected',
        reason: '550 5.1.1 The sandbox acts out a mailbox that does not exist',
        code: '5.1.1',
        bounced: true,
        isActedOut: true,
      }
    case 'complaint':
      return simulate('complaint', { clock }, accept)
    default:
      return fault satisfies never
  }
}

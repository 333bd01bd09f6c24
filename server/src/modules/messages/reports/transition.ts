/** Decides the state of a message after a report. Pure. */
import type { MessageState, Reason } from '../schema.ts'
import type { AppliedReport } from './applied-report.ts'

/** Reports come late, twice and in any order. A message only changes to a state of a higher weight, so the final state is always the same. */
const WEIGHTS: Partial<Record<MessageState, number>> = {
  claimed: 0,
  unknown: 0,
  sent: 0,
  failed: 1,
  delivered: 2,
  bounced: 3,
  complained: 4,
}

const STATES: Partial<Record<AppliedReport['what'], { state: MessageState; reason: Reason | null }>> = {
  delivered: { state: 'delivered', reason: null },
  failed: { state: 'failed', reason: 'provider_rejected' },
  bounced: { state: 'bounced', reason: 'hard_bounce' },
  complained: { state: 'complained', reason: 'complaint' },
}

/** States of a message that its provider may have, and that is to be repeated there. */
const WAITING: readonly MessageState[] = ['queued', 'deferred']

/** States that only a message has that a provider took, or may have taken. */
const TAKEN: readonly MessageState[] = ['claimed', 'unknown', 'sent', 'delivered', 'complained']

/** Whether a provider may have a message that it gave no id. One that it refused or deferred, it has not. */
export const mayBeTaken = ({ state, uncertain_at }: { state: MessageState; uncertain_at: Date | null }): boolean =>
  uncertain_at !== null || TAKEN.includes(state)

/** Whether an open or a click shows what happened to a message. */
export const mayBeReceived = ({ state, uncertain_at }: { state: MessageState; uncertain_at: Date | null }): boolean =>
  state === 'unknown' || (uncertain_at !== null && WAITING.includes(state))

/**
 * The state after a report, or null if it changes nothing. Reports do not apply to messages that were not sent. `isUncertain`: an attempt had no
 * reply, so the message may have been sent while it waits.
 */
export function afterReport(
  state: MessageState,
  what: AppliedReport['what'],
  isUncertain = false,
): { state: MessageState; reason: Reason | null } | null {
  const to = STATES[what]
  const [from, weight] = [isUncertain && WAITING.includes(state) ? 0 : WEIGHTS[state], to && WEIGHTS[to.state]]
  return to && from !== undefined && weight !== undefined && weight > from ? to : null
}

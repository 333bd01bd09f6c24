/** When an endpoint is suspended (D-WH-4). */
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { HOUR_MS } from '../../lib/times.ts'

/** The result of one attempt, for the health of its endpoint. */
export type AttemptResult = { projectId: ProjectId; endpointId: EndpointId; succeeded: boolean; gone: boolean; at: Date }

/** The failures of an endpoint in a batch of attempts, since its last success. `broken` means that there was a success. */
export type Streak = {
  projectId: ProjectId
  endpointId: EndpointId
  broken: boolean
  failures: number
  firstFailureAt: Date | null
  gone: boolean
}

/** One streak per endpoint, in the order of their ids. `results` are in the order of the attempts. */
export function failureStreaks(results: readonly AttemptResult[]): Streak[] {
  const found = new Map<EndpointId, Streak>()
  for (const { projectId, endpointId, succeeded, gone, at } of results) {
    const before = found.get(endpointId) ?? { projectId, endpointId, broken: false, failures: 0, firstFailureAt: null, gone: false }
    const after = succeeded
      ? { ...before, broken: true, failures: 0, firstFailureAt: null }
      : { ...before, failures: before.failures + 1, firstFailureAt: before.firstFailureAt ?? at }
    found.set(endpointId, { ...after, gone: before.gone || gone })
  }
  return [...found.values()].sort((a, b) => a.endpointId - b.endpointId)
}

type Health = { consecutive_failures: number; first_failure_at: Date | null }
type Limits = { failures: number; hours: number }

/** The reason to suspend an endpoint, as a sentence for its owner, or null. */
export function suspensionReason(
  { consecutive_failures, first_failure_at }: Health,
  gone: boolean,
  limits: Limits,
  now: Date,
): string | null {
  if (gone) return 'The endpoint responded with 410 Gone.'
  if (first_failure_at === null || consecutive_failures < limits.failures) return null
  if (now.getTime() - first_failure_at.getTime() < limits.hours * HOUR_MS) return null
  return `${consecutive_failures} consecutive attempts failed, the first at ${first_failure_at.toISOString()}.`
}

/** When an endpoint is suspended (D-WH-4). */
import type { EndpointId, ProjectId } from '../../lib/ids.ts'

/** What became of one attempt, as far as the health of the endpoint goes. */
export type SuspensionCheck = { projectId: ProjectId; endpointId: EndpointId; succeeded: boolean; gone: boolean; at: Date }

/** What a batch of attempts says about one endpoint: the failures since its last success in the batch. */
export type Streak = {
  projectId: ProjectId
  endpointId: EndpointId
  broken: boolean
  failures: number
  firstFailureAt: Date | null
  gone: boolean
}

/** One streak for each endpoint, in the order of the endpoints' ids. `verdicts` are in the order in which they came. */
export function failureStreaks(verdicts: readonly SuspensionCheck[]): Streak[] {
  const found = new Map<EndpointId, Streak>()
  for (const { projectId, endpointId, succeeded, gone, at } of verdicts) {
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

const HOUR_MS = 3_600_000

/** Why the endpoint is to be suspended, as a sentence for its owner, or null. */
export function suspensionReason(
  { consecutive_failures, first_failure_at }: Health,
  gone: boolean,
  limits: Limits,
  now: Date,
): string | null {
  if (gone) return 'The endpoint answered 410 Gone.'
  if (first_failure_at === null || consecutive_failures < limits.failures) return null
  if (now.getTime() - first_failure_at.getTime() < limits.hours * HOUR_MS) return null
  return `${consecutive_failures} attempts in a row failed, the first of them at ${first_failure_at.toISOString()}.`
}

/** The attempts of endpoints by hour, which the list of endpoints shows (D-WH-7). */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { type HourCount, listHours } from './hours.queries.ts'
import type { AttemptHours } from './schema.ts'
import type { AttemptResult } from './suspension.ts'

export const SHOWN_HOURS = 24

const hourOf = (at: Date): number => at.getTime() - (at.getTime() % HOUR_MS)

/** How many attempts of each endpoint succeeded and failed in each hour. */
export function countByHour(results: readonly AttemptResult[]): HourCount[] {
  const counts = new Map<string, HourCount>()
  for (const { projectId, endpointId, succeeded, at } of results) {
    const hour = hourOf(at)
    const key = `${endpointId} ${hour}`
    const count = counts.get(key) ?? { projectId, endpointId, hour: new Date(hour), succeeded: 0, failed: 0 }
    counts.set(key, { ...count, succeeded: count.succeeded + Number(succeeded), failed: count.failed + Number(!succeeded) })
  }
  return [...counts.values()]
}

/** The attempts of the last 24 hours, by endpoint. The last of them is the current hour. */
export async function attemptHours(ctx: ProjectCtx): Promise<AttemptHours> {
  const first = new Date(hourOf(ctx.clock.now()) - (SHOWN_HOURS - 1) * HOUR_MS)
  const byEndpoint = Map.groupBy(await listHours(ctx, first), ({ endpoint_id }) => endpoint_id)
  return {
    first_hour: first,
    endpoints: [...byEndpoint].map(([endpoint_id, hours]) => ({
      endpoint_id,
      hours: hours.map(({ endpoint_id: _, ...hour }) => hour),
    })),
  }
}

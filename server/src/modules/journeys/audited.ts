import { audits } from '../../infra/http/audited.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { getJourney } from './service.ts'
import { getSteps } from './versions/drafts.ts'

/** A journey with its steps and without its counts. */
async function stateOf(ctx: ProjectCtx, id: JourneyId): Promise<object> {
  const { stats: _, stats_at: __, ...journey } = await getJourney(ctx, id)
  const steps = Object.entries(await getSteps(ctx, id)).map(([key, { stats: _, stats_at: __, ...step }]) => [key, step])
  return { ...journey, steps: Object.fromEntries(steps) }
}

/** How writes of journeys are recorded in the audit log. */
export const journeyAudit = audits('journey', { id: 'journeyId', read: stateOf })

/** Journeys and their steps in replies. */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { registeredSteps } from '../positions/index.ts'
import { statsOfJourneys, statsOfSteps } from './insight/stats.ts'
import type { Journey, JourneyRow, Step, Steps } from './schema.ts'
import { settingsOf } from './versions/queries.ts'

/** Journeys for a reply, with their settings and statistics. */
export async function presentJourneys(ctx: ProjectCtx, rows: JourneyRow[]): Promise<Journey[]> {
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return []
  const settings = new Map((await settingsOf(ctx, ids)).map((row) => [row.journey_id, row.settings]))
  const statsOf = await statsOfJourneys(ctx, ids)
  return rows.map(({ description, live_version, is_held, drain_until, archived_at, ...row }) => {
    const own = settings.get(row.id) ?? {}
    return {
      ...row,
      ...(description !== null && { description }),
      ...(Object.keys(own).length > 0 && { settings: own }),
      ...(live_version !== null && { live_version }),
      ...(is_held && { is_held }),
      ...(drain_until !== null && { drain_until }),
      ...(archived_at !== null && { archived_at }),
      ...statsOf(row.id),
    }
  })
}

export const presentJourney = async (ctx: ProjectCtx, row: JourneyRow): Promise<Journey> =>
  (await presentJourneys(ctx, [row]))[0] as Journey

/** The steps of a version for a reply, with their ids and statistics. */
export async function presentSteps(ctx: ProjectCtx, journeyId: JourneyId, steps: Step[]): Promise<Steps> {
  if (steps.length === 0) return {}
  const ids = new Map((await registeredSteps(ctx, journeyId)).map(({ id, external_id }) => [external_id, id]))
  const statsOf = await statsOfSteps(ctx, journeyId)
  return Object.fromEntries(
    steps.map(({ external_id, ...step }) => [external_id, { id: ids.get(external_id) as number, ...step, ...statsOf(external_id) }]),
  )
}

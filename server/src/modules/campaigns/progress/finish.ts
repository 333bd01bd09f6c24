/** Campaigns come to their end, and variants to their winner, by what became of their messages. */
import { asSystem, type Ctx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { messageCountsOf } from '../../messages/index.ts'
import { findProject } from '../../projects/index.ts'
import { chooseWinner } from '../winner.ts'
import * as queries from './queries.ts'

const CAMPAIGNS_AT_ONCE = 500

/** Finishes the blasts of whose messages none is pending. Answers how many. */
export async function finishDone(ctx: Ctx): Promise<number> {
  let finished = 0
  let after = 0 as CampaignId
  for (;;) {
    const running = await queries.findRunning(ctx, after, CAMPAIGNS_AT_ONCE)
    for (const [projectId, campaigns] of Map.groupBy(running, ({ project_id }) => project_id)) {
      const inProject = asSystem(ctx, projectId, await findProject(ctx, projectId))
      const ids = campaigns.map(({ id }) => id)
      const tallies = await messageCountsOf(inProject, ids)
      const through = ids.filter((id) => (tallies.get(id)?.pending ?? 0) === 0)
      if (through.length > 0) finished += await queries.finish(inProject, through)
    }
    const last = running.at(-1)
    if (running.length < CAMPAIGNS_AT_ONCE || !last) return finished
    after = last.id
  }
}

/** Chooses the winners of tests that have lasted long enough. Answers how many. */
export async function chooseWinners(ctx: Ctx): Promise<number> {
  let chosen = 0
  for (const [projectId, campaigns] of Map.groupBy(await queries.findUndecided(ctx, CAMPAIGNS_AT_ONCE), ({ project_id }) => project_id)) {
    const inProject = asSystem(ctx, projectId, await findProject(ctx, projectId))
    const tallies = await messageCountsOf(
      inProject,
      campaigns.map(({ id }) => id),
    )
    for (const { id, winner, variants } of campaigns) {
      const choice = chooseWinner(winner.metric, variants.length, tallies.get(id)?.states ?? [])
      if (choice) chosen += await queries.saveWinner(inProject, id, choice.variant, choice.numbers)
    }
  }
  return chosen
}

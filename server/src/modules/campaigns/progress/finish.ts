/** Finishes campaigns and chooses winners by the counts of their messages. */
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { messageCountsOf } from '../../messages/index.ts'
import { inProject } from '../../projects/index.ts'
import { chooseWinner } from '../winner.ts'
import * as queries from './queries.ts'

const CAMPAIGNS_AT_ONCE = 500

/** Finishes the blasts that have no pending messages. Returns how many. */
export async function finishDone(ctx: Ctx): Promise<number> {
  let finished = 0
  let after = 0 as CampaignId
  for (;;) {
    const running = await queries.findRunning(ctx, after, CAMPAIGNS_AT_ONCE)
    for (const [projectId, campaigns] of Map.groupBy(running, ({ project_id }) => project_id)) {
      const ids = campaigns.map(({ id }) => id)
      finished += await inProject(ctx, projectId, async (ctx) => {
        const counts = await messageCountsOf(ctx, ids)
        const complete = ids.filter((id) => (counts.get(id)?.pending ?? 0) === 0)
        return complete.length > 0 ? queries.finish(ctx, complete) : 0
      })
    }
    const last = running.at(-1)
    if (running.length < CAMPAIGNS_AT_ONCE || !last) return finished
    after = last.id
  }
}

/** Chooses the winners of tests whose time is over. Returns how many. */
export async function chooseWinners(ctx: Ctx): Promise<number> {
  let chosen = 0
  for (const [projectId, campaigns] of Map.groupBy(await queries.findUndecided(ctx, CAMPAIGNS_AT_ONCE), ({ project_id }) => project_id)) {
    chosen += await inProject(ctx, projectId, (ctx) => chooseWinnersOf(ctx, campaigns))
  }
  return chosen
}

async function chooseWinnersOf(ctx: ProjectCtx, campaigns: queries.UndecidedCampaign[]): Promise<number> {
  const ids = campaigns.map(({ id }) => id)
  const counts = await messageCountsOf(ctx, ids)
  let chosen = 0
  for (const { id, winner, variants } of campaigns) {
    const choice = chooseWinner(winner.metric, variants.length, counts.get(id)?.states ?? [])
    if (choice) chosen += await queries.saveWinner(ctx, id, choice.variant, choice.numbers)
  }
  return chosen
}

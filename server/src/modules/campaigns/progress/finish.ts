/** Finishes campaigns and chooses winners by the counts of their messages. */
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { messageCountsOf } from '../../messages/index.ts'
import { eachAlone, failedIn, onItsOwn } from '../../projects/index.ts'
import { FINISH, WINNER } from '../job-names.ts'
import { chooseWinner } from '../winner.ts'
import * as queries from './queries.ts'

const CAMPAIGNS_AT_ONCE = 500

/** Finishes the blasts that have no pending messages. Returns how many. */
export async function finishDone(ctx: Ctx): Promise<number> {
  let finished = 0
  let after = 0 as CampaignId
  for (;;) {
    const running = await queries.findRunning(ctx, after, failedIn(ctx, FINISH), CAMPAIGNS_AT_ONCE)
    const ofProjects = [...Map.groupBy(running, ({ project_id }) => project_id)]
    finished += await eachAlone(
      ctx,
      FINISH,
      ofProjects.map(([project_id, campaigns]) => ({ project_id, ids: campaigns.map(({ id }) => id) })),
      finishComplete,
    )
    const last = running.at(-1)
    if (running.length < CAMPAIGNS_AT_ONCE || !last) return finished
    after = last.id
  }
}

async function finishComplete(ctx: ProjectCtx, { ids }: { ids: CampaignId[] }): Promise<number> {
  const counts = await messageCountsOf(ctx, ids)
  const complete = ids.filter((id) => (counts.get(id)?.pending ?? 0) === 0)
  return complete.length > 0 ? queries.finish(ctx, complete) : 0
}

/** Chooses the winners of tests whose time is over. Returns how many. */
export async function chooseWinners(ctx: Ctx): Promise<number> {
  const undecided = await queries.findUndecided(ctx, failedIn(ctx, WINNER), CAMPAIGNS_AT_ONCE)
  return eachAlone(ctx, WINNER, undecided.map(onItsOwn), chooseWinnerOf)
}

async function chooseWinnerOf(ctx: ProjectCtx, { id, winner, variants }: queries.UndecidedCampaign): Promise<number> {
  const counts = await messageCountsOf(ctx, [id])
  const choice = chooseWinner(winner.metric, variants.length, counts.get(id)?.states ?? [])
  return choice ? queries.saveWinner(ctx, id, choice.variant, choice.numbers) : 0
}

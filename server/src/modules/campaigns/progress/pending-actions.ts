/** What a write left to be done to the messages of a campaign: as many transactions as it takes, each of them short. */
import { LRUCache } from 'lru-cache'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import { abortMessages, type Chunk, holdMessages, type IdRange, messageCountsOf, releaseMessages } from '../../messages/index.ts'
import { inProject } from '../../projects/index.ts'
import type { PendingAction } from '../schema.ts'
import type { CampaignState } from '../states.ts'
import * as queries from './queries.ts'

const CHUNK_MESSAGES = 5000
const CAMPAIGNS_AT_ONCE = 20

/** One chunk of each chore. Answers how much was done. */
export async function runPendingActions(ctx: Ctx, chunkMessages: number = CHUNK_MESSAGES): Promise<number> {
  let done = 0
  for (const { id, project_id } of await queries.findPendingActions(ctx, CAMPAIGNS_AT_ONCE)) {
    done += await inProject(ctx, project_id, (ctx) => doChore(ctx, id, chunkMessages))
  }
  return done
}

/** How far this process has walked through the messages of a chore: only a hint, the last look begins at the beginning. */
const walked = new LRUCache<string, MessageId>({ max: CAMPAIGNS_AT_ONCE * 10 })

/** Goes on with a chore beside the senders; when nothing seems to be left it looks again, alone, and only then is the chore done. */
async function doChore(ctx: ProjectCtx, id: CampaignId, chunkMessages: number): Promise<number> {
  const chunk = await inTx(ctx, async (ctx) => {
    const held = await queries.holdChore(ctx, id, 'share')
    if (!held) return null
    const place = `${id}:${held.chore}`
    const { changed, last } = await WORK[held.chore](ctx, id, held.state, { after: walked.get(place) ?? null, limit: chunkMessages })
    if (last === null) walked.delete(place)
    else walked.set(place, last)
    return changed
  })
  if (chunk !== 0) return chunk ?? 0
  return inTx(ctx, async (ctx) => {
    const held = await queries.holdChore(ctx, id, 'update')
    if (!held) return 0
    const { changed } = await WORK[held.chore](ctx, id, held.state, { after: null, limit: chunkMessages })
    if (changed > 0 || !(await isThrough(ctx, id, held.state))) return changed
    return queries.endChore(ctx, id)
  })
}

const WORK: Record<PendingAction, (ctx: InTx, id: CampaignId, state: CampaignState, walk: IdRange) => Promise<Chunk>> = {
  hold: (ctx, id, _, walk) => holdMessages(ctx, id, walk),
  release: (ctx, id, _, walk) => releaseMessages(ctx, id, walk),
  take_back: (ctx, id, state, walk) => abortMessages(ctx, id, state === 'aborting' ? 'rescheduled' : 'campaign_stopped', walk),
}

/** Before a blast is scheduled anew, what providers were being handed must have come to an end: it may come back. */
const isThrough = async (ctx: InTx, id: CampaignId, state: CampaignState): Promise<boolean> =>
  state !== 'aborting' || ((await messageCountsOf(ctx, [id])).get(id)?.pending ?? 0) === 0

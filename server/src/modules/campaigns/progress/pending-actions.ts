/** Carries out the pending actions of campaigns on their messages, in as many short transactions as needed. */
import { LRUCache } from 'lru-cache'
import { APPLY } from '../../../infra/queue/queue.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import {
  abortMessages,
  type Chunk,
  cancelOfCampaign,
  hasEmailOf,
  holdMessages,
  type IdRange,
  messageCountsOf,
  releaseMessages,
  releaseOfCampaign,
  SEND_JOBS,
} from '../../messages/index.ts'
import { eachAlone, failedIn, onItsOwn } from '../../projects/index.ts'
import { LAUNCH, PENDING_ACTIONS } from '../job-names.ts'
import type { PendingAction } from '../schema.ts'
import type { CampaignState } from '../states.ts'
import * as queries from './queries.ts'

const CHUNK_MESSAGES = 5000
const CAMPAIGNS_AT_ONCE = 20

/** Carries out one chunk of each pending action. Returns the number of messages changed and actions completed. */
export async function runPendingActions(ctx: Ctx, chunkMessages: number = CHUNK_MESSAGES): Promise<number> {
  let done = 0
  let after = 0 as CampaignId
  for (;;) {
    const pending = await queries.findPendingActions(ctx, after, failedIn(ctx, PENDING_ACTIONS), CAMPAIGNS_AT_ONCE)
    done += await eachAlone(ctx, PENDING_ACTIONS, pending.map(onItsOwn), (ctx, { id }) => runChunk(ctx, id, chunkMessages))
    const last = pending.at(-1)
    if (pending.length < CAMPAIGNS_AT_ONCE || !last) return done
    after = last.id
  }
}

/** The last message that this process has changed for each action. A hint only: the final check starts from the beginning. */
const progress = new LRUCache<string, MessageId>({ max: CAMPAIGNS_AT_ONCE * 10 })

/**
 * Works under a shared lock, so that senders are not blocked. When no message seems to be left, it checks again under an exclusive lock,
 * and only then completes the action.
 */
async function runChunk(ctx: ProjectCtx, id: CampaignId, chunkMessages: number): Promise<number> {
  const chunk = await inTx(ctx, async (ctx) => {
    const locked = await queries.lockPendingAction(ctx, id, 'share')
    if (!locked) return null
    const key = `${id}:${locked.pending_action}`
    const { changed, last } = await ACTIONS[locked.pending_action](ctx, id, locked.state, {
      after: progress.get(key) ?? null,
      limit: chunkMessages,
    })
    if (last === null) progress.delete(key)
    else progress.set(key, last)
    return changed
  })
  if (chunk !== 0) return chunk ?? 0
  return inTx(ctx, async (ctx) => {
    const locked = await queries.lockPendingAction(ctx, id, 'update')
    if (!locked) return 0
    const { changed } = await ACTIONS[locked.pending_action](ctx, id, locked.state, { after: null, limit: chunkMessages })
    if (changed > 0 || !(await isComplete(ctx, id, locked))) return changed
    ctx.wake(LAUNCH)
    return queries.endPendingAction(ctx, id)
  })
}

const ACTIONS: Record<PendingAction, (ctx: InTx, id: CampaignId, state: CampaignState, range: IdRange) => Promise<Chunk>> = {
  // Queued email is held when it is due.
  hold: (ctx, id, _, range) => holdMessages(ctx, id, range),
  release: async (ctx, id, _, range) => {
    await releaseOfCampaign(ctx, id)
    for (const job of Object.values(SEND_JOBS)) ctx.wake(job)
    return releaseMessages(ctx, id, range)
  },
  withdraw: async (ctx, id, state, range) => {
    // The outcomes of messages of journeys are in the queue.
    ctx.wake(APPLY)
    const reason = state === 'aborting' ? 'rescheduled' : 'campaign_stopped'
    const cancelled = await cancelOfCampaign(ctx, id, reason)
    if (cancelled > 0) return { changed: cancelled, last: range.after }
    return (await hasWaiting(ctx, id)) ? abortMessages(ctx, id, reason, range) : { changed: 0, last: null }
  },
}

/** Asked first, because a trigger has all messages of its time, which would be read again and again while one of them is in flight. */
const hasWaiting = async (ctx: InTx, id: CampaignId): Promise<boolean> => {
  const states = (await messageCountsOf(ctx, [id])).get(id)?.states ?? []
  return states.some(({ state, messages }) => (state === 'queued' || state === 'deferred') && messages > 0)
}

/**
 * A blast is scheduled again, and a finished trigger has nothing withdrawn any more, only when no message and no email is in flight, because
 * those may still be returned to a queue. Messages first: a message that leaves meanwhile is in the mail queue then.
 */
const isComplete = async (ctx: InTx, id: CampaignId, { state, pending_action }: queries.PendingActionRow): Promise<boolean> => {
  if (pending_action !== 'withdraw' || (state !== 'aborting' && state !== 'finished')) return true
  const pending = (await messageCountsOf(ctx, [id])).get(id)?.pending ?? 0
  return pending === 0 && !(await hasEmailOf(ctx, id))
}

/**
 * Turns the audience of a blast into messages, some thousands of users at a time. Each chunk is a short transaction that also saves
 * where the next one starts, so a crash leaves no chunk half done. Every user gets a message record, skipped users with the reason, so
 * that totals always reconcile.
 */
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, ListId, UserId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { audienceAfter, membersAmong } from '../../lists/index.ts'
import { BULK, planMessages, renewResent, SEND_JOBS, secondCopies, TRANSACTIONAL, withoutMessage } from '../../messages/index.ts'
import { eachAlone, failedIn, onItsOwn } from '../../projects/index.ts'
import { MERGE_DELAY_MAX_MS, mergesAfter } from '../../users/index.ts'
import { FINISH, LAUNCH, LOAD, WINNER } from '../job-names.ts'
import type { CampaignRow } from '../schema.ts'
import { membersOf } from './members.ts'
import { addresseesOf, planFor, skipped } from './plan.ts'
import * as queries from './queries.ts'
import { sendTimes } from './send-times.ts'

/** A chunk holds up the event loop in proportion to its size. */
const CHUNK_USERS = 2000
const CAMPAIGNS_AT_ONCE = 20

/** Launches the blasts that are due. Returns how many. */
export async function launchDue(ctx: Ctx): Promise<number> {
  const due = await queries.findDue(ctx, failedIn(ctx, LAUNCH), CAMPAIGNS_AT_ONCE)
  const launched = await eachAlone(ctx, LAUNCH, due.map(onItsOwn), (ctx, { id }) => queries.begin(ctx, id))
  if (launched > 0) ctx.wake(LOAD)
  return launched
}

/** Loads one chunk of each incomplete audience. Returns the number of users loaded plus the number of campaigns completed. */
export async function loadAudiences(ctx: Ctx, chunkUsers: number = CHUNK_USERS): Promise<number> {
  const unfinished = await queries.findUnfinished(ctx, failedIn(ctx, LOAD), CAMPAIGNS_AT_ONCE)
  const done = await eachAlone(ctx, LOAD, unfinished.map(onItsOwn), (ctx, { id }) => loadChunk(ctx, id, chunkUsers))
  const running = await queries.runLoaded(ctx)
  if (running > 0) for (const job of [FINISH, WINNER]) ctx.wake(job)
  return done + running
}

/** Loads one chunk of an audience. Returns 0 if another process is loading it or the campaign no longer loads. */
export const loadChunk = (ctx: ProjectCtx, id: CampaignId, chunkUsers: number): Promise<number> =>
  inTx(ctx, async (ctx) => {
    const audience = await queries.lockAudience(ctx, id)
    const campaign = audience && (await queries.lockLoading(ctx, id))
    if (!campaign) return 0
    const ids = await audienceAfter(ctx, campaign.list_ids as ListId[], audience.loaded_to, chunkUsers)
    if (ids.length > 0) await plan(ctx, campaign, ids)
    const loadedTo = ids.at(-1) ?? audience.loaded_to
    const isComplete = ids.length < chunkUsers
    if (isComplete) {
      await planMissed(ctx, campaign, loadedTo, chunkUsers)
      if ((await renewResent(ctx, campaign)) > 0) ctx.wake(SEND_JOBS[TRANSACTIONAL])
    }
    await queries.advance(ctx, id, loadedTo, isComplete)
    return ids.length
  })

/**
 * Plans for the users of an audience who have no message because a member was merged into them during the load. The load had not reached the
 * member, and had already passed the id of the remaining user. Merges of a whole day are looked at, which may be many, so that is done in chunks.
 */
async function planMissed(ctx: InTx, campaign: CampaignRow, loadedTo: UserId, chunkUsers: number): Promise<void> {
  const { id, list_ids, started_at } = campaign
  if (started_at === null) return
  let after = { merged_at: new Date(started_at.getTime() - MERGE_DELAY_MAX_MS), id: 0 as UserId }
  for (;;) {
    const merges = await mergesAfter(ctx, loadedTo, after, chunkUsers)
    const last = merges.at(-1)
    if (!last) return
    const members = await membersAmong(ctx, list_ids as ListId[], distinct(merges.map(({ merged_into }) => merged_into)))
    const missed = members.length === 0 ? [] : await withoutMessage(ctx, causeOf(id), members)
    if (missed.length > 0) await plan(ctx, campaign, missed)
    after = last
  }
}

const causeOf = (id: CampaignId) => `campaign:${id}`

async function plan(ctx: InTx, campaign: CampaignRow, ids: UserId[]): Promise<void> {
  const { id, channel, send_at, send_in_user_timezone, started_at } = campaign
  const members = await membersOf(ctx, campaign, ids)
  const now = ctx.clock.now()
  const timeIn = send_in_user_timezone && send_at !== null ? sendTimes(send_at, ctx.project.timezone) : () => now
  const common = { campaign_id: id, channel, priority: BULK, cause: causeOf(id), started_at }
  const planned = members.map((member) => planFor(campaign, member, timeIn, now))
  const second = await secondCopies(ctx, common, addresseesOf(channel, members, planned))
  await planMessages(
    ctx,
    common,
    planned.map((plan) => (second.has(plan.user_id) ? skipped(plan.user_id, 'duplicate_address', now) : plan)),
  )
  ctx.wake(SEND_JOBS[BULK])
}

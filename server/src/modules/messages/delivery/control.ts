/** Cancels, pauses and resumes email that waits in the mail queue, and has it tried again now. */
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import {
  claimToCancel,
  countClaimed,
  DELIVER_JOBS,
  deletePause,
  findMails,
  hasUnfinishedMail,
  insertPause,
  type MailFilter,
  makeDue,
  type Pause,
  releaseHeld,
} from '../../mta/index.ts'
import { countAttempted } from '../messages.queries.ts'
import { leaseMs } from '../sending/lease.ts'
import { attemptOf, groupsOf } from './attempt.ts'
import { finishAttempts } from './finish.ts'

type Reason = 'campaign_stopped' | 'rescheduled' | 'requested'

const CANCELLED_AT_ONCE = 500
const CHANGED_AT_ONCE = 5000

/** Cancels waiting email, some at a time. Returns how many recipients. */
export async function cancelMail(ctx: ProjectCtx, filter: MailFilter): Promise<number> {
  let cancelled = 0
  for (let some = CANCELLED_AT_ONCE; some === CANCELLED_AT_ONCE; cancelled += some) {
    some = await inTx(ctx, (ctx) => cancelSome(ctx, filter, 'requested'))
  }
  return cancelled
}

/** Cancels some of the waiting email of a campaign that was stopped. Returns how many recipients. */
export const cancelOfCampaign = (ctx: InTx, campaign_id: CampaignId, reason: 'campaign_stopped' | 'rescheduled'): Promise<number> =>
  cancelSome(ctx, { campaign_id }, reason)

async function cancelSome(ctx: InTx, filter: MailFilter, reason: Reason): Promise<number> {
  const recipients = await claimToCancel(ctx, filter, CANCELLED_AT_ONCE, new Date(ctx.clock.now().getTime() + leaseMs(ctx)))
  if (recipients.length === 0) return 0
  const mails = new Map((await findMails(ctx, distinct(recipients.map(({ mail_id }) => mail_id)))).map((mail) => [mail.id, mail]))
  const claimed = recipients.flatMap((recipient) => {
    const mail = mails.get(recipient.mail_id)
    return mail ? [{ mail, recipient }] : []
  })
  const ended = { steps: [], startedAt: ctx.clock.now(), elapsedMs: 0, site: null, outcome: { is: 'cancelled' as const, reason } }
  await finishAttempts(
    ctx,
    groupsOf(claimed).map((group) => attemptOf(ctx, group, ended)),
  )
  return recipients.length
}

/** Whether email of a campaign waits or is being delivered. */
export const hasEmailOf = (ctx: InTx, campaign_id: CampaignId): Promise<boolean> => hasUnfinishedMail(ctx, campaign_id)

/**
 * The number of messages of a campaign that senders are giving to providers right now, or have claimed to deliver them to mail hosts: of the
 * latter, those that are not begun yet go back to the queue.
 */
export const countInFlight = async (ctx: ProjectCtx | InTx, campaign_id: CampaignId): Promise<number> =>
  (await countAttempted(ctx, campaign_id)) + (await countClaimed(ctx, campaign_id))

/** Returns the held email of a campaign to the queue. */
export const releaseOfCampaign = (ctx: InTx, campaign_id: CampaignId): Promise<void> => release(ctx, { campaign_id })

/** In as many statements as needed: the time of each is limited, and a queue that was paused for long has millions. */
async function release(ctx: InTx, filter: MailFilter): Promise<void> {
  let last = await releaseHeld(ctx, filter, { limit: CHANGED_AT_ONCE })
  if (!last) return
  while (last?.found === CHANGED_AT_ONCE) last = await releaseHeld(ctx, filter, { limit: CHANGED_AT_ONCE, behind: last })
  for (const job of Object.values(DELIVER_JOBS)) ctx.wake(job)
}

/** Delivers no email of the project, of a campaign or to a site from now on, except for what is under way. */
export const pauseMail = (ctx: ProjectCtx, pause: Pause): Promise<unknown> => inTx(ctx, (ctx) => insertPause(ctx, pause))

/** Ends a pause. What became due meanwhile is delivered at once. */
export const resumeMail = (ctx: ProjectCtx, pause: Pause): Promise<void> =>
  inTx(ctx, async (ctx) => {
    await deletePause(ctx, pause)
    await release(ctx, filterOf(pause))
  })

const filterOf = ({ scope, value }: Pause): MailFilter =>
  scope === 'project' ? {} : scope === 'site' ? { site: value } : { campaign_id: Number(value) as CampaignId }

/** Makes waiting email due now. Returns how many recipients. */
export async function retryMail(ctx: ProjectCtx, filter: MailFilter): Promise<number> {
  let changed = 0
  const retrySome = (behind?: Awaited<ReturnType<typeof makeDue>>) =>
    inTx(ctx, async (ctx) => {
      const some = await makeDue(ctx, filter, { limit: CHANGED_AT_ONCE, behind })
      changed += some?.changed ?? 0
      if (some) for (const job of Object.values(DELIVER_JOBS)) ctx.wake(job)
      return some
    })
  let last = await retrySome()
  while (last?.found === CHANGED_AT_ONCE) last = await retrySome(last)
  return changed
}

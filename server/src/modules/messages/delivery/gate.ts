/** What keeps claimed emails from being delivered now: their campaign, a pause, their time, a suppression, or an opt-out. */
import { inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { gathered } from '../../../infra/runtime/gathered.ts'
import { distinct } from '../../../lib/shapes.ts'
import { type ClaimedRecipient, DELIVER_JOBS, findPauses, type MailRow, type Pause, saveMailResults } from '../../mta/index.ts'
import { isSending, resultOfStop, type SendingCampaign } from '../eligibility.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { type Campaigns, type Claimed, refusalsOf, transactionalAmong } from './refusals.ts'
import { decide, type Outcome, UNSAVED } from './results.ts'

/** Those that may be delivered to now unless their site is paused, and those that have an outcome without an attempt. */
export type Gated = {
  open: Claimed[]
  done: (Claimed & { outcome: Outcome })[]
  pausedSites: ReadonlySet<string>
  /** Whether an email is transactional. Reads the subscription types of all open emails when it is first called. */
  isTransactional(mail: MailRow): Promise<boolean>
}

/** What a process knows of what it sends. */
type Known = { findSendingCampaigns: FindSendingCampaigns; isUnsavable(ctx: ProjectCtx, recipient: ClaimedRecipient): boolean }

/** Checks claimed recipients. Those of a paused campaign, project or site are put aside until it is resumed. */
export async function checkGate(ctx: ProjectCtx, { findSendingCampaigns, isUnsavable }: Known, claimed: Claimed[]): Promise<Gated> {
  const ids = distinct(claimed.flatMap(({ mail }) => mail.campaign_id ?? []))
  const campaigns = new Map((await findSendingCampaigns(ctx, ids)).map((campaign) => [campaign.id, campaign]))
  const allPauses = await findPauses(ctx)
  const pauses = pausesOf(allPauses)
  const now = ctx.clock.now()
  const refusalOf = await refusalsOf(ctx, claimed, campaigns, now)
  const pausedSites = new Set(allPauses.flatMap(({ scope, value }) => (scope === 'site' ? [value] : [])))
  let types: ReturnType<typeof transactionalAmong> | undefined
  const isTransactional = async (mail: MailRow) => {
    types ??= transactionalAmong(ctx, gated.open, campaigns)
    return (await types)({ mail })
  }
  const gated: Gated = { open: [], done: [], pausedSites, isTransactional }
  const paused: Claimed[] = []
  for (const one of claimed) {
    const campaign = campaignOf(one.mail, campaigns)
    const outcome = isUnsavable(ctx, one.recipient) ? UNSAVED : outcomeBefore(one, campaign, refusalOf(one), now)
    if (outcome) gated.done.push({ ...one, outcome })
    else if (campaign?.is_paused || isPaused(pauses, one.mail, one.recipient.site)) paused.push(one)
    else gated.open.push(one)
  }
  if (paused.length > 0) await hold(ctx, findSendingCampaigns, paused)
  return gated
}

export const pausesOf = (pauses: Pause[]): ReadonlySet<string> => new Set(pauses.map(({ scope, value }) => `${scope}:${value}`))

type OfCampaign = Pick<MailRow, 'campaign_id'>

const isPaused = (pauses: ReadonlySet<string>, { campaign_id }: OfCampaign, site: string | null): boolean =>
  pauses.has('project:') || pauses.has(`campaign:${campaign_id}`) || pauses.has(`site:${site}`)

/** Null if the email has none, undefined if it was archived. */
const campaignOf = ({ campaign_id }: OfCampaign, campaigns: Campaigns): SendingCampaign | null | undefined =>
  campaign_id === null ? null : campaigns.get(campaign_id)

/** Whether email to a site is neither stopped nor paused. */
export function mayPass(mail: OfCampaign, site: string, campaigns: Campaigns, pauses: ReadonlySet<string>): boolean {
  const campaign = campaignOf(mail, campaigns)
  return campaign !== undefined && (campaign === null || mayDeliver(campaign)) && !isPaused(pauses, mail, site)
}

function outcomeBefore(
  { mail, recipient }: Claimed,
  campaign: SendingCampaign | null | undefined,
  refusal: Outcome | null,
  now: Date,
): Outcome | null {
  // It was erased while it was being delivered to.
  if (recipient.address === '') return { is: 'cancelled', reason: 'requested' }
  if (campaign === undefined) return { is: 'cancelled', reason: 'campaign_stopped' }
  if (campaign && !campaign.is_paused && !mayDeliver(campaign)) {
    // Its email was withdrawn to be sent at another time: its next audience has these messages again.
    const isRescheduled = resultOfStop(campaign, now).state === 'deferred'
    return { is: 'cancelled', reason: isRescheduled ? 'rescheduled' : 'campaign_stopped' }
  }
  if (now >= mail.expires_at) return { is: 'expired' }
  return refusal
}

/** A campaign is finished when its last message is in the queue. */
const mayDeliver = (campaign: SendingCampaign): boolean => isSending(campaign) || (campaign.state === 'finished' && !campaign.is_paused)

/**
 * Puts emails aside. The campaigns and the pauses are locked meanwhile: what resumes them finds these emails afterwards. Those that were
 * resumed just now are due at once.
 */
async function hold(ctx: ProjectCtx, findSendingCampaigns: FindSendingCampaigns, paused: Claimed[]): Promise<void> {
  await inTx(ctx, async (ctx) => {
    const ids = distinct(paused.flatMap(({ mail }) => mail.campaign_id ?? []))
    const campaigns = new Map((await findSendingCampaigns(ctx, ids, 'share')).map((campaign) => [campaign.id, campaign]))
    const pauses = pausesOf(await findPauses(ctx, 'share'))
    const at = ctx.clock.now()
    const results = paused.map(({ mail, recipient }) => {
      const isHeld = (mail.campaign_id !== null && campaigns.get(mail.campaign_id)?.is_paused) || isPaused(pauses, mail, recipient.site)
      const outcome: Outcome = isHeld ? { is: 'held' } : { is: 'postponed', until: at, limit: null }
      return decide(mail, recipient, outcome, recipient.site, { at, random: 0, ownAddresses: () => [] }).result
    })
    await saveMailResults(ctx, results)
    for (const priority of new Set(paused.map(({ mail }) => mail.priority))) ctx.wake(DELIVER_JOBS[priority])
  })
}

type Putting = { ctx: ProjectCtx; findSendingCampaigns: FindSendingCampaigns; claimed: Claimed[] }

/** Emails of a project that are put aside at the same time share a transaction. */
const putAside = gathered<Putting, never>(async (_, puttings) => {
  const byProject = Map.groupBy(puttings, ({ ctx }) => ctx.projectId)
  await Promise.all(
    [...byProject.values()].map((some) => {
      const [{ ctx, findSendingCampaigns }] = some as [Putting]
      return hold(
        ctx,
        findSendingCampaigns,
        some.flatMap(({ claimed }) => claimed),
      )
    }),
  )
  return new Map<Putting, never>()
})

/** Puts an email aside that goes to a paused site, as its mail hosts tell. */
export async function holdAtSite(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  { mail, recipients }: { mail: MailRow; recipients: ClaimedRecipient[] },
  site: string,
): Promise<void> {
  await putAside(ctx, { ctx, findSendingCampaigns, claimed: recipients.map((recipient) => ({ mail, recipient: { ...recipient, site } })) })
}

export const keyOf = ({ mail_id, no }: Pick<ClaimedRecipient, 'mail_id' | 'no'>): string => `${mail_id}.${no}`

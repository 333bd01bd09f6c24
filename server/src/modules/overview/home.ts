/** The state of a project at a glance. Each part is one bounded query, and the whole is kept for seconds. */
import { readPageRequest } from '../../infra/http/paging.ts'
import { backlogOf } from '../../infra/queue/backlog.ts'
import { cached } from '../../infra/runtime/cache.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { CHANNELS, type Channel } from '../../lib/channels.ts'
import type { CampaignId, ProjectId } from '../../lib/ids.ts'
import { DAY_MS } from '../../lib/times.ts'
import { campaignsInProgress, findCampaigns, findPausedCampaigns } from '../campaigns/index.ts'
import { domainListing, listDomains } from '../domains/index.ts'
import { dayOf } from '../events/index.ts'
import { countsOfChannels } from '../messages/index.ts'
import { findPauses } from '../mta/index.ts'
import { findDisabledEndpoints } from '../webhooks/index.ts'
import { problemsOf } from './problems.ts'
import { COUNTED, type Counts, type Overview } from './schema.ts'

const KEPT_MS = 5000
const PROJECTS_KEPT = 10_000
const SHOWN_MAX = 20
/** How many problems of a kind there may be. */
const PROBLEMS_MAX = 100
const WEEK_DAYS = 7

/** The overview of the project, at most five seconds old. */
export const getOverview = (ctx: ProjectCtx): Promise<Overview> => overviews.get(ctx, ctx.projectId)

const overviews = cached(PROJECTS_KEPT, KEPT_MS, (ctx, projectId: ProjectId) => readOverview({ ...(ctx as ProjectCtx), projectId }))

async function readOverview(ctx: ProjectCtx): Promise<Overview> {
  const [inProgress, campaigns, endpoints, domains, pauses, processing, channels] = [
    await campaignsInProgress(ctx, SHOWN_MAX),
    await findPausedCampaigns(ctx, PROBLEMS_MAX),
    await findDisabledEndpoints(ctx, PROBLEMS_MAX),
    (await listDomains(ctx, readPageRequest(domainListing, { limit: String(PROBLEMS_MAX) }).request)).results,
    await pausesThatHold(ctx),
    await backlogOf(ctx),
    await weeksOfChannels(ctx),
  ]
  const now = ctx.clock.now()
  return {
    problems: problemsOf({ campaigns, endpoints, domains, pauses, processing, channels, now }),
    sending: inProgress.map(({ id, name, channel, state, is_paused = false, delivery: { sent, total }, started_at = null }) => ({
      campaign_id: id,
      name,
      channel,
      state,
      is_paused,
      sent,
      total,
      started_at,
    })),
    processing,
    channels,
    read_at: now,
  }
}

/** The pauses of email, without those of campaigns that have no more to send: only a resumption ends a pause. */
async function pausesThatHold(ctx: ProjectCtx) {
  const pauses = await findPauses(ctx)
  const ids = pauses.flatMap(({ scope, value }) => (scope === 'campaign' ? [Number(value) as CampaignId] : []))
  const campaigns = ids.length === 0 ? [] : await findCampaigns(ctx, ids)
  const open = new Set(campaigns.filter(({ state }) => state !== 'aborted').map(({ id }) => String(id)))
  return pauses.filter(({ scope, value }) => scope !== 'campaign' || open.has(value))
}

/** The channels with messages that were sent or failed. Each message is counted in its state, so that no rate mixes messages of two bases. */
async function weeksOfChannels(ctx: ProjectCtx): Promise<Overview['channels']> {
  const day = (ago: number) => dayOf(new Date(ctx.clock.now().getTime() - ago * DAY_MS))
  const [today, weekStart, start] = [day(0), day(WEEK_DAYS - 1), day(2 * WEEK_DAYS - 1)]
  const rows = (await countsOfChannels(ctx, { from: start, to: today }, weekStart)).filter(({ sent, failed }) => sent + failed > 0)
  const of = (channel: Channel, isBefore: boolean) => {
    const row = rows.find((row) => row.channel === channel && row.is_before === isBefore)
    return Object.fromEntries(COUNTED.map((what) => [what, row?.[what] ?? 0])) as Counts
  }
  return CHANNELS.filter((channel) => rows.some((row) => row.channel === channel)).map((channel) => ({
    channel,
    last_7_days: of(channel, false),
    previous_7_days: of(channel, true),
  }))
}

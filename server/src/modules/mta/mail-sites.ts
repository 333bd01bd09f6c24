/**
 * What a project sees of the sites that it sends email to, and sets for them (D-MTA-33); and how several processes share the limits of a
 * site (D-MTA-34).
 */
import { mapPage, type PageRequest } from '../../infra/http/paging.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../lib/times.ts'
import * as queries from './mail-sites.queries.ts'
import type { MailSite, MailSiteInput, MailSiteRow, ProjectLimits } from './mail-sites.schema.ts'
import { PROVIDERS } from './shaping/providers.ts'
import type { SiteSnapshot } from './shaping/scheduler.ts'
import { limitsOf } from './shaping/sites.ts'

/** Counts are kept for so long. */
const KEPT_DAYS = 30
const PURGED_AT_ONCE = 100
const REPLY_LENGTH_MAX = 500

/** Counts the results of attempts at sites, in the transaction that saves them. The argument has each site at most once. */
export async function recordSiteResults(ctx: InTx, results: queries.SiteResults[]): Promise<void> {
  if (results.length === 0) return
  const shortened = results.map((result) => ({ ...result, last_reply: result.last_reply?.slice(0, REPLY_LENGTH_MAX) ?? null }))
  await queries.addResults(ctx, shortened)
  await queries.purgeHours(ctx, new Date(ctx.clock.now().getTime() - KEPT_DAYS * DAY_MS), PURGED_AT_ONCE)
}

export async function listMailSites(ctx: ProjectCtx, page: PageRequest) {
  const rows = await queries.listSites(ctx, page)
  const states = await statesOf(
    ctx,
    rows.results.map(({ site }) => site),
  )
  return mapPage(rows, (row) => present(ctx, row, states))
}

/** Throws 404 for a site that is not a provider and to which the project has sent nothing. */
export async function setMailSite(ctx: ProjectCtx, site: string, { limits }: MailSiteInput): Promise<MailSite> {
  const provider = PROVIDERS.find(({ key }) => key === site)
  const isSet = limits !== null && Object.keys(limits).length > 0
  await queries.saveLimits(ctx, site, provider?.label ?? null, isSet ? limits : null)
  return getMailSite(ctx, site)
}

/** Throws 404. */
export async function getMailSite(ctx: ProjectCtx, site: string): Promise<MailSite> {
  const row = await queries.findSite(ctx, site)
  if (!row) throw missing('mail site')
  return present(ctx, row, await statesOf(ctx, [site]))
}

const statesOf = (ctx: ProjectCtx, sites: string[]) => queries.statesOf(ctx, sites, new Date(ctx.clock.now().getTime() - LIVE_MS))

/** The states in which a process may be, the worst first. */
const WORST_FIRST = ['suspended', 'probing', 'slowed', 'open'] as const

function present(ctx: ProjectCtx, row: MailSiteRow, states: queries.StateRow[]): MailSite {
  const now = ctx.clock.now().getTime()
  const { site, label, limits, last_reply, last_replied_at, delivered, deferred, bounced } = row
  // Slowing and suspensions end by themselves.
  const current = states.filter((one) => one.site === site && (one.state === 'probing' || one.until > now))
  const worst = WORST_FIRST.map((state) => current.find((one) => one.state === state)).find((found) => found !== undefined)
  const attempts = Math.max(1, delivered + deferred + bounced)
  return {
    site,
    label,
    state: worst?.state ?? 'open',
    state_until: worst && worst.until > now ? new Date(worst.until) : null,
    state_reason: worst?.because ?? null,
    limits: limitsOf(site, ctx.config.MTA_LIMITS),
    project_limits: limits,
    last_reply,
    last_replied_at,
    last_24_hours: { delivered, deferred, bounced, deferral_share: deferred / attempts, bounce_share: bounced / attempts },
  }
}

/** The limits that the project set, by site. */
export const projectLimitsOf = async (ctx: ProjectCtx): Promise<Map<string, ProjectLimits>> =>
  new Map((await queries.findLimits(ctx)).map(({ site, limits }) => [site, limits]))

const REPORT_EVERY_MS = 5 * SECOND_MS
/** A process that has not reported for so long delivers nothing. */
const LIVE_MS = 20 * SECOND_MS
const REPORTED_MAX = 500

/** How many processes deliver email, this one included, as far as this one knows. */
export type ProcessShare = {
  count(): number
  /** Reports that this process delivers, and finds the others. Does nothing if it reported seconds ago. */
  report(ctx: Ctx, sites: () => SiteSnapshot[]): Promise<void>
}

/** `id` is that of this process. */
export function createProcessShare(id: string): ProcessShare {
  let count = 1
  let reportedAt = 0
  return {
    count: () => count,
    async report(ctx, sites) {
      const now = ctx.clock.now().getTime()
      if (now - reportedAt < REPORT_EVERY_MS && now >= reportedAt) return
      reportedAt = now
      const notable = sites().filter((site) => site.is !== 'open')
      count = await queries.reportProcess(
        ctx,
        id,
        notable.slice(0, REPORTED_MAX).map(({ key, is, until, because }) => ({ key, is, until, because })),
        { since: new Date(now - LIVE_MS), goneSince: new Date(now - 2 * HOUR_MS) },
      )
    },
  }
}

/** Bounces and complaints of each mailbox provider by day, which show a trend (D-MTA-58). */
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import { addComplaint, daysOfSites, lastDeliveryHour } from './mail-site-days.queries.ts'
import type { MailSiteDays } from './mail-sites.schema.ts'

/** Counts are kept for 30 days, so that the first day shown is whole. */
const SHOWN_DAYS = 29
const SITES_MAX = 20

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** The days (UTC), up to today, of the sites to which the project sends the most. */
export async function listMailSiteDays(ctx: ProjectCtx): Promise<MailSiteDays> {
  const now = ctx.clock.now().getTime()
  const first = dayOf(now - (SHOWN_DAYS - 1) * DAY_MS)
  const rows = await daysOfSites(ctx, new Date(first), SITES_MAX)
  const bySite = Map.groupBy(rows, ({ site }) => site)
  return {
    first_day: first,
    last_day: dayOf(now),
    sites: [...bySite].map(([site, days]) => ({
      site,
      label: days[0]?.label ?? site,
      days: days.map(({ day, delivered, bounced, complained }) => ({ day, delivered, bounced, complained })),
    })),
  }
}

/** Counts a complaint for the site that the email went to. Does nothing for null, when the site is no longer known. */
export async function recordSiteComplaint(ctx: InTx, site: string | null): Promise<void> {
  if (site !== null) await addComplaint(ctx, site)
}

/** When a host last accepted an email of the project, to the end of the hour. Null if none has since an instant. */
export async function lastDeliveryBy(ctx: InTx, since: Date): Promise<Date | null> {
  const last = await lastDeliveryHour(ctx, new Date(since.getTime() - HOUR_MS))
  return last ? new Date(last.hour.getTime() + HOUR_MS) : null
}

import { afterCommit, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { fault, missing } from '../../../lib/errors.ts'
import type { DomainId } from '../../../lib/ids.ts'
import { findDomain } from '../queries.ts'
import { forgetPlans } from './allowance.ts'
import * as queries from './queries.ts'
import type { SiteRow, WarmUp, WarmUpInput, WarmUpRow } from './schema.ts'
import { ceilingToday, DEFAULT_STEPS, dayOf, stepToday } from './stages.ts'

const SITES_SHOWN_MAX = 100
const DEFAULTS = { is_active: true, steps: [...DEFAULT_STEPS], bounce_percent_max: 5, deferral_percent_max: 20, is_per_address: false }

/** The plan of a domain with the state of its mail sites. Throws 404. */
export async function getWarmUp(ctx: ProjectCtx, id: DomainId): Promise<WarmUp> {
  const plan = await queries.findWarmUp(ctx, id)
  if (!plan) throw missing('warm-up plan')
  return present(ctx, plan, await queries.findSites(ctx, id, SITES_SHOWN_MAX))
}

/** Sets the plan of a domain. Members that are left out get their defaults; mail sites keep their steps. Throws 404 and 422. */
export async function setWarmUp(ctx: ProjectCtx, id: DomainId, input: WarmUpInput): Promise<WarmUp> {
  const domain = await findDomain(ctx, id)
  if (!domain) throw missing('domain')
  if (domain.sending_domain === null) throw fault('validation_failed', 'sending_domain', 'The domain is for links only. It sends no email.')
  const plan = { ...DEFAULTS, ...input }
  if (plan.steps.some((ceiling, at) => ceiling < (plan.steps[at - 1] ?? 0))) {
    throw fault('validation_failed', 'steps', 'The values of `steps` must not decrease.')
  }
  if (plan.is_per_address && ctx.config.MTA_SOURCE_ADDRESSES.length > 1) {
    const reason = 'This server sends from several addresses in turn, which cannot be warmed up separately. Leave `is_per_address` out.'
    throw fault('validation_failed', 'is_per_address', reason)
  }
  await inTx(ctx, (ctx) => queries.saveWarmUp(ctx, id, plan))
  afterCommit(ctx, forgetPlans)
  return getWarmUp(ctx, id)
}

function present(ctx: ProjectCtx, plan: WarmUpRow, sites: SiteRow[]): WarmUp {
  const today = dayOf(ctx.clock.now())
  return {
    ...plan,
    sites: sites.map((row) => {
      const { sent, bounced, deferred } = row.day < today ? { sent: 0, bounced: 0, deferred: 0 } : row
      const { site, source_address } = row
      return {
        site,
        source_address,
        step: stepToday(plan, row, today) + 1,
        ceiling: ceilingToday(plan, row, today),
        sent,
        bounced,
        deferred,
      }
    }),
  }
}

import { type Paging, textOf } from '../../parts/paging.ts'
import { type Period, periodOf } from '../../parts/period.ts'

export const CHANNELS = ['email', 'text', 'push', 'webhook', 'in_app'] as const
export const STATES = [
  'queued',
  'claimed',
  'deferred',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'unknown',
  'skipped',
  'failed',
  'aborted',
] as const

/** The filters, which are members of the address. */
export type Filters = {
  q?: string
  channel?: (typeof CHANNELS)[number]
  state?: (typeof STATES)[number]
  period?: Period
  /** An external id. */
  user?: string
  campaign_id?: string
  journey_id?: string
  /** The kind of a provider. */
  provider?: string
  reason?: string
  domain?: string
}

/** The address of the log: the filters, the page, and the message that is open beside it. */
export type LogSearch = Filters & Paging & { message?: number }

/** The filters whose values are not fixed. */
export const FREE = ['user', 'campaign_id', 'journey_id', 'provider', 'reason', 'domain'] as const

/** The filters of an address. */
export function filtersOf(search: Record<string, unknown>): Filters {
  const channel = CHANNELS.find((name) => name === search.channel)
  const state = STATES.find((name) => name === search.state)
  const period = periodOf(search.period)
  const free = (['q', ...FREE] as const).flatMap((name) => {
    const value = textOf(search[name])
    return value === undefined ? [] : [[name, value]]
  })
  return { ...(channel && { channel }), ...(state && { state }), ...(period && { period }), ...Object.fromEntries(free) }
}

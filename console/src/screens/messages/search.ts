import type { Paging } from '../../parts/paging.ts'

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

/** How far back the log goes, with the hours. */
export const PERIODS = { hour: 1, day: 24, week: 168, month: 720 } as const
export type Period = keyof typeof PERIODS

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
  reason?: string
  domain?: string
}

/** The address of the log: the filters, the page, and the message that is open beside it. */
export type LogSearch = Filters & Paging & { message?: number }

const FREE = ['q', 'user', 'campaign_id', 'journey_id', 'reason', 'domain'] as const

/** The filters of an address. Numbers are ids: the router reads them as such. */
export function filtersOf(search: Record<string, unknown>): Filters {
  const channel = CHANNELS.find((name) => name === search.channel)
  const state = STATES.find((name) => name === search.state)
  const period = (Object.keys(PERIODS) as Period[]).find((name) => name === search.period)
  const free = FREE.flatMap((name) => {
    const value = search[name]
    return (typeof value === 'string' && value !== '') || typeof value === 'number' ? [[name, String(value)]] : []
  })
  return { ...(channel && { channel }), ...(state && { state }), ...(period && { period }), ...Object.fromEntries(free) }
}

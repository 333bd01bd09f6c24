import { CHANNELS, type Channel } from '../../parts/channels.ts'
import { MESSAGE_STATES, type MessageState } from '../../parts/message-states.ts'
import { type Paging, textOf } from '../../parts/paging.ts'
import { type Period, periodOf } from '../../parts/period.ts'

/** The filters, which are members of the address. */
export type Filters = {
  q?: string
  channel?: Channel
  state?: MessageState
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

/** The filters in a URL. */
export function filtersOf(search: Record<string, unknown>): Filters {
  const channel = CHANNELS.find((name) => name === search.channel)
  const state = MESSAGE_STATES.find((name) => name === search.state)
  const period = periodOf(search.period)
  const free = (['q', ...FREE] as const).flatMap((name) => {
    const value = textOf(search[name])
    return value === undefined ? [] : [[name, value]]
  })
  return { ...(channel && { channel }), ...(state && { state }), ...(period && { period }), ...Object.fromEntries(free) }
}

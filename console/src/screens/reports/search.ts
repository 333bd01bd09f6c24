import type { components } from '@carillon/sdk'
import { CHANNELS, type Channel } from '../../parts/channels.ts'
import { DAY_MS, dayOf } from '../../parts/days.ts'

export type Report = components['schemas']['MessageReport']
export type Counts = Report['total']

export const REPORT = '/api/client/reports/messages'

/** What a report counts, in the order of its tables. */
export const FIGURES = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed', 'failed'] as const
export type Figure = (typeof FIGURES)[number]

/** The figures of which a rise is bad. */
export const UNWANTED: readonly Figure[] = ['bounced', 'complained', 'unsubscribed', 'failed']

/**
 * The number that a rate of a figure is a share of: the sent messages, but all messages for `sent` and `failed`, because failed messages
 * were never sent.
 */
export const wholeOf = (figure: Figure, counts: Counts): number =>
  figure === 'sent' || figure === 'failed' ? counts.messages : counts.sent

export const RANGES = [7, 30, 90, 365] as const
const RANGE_DEFAULT = 30

/** The address: a number of days up to today, or a first and a last day; the filters; and the figure of the chart. */
export type ReportSearch = {
  days?: (typeof RANGES)[number]
  since?: string
  until?: string
  channel?: Channel
  campaign_id?: number
  journey_id?: number
  figure?: Figure
}

const DAY = /^\d{4}-\d\d-\d\d$/
const dayIn = (value: unknown) => (typeof value === 'string' && DAY.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined)

const idIn = (value: unknown) => (Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined)

/** Reads the search parameters of the URL. A last day without a first day is ignored. */
export function reportSearchOf(search: Record<string, unknown>): ReportSearch {
  const days = RANGES.find((days) => days === Number(search.days))
  const since = dayIn(search.since)
  const until = since && dayIn(search.until)
  const channel = CHANNELS.find((name) => name === search.channel)
  const figure = FIGURES.find((name) => name === search.figure)
  const [campaign_id, journey_id] = [idIn(search.campaign_id), idIn(search.journey_id)]
  return {
    ...(days && !since && { days }),
    ...(since && { since }),
    ...(until && { until }),
    ...(channel && { channel }),
    ...(campaign_id && { campaign_id }),
    ...(journey_id && { journey_id }),
    ...(figure && { figure }),
  }
}

/** The parameters of the request for the search parameters of a URL. `until` of the API is exclusive. */
export function queryOf({ days = RANGE_DEFAULT, since, until, channel, campaign_id, journey_id }: ReportSearch, now: number) {
  const last = until ? Date.parse(until) : null
  return {
    since: since ?? dayOf(now - (days - 1) * DAY_MS),
    ...(last !== null && { until: dayOf(last + DAY_MS) }),
    ...(channel && { channel }),
    ...(campaign_id && { campaign_id: String(campaign_id) }),
    ...(journey_id && { journey_id: String(journey_id) }),
  }
}

/** How much more than before, in per cent; null where there was nothing before. */
export const changeOf = (now: number, before: number): number | null => (before === 0 ? null : (100 * (now - before)) / before)

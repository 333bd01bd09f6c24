/** What happened to the messages of some days, beside the days before. */
import { type Static, Type } from 'typebox'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { CHANNELS } from '../../lib/channels.ts'
import type { CampaignId, JourneyId } from '../../lib/ids.ts'
import { Exact, IdOf, OneOf } from '../../lib/shapes.ts'
import { DAY_MS } from '../../lib/times.ts'
import { campaignNames } from '../campaigns/index.ts'
import { dayOf, daysOf, range } from '../events/index.ts'
import { journeyNames } from '../journeys/index.ts'
import { COUNTED_IN_DAYS, countsOfDays, type DayCounts } from '../messages/index.ts'

const CAMPAIGNS_MAX = 100
const JOURNEYS_MAX = 100
const ID = { pattern: '^[0-9]{1,15}$', problem: 'is not an id' }

export const ReportQuery = Exact({
  ...range,
  channel: Type.Optional(OneOf(CHANNELS, { description: 'Only messages of this channel.' })),
  campaign_id: Type.Optional(Type.String({ ...ID, description: 'Only messages of this campaign.' })),
  journey_id: Type.Optional(Type.String({ ...ID, description: 'Only messages of this journey.' })),
})
type ReportQuery = Static<typeof ReportQuery>

const DAY = '^\\d{4}-\\d\\d-\\d\\d$'
const Day = Type.String({ pattern: DAY, description: 'A day in UTC, such as `2026-11-23`.' })
const countsOf = (description: string) => Exact(COUNTED_IN_DAYS, { description })
type Counts = Static<ReturnType<typeof countsOf>>

const beside = { total: countsOf('The messages of the period.'), previous: countsOf('The messages of the comparison period.') }

export const MessageReport = Exact(
  {
    since: Day,
    until: Type.String({ pattern: DAY, description: 'The last day, inclusive.' }),
    previous_since: Type.String({
      pattern: DAY,
      description: 'The first day of the comparison period, which ends the day before `since`.',
    }),
    ...beside,
    days: Type.Array(Exact({ day: Day, ...COUNTED_IN_DAYS }), { description: 'Each day, including days without messages.' }),
    channels: Type.Array(Exact({ channel: OneOf(CHANNELS), ...beside }), { description: 'Channels with messages.' }),
    campaigns_total: Type.Integer({ description: 'The number of campaigns with messages.' }),
    campaigns: Type.Array(Exact({ campaign_id: IdOf<CampaignId>(), name: Type.String(), channel: OneOf(CHANNELS), ...beside }), {
      description: `At most ${CAMPAIGNS_MAX} campaigns, those with the most messages first.`,
    }),
    journeys_total: Type.Integer({ description: 'The number of journeys with messages.' }),
    journeys: Type.Array(Exact({ journey_id: IdOf<JourneyId>(), name: Type.String(), ...beside }), {
      description: `At most ${JOURNEYS_MAX} journeys, those with the most messages first.`,
    }),
  },
  { title: 'MessageReport' },
)
type MessageReport = Static<typeof MessageReport>

/** The report of the days of a query, and of as many days before. Throws 422 when they are too many. */
export async function readReport(ctx: ProjectCtx, query: ReportQuery): Promise<MessageReport> {
  const { since, until, channel, campaign_id, journey_id } = query
  const { from, to } = daysOf({ ...(since !== undefined && { since }), ...(until !== undefined && { until }) }, ctx.clock.now())
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const days = Array.from({ length: (last - first) / DAY_MS + 1 }, (_, index) => dayOf(new Date(first + index * DAY_MS)))
  const before = dayOf(new Date(first - days.length * DAY_MS))
  const only = { channel, campaign_id: numberOf(campaign_id), journey_id: numberOf(journey_id) }
  const rows = await countsOfDays(ctx, { from: before, to, ...only }, from)
  const ofDays = rows.filter(({ day }) => day !== null)
  const byDay = new Map(ofDays.map((row) => [row.day, row]))
  const ofChannels = rows.filter(({ channel, campaign_id }) => channel !== null && campaign_id === null)
  return {
    since: from,
    until: to,
    previous_since: before,
    ...compared(ofDays),
    days: days.map((day) => ({ day, ...sumOf(byDay.has(day) ? [byDay.get(day) as DayCounts] : []) })),
    channels: [...Map.groupBy(ofChannels, ({ channel }) => channel)].map(([, rows]) => ({ ...channelOf(rows), ...compared(rows) })),
    ...(await campaignsOf(ctx, rows)),
    ...(await journeysOf(ctx, rows)),
  }
}

const numberOf = (id: string | undefined) => (id === undefined ? undefined : Number(id))

async function campaignsOf(ctx: ProjectCtx, rows: DayCounts[]) {
  const all = ranked(rows, ({ campaign_id }) => campaign_id)
  const shown = all.slice(0, CAMPAIGNS_MAX)
  const found = await campaignNames(
    ctx,
    shown.map(({ id }) => id),
  )
  const names = new Map(found.map(({ id, name }) => [id, name]))
  const campaigns = shown.map(({ id, rows, ...counts }) => ({
    campaign_id: id,
    ...channelOf(rows),
    ...counts,
    name: names.get(id) ?? '',
  }))
  return { campaigns_total: all.length, campaigns }
}

async function journeysOf(ctx: ProjectCtx, rows: DayCounts[]) {
  const all = ranked(rows, ({ journey_id }) => journey_id || null)
  const shown = all.slice(0, JOURNEYS_MAX)
  const names = await journeyNames(
    ctx,
    shown.map(({ id }) => id),
  )
  const journeys = shown.map(({ id, rows: _, ...counts }) => ({ journey_id: id, ...counts, name: names.get(id) ?? '' }))
  return { journeys_total: all.length, journeys }
}

/** The rows with an id, together by it, those with the most messages first. What has none in the days themselves is left out. */
const ranked = <Id extends number>(rows: DayCounts[], idOf: (row: DayCounts) => Id | null) =>
  [...Map.groupBy(rows, idOf)]
    .flatMap(([id, rows]) => (id === null ? [] : [{ id, rows, ...compared(rows) }]))
    .filter(({ total }) => total.messages > 0)
    .sort((a, b) => b.total.messages - a.total.messages || a.id - b.id)

const NAMES = Object.keys(COUNTED_IN_DAYS) as (keyof Counts)[]

const sumOf = (rows: DayCounts[]): Counts =>
  Object.fromEntries(NAMES.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)])) as Counts

const compared = (rows: DayCounts[]) => ({
  total: sumOf(rows.filter(({ is_before }) => !is_before)),
  previous: sumOf(rows.filter(({ is_before }) => is_before)),
})

const channelOf = (rows: DayCounts[]) => ({ channel: rows[0]?.channel ?? 'email' })

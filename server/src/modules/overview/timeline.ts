/** What a user did and what happened to them, in one stream: events, among them those about messages, and journeys. */
import { mapPage, type PageOf, type PageRequest } from '../../infra/http/paging.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { CHANNELS } from '../../lib/channels.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { listTimeline } from '../events/index.ts'
import { journeyNames } from '../journeys/index.ts'
import { type JourneyUserRow, journeysOfUsers } from '../positions/index.ts'
import { findIdsOf, requireUser } from '../users/index.ts'
import type { UserTimelineItem } from './schema.ts'

const JOURNEYS_MAX = 200

/**
 * A page of the timeline of a user. The events decide where it begins and ends; what happened in journeys within that time is added, so a
 * page can have more items than its limit. Throws 404.
 */
export async function readUserTimeline(ctx: ProjectCtx, name: string, page: PageRequest): Promise<PageOf<UserTimelineItem>> {
  const { id } = await requireUser(ctx, name)
  const events = mapPage(await listTimeline(ctx, name, {}, page), ({ name, data, created_at, source, journey_id }) => ({
    kind: source === 'system' ? kindOf(name) : ('event' as const),
    name,
    data: { ...data, ...(journey_id !== undefined && { journey_id }) },
    source,
    created_at,
  }))
  if (page.limit === 0 || page.q !== '') return events
  const rows = await journeysOfUsers(ctx, await findIdsOf(ctx, id), JOURNEYS_MAX)
  const names = await journeyNames(
    ctx,
    rows.map(({ journey_id }) => journey_id),
  )
  const isWithin = rangeOf(page, events)
  const ofJourneys = rows.flatMap((row) => momentsOf(row, names)).filter(({ created_at }) => isWithin(created_at.getTime()))
  const order = page.direction === 'asc' ? 1 : -1
  const results = [...events.results, ...ofJourneys].sort((a, b) => order * (a.created_at.getTime() - b.created_at.getTime()))
  return { ...events, results }
}

/** The time of a page: from that of the cursor to that of the event at its end, or beyond all events where there is no further page. */
function rangeOf(page: PageRequest, { results, nextCursor, prevCursor }: PageOf<UserTimelineItem>): (time: number) => boolean {
  const value = page.cursor?.position.sortValue
  const times = results.map(({ created_at }) => created_at.getTime())
  const at = typeof value === 'string' ? Date.parse(value) : null
  const isOlder = (page.direction === 'desc') === (page.travel === 'next')
  const hasMore = (page.travel === 'next' ? nextCursor : prevCursor) !== null
  const end = hasMore && times.length > 0 ? (isOlder ? Math.min(...times) : Math.max(...times)) : null
  return isOlder
    ? (time) => (at === null || time < at) && (end === null || time >= end)
    : (time) => (at === null || time >= at) && (end === null || time < end)
}

const MESSAGE_PREFIXES = CHANNELS.map((channel) => `${channel}_`)

function kindOf(name: string): UserTimelineItem['kind'] {
  if (name.startsWith('list_')) return 'list'
  if (name.startsWith('subscri') || name.startsWith('unsubscri')) return 'subscription'
  return MESSAGE_PREFIXES.some((prefix) => name.startsWith(prefix)) ? 'message' : 'event'
}

function momentsOf(row: JourneyUserRow, names: Map<JourneyId, string>): UserTimelineItem[] {
  const { journey_id, first_entered_at, last_entered_at, last_ended_at, held_out_at, last_outcome } = row
  const data = { journey_id, journey_name: names.get(journey_id) ?? null }
  const moment = (name: string, at: Date | null, more: object = {}): UserTimelineItem[] =>
    at === null ? [] : [{ kind: 'journey', name, data: { ...data, ...more }, source: 'system', created_at: at }]
  const isAgain = first_entered_at !== null && last_entered_at !== null && first_entered_at.getTime() !== last_entered_at.getTime()
  return [
    ...moment('journey_entered', first_entered_at),
    ...(isAgain ? moment('journey_entered', last_entered_at) : []),
    ...moment('journey_ended', last_ended_at, { outcome: last_outcome }),
    ...moment('journey_held_out', held_out_at),
  ]
}

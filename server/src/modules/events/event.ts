/** Events on their way from the ingest queue to the table `events`. Pure. */
import type { JourneyId, UserId } from '../../lib/ids.ts'
import type { KeyedSystemEvent } from '../users/index.ts'

/** An event of an accepted request. Its key is unique. */
export type AcceptedEvent = {
  key: string
  name: string
  data: Record<string, unknown>
  createdAt: Date
  receivedAt: Date
  eventId: string | null
}

/** What wrote an event: a request (`api`) or Carillon itself (`system`). A request cannot choose it (D-EVT-5). */
export const EVENT_SOURCES = ['api', 'system'] as const
export type EventSource = (typeof EVENT_SOURCES)[number]

/** What an event may start: campaigns and journeys, journeys only, or nothing. It counts for waits and lists in any case. */
export type Starts = 'all' | 'journeys' | 'nothing'

/** The journey that wrote an event, or whose message it is about. */
export type EventOrigin = { journey_id: JourneyId; entrance_id: number }

type About = {
  userId: UserId
  event: AcceptedEvent
  source: EventSource
  journey?: EventOrigin
  /** The user was created by an import. */
  isImport?: true
  /** The event came to the user by a merge. */
  isInherited?: true
}

/** An event with its user, before repeats are dropped. Without `starts` it may start everything. */
export type NewEvent = About & { starts?: Starts }

/** An event that was saved. `triggers`: it may trigger campaigns, and is not too old for it. */
export type StoredEvent = About & { starts: Starts; triggers: boolean }

/** A system event, ready to be stored. */
export function newSystemEvent({ userId, key, receivedAt, event, isImport }: KeyedSystemEvent): NewEvent {
  const { name, data, created_at, starts, is_inherited, silent } = event
  const { journey_id, entrance_id } = data
  return {
    userId,
    event: { key, name, data, createdAt: new Date(created_at), receivedAt, eventId: null },
    source: 'system',
    ...((starts ?? silent) && { starts: starts ?? 'nothing' }),
    ...(is_inherited && { isInherited: true }),
    ...(isImport && { isImport }),
    ...(typeof journey_id === 'number' &&
      typeof entrance_id === 'number' && { journey: { journey_id: journey_id as JourneyId, entrance_id } }),
  }
}

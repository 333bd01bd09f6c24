/** Events on their way from the ingest queue to the table `events`. Pure. */
import type { UserId } from '../../lib/ids.ts'
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

/** An event with its user, before repeats are dropped. A silent one triggers no campaign. */
export type NewEvent = { userId: UserId; event: AcceptedEvent; source: EventSource; silent?: true }

/** An event that was saved. Events that are silent or too old trigger nothing. */
export type StoredEvent = { userId: UserId; event: AcceptedEvent; source: EventSource; triggers: boolean }

/** A system event, ready to be stored. */
export const newSystemEvent = ({ userId, key, receivedAt, event: { name, data, created_at, silent } }: KeyedSystemEvent): NewEvent => ({
  userId,
  event: { key, name, data, createdAt: new Date(created_at), receivedAt, eventId: null },
  source: 'system',
  ...(silent && { silent }),
})

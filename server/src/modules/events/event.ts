/** Events between the ingest queue and the table `events`. Pure. */
import type { UserId } from '../../lib/ids.ts'
import type { SystemEvent } from '../users/index.ts'

/** One event out of the log. `key` tells it from every other one, for ever. */
export type AcceptedEvent = {
  key: string
  name: string
  data: Record<string, unknown>
  createdAt: Date
  receivedAt: Date
  eventId: string | null
}

/** A fact of the system's own, as an event under a key of its own. */
export const newSystemEvent = ({ name, data, created_at }: SystemEvent, key: string, receivedAt: Date): AcceptedEvent => ({
  key,
  name,
  data,
  createdAt: new Date(created_at),
  receivedAt,
  eventId: null,
})

/** An event that is stored: a fact about a person. */
export type StoredEvent = { userId: UserId; event: AcceptedEvent; triggers: boolean }

/** An event with its person; a silent one triggers nothing. */
export type NewEvent = { userId: UserId; event: AcceptedEvent; silent?: true }

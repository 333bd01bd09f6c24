import { parseJson } from '../../infra/http/body.ts'
import { type ParkedItem, parkedWith, type QueueEntry } from '../../infra/queue/queue.ts'
import type { UserId } from '../../lib/ids.ts'
import { storableText } from '../../lib/text.ts'
import type { AcceptedEvent } from '../events/index.ts'
import { checkItem, type Profile, type QueuedUserChange, type UserUpdate } from '../users/index.ts'
import { toAcceptedEvent } from './check-events.ts'

/** An item of a journey, which only journeys read. */
export type QueuedJourneyItem = { user_id: UserId; do: string }

/**
 * One item of the ingest queue: a user update, with its event if it was sent with one, a user change that was already saved, or an item of
 * a journey. The key is unique.
 */
export type Item = { key: string; source: Omit<ParkedItem, 'reason'> } & (
  | { update: UserUpdate; event?: AcceptedEvent }
  | { change: QueuedUserChange }
  | { journey: QueuedJourneyItem }
)

/**
 * Reads a stored request. Items are parked in their places if another release accepted them and this one cannot read them. A body that cannot
 * be parsed is parked as text: thrown, the error would hold up everything behind it, because nothing can be applied that was not read.
 */
export function readRequest(entry: QueueEntry): (Item | ParkedItem)[] {
  let items: unknown[]
  try {
    items = itemsOf(entry.body)
  } catch (error) {
    const { kind, request_id, received_at, body } = entry
    return [{ kind, request_id, received_at, item: storableText(String(body)), reason: (error as Error).message }]
  }
  return items.map((item, index) => parseItem(entry, item, index))
}

function itemsOf(body: Buffer): unknown[] {
  const items = parseJson(body)
  if (!Array.isArray(items)) throw new Error('The body is not an array.')
  return items
}

function parseItem({ position, kind, user_id, request_id, received_at }: QueueEntry, item: unknown, index: number): Item | ParkedItem {
  const source = { kind, request_id, received_at, item: parkedWith(item, user_id) }
  const key = `${position}-${index}`
  if (kind === 'journeys') return { key, source, journey: item as QueuedJourneyItem }
  if (kind === 'changes') return { key, source, change: item as QueuedUserChange }
  try {
    const { profile, event } = kind === 'events' ? toAcceptedEvent(item, key, received_at) : { profile: toUpsert(item), event: undefined }
    return { key, source, update: { profile, at: received_at, position, ...(user_id !== null && { user_id }) }, ...(event && { event }) }
  } catch (error) {
    return { ...source, reason: (error as Error).message }
  }
}

function toUpsert(item: unknown): Profile {
  const checked = checkItem(item)
  if ('faults' in checked) throw new Error(checked.faults.map(({ message }) => message).join(' '))
  return checked.profile
}

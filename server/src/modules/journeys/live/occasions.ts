/** What a batch of the queue means to journeys. Pure. */
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import type { StoredEvent } from '../../events/index.ts'
import type { MembershipChange } from '../../lists/index.ts'
import type { UserChange } from '../../users/index.ts'
import type { Fact, Occasion } from '../engine/facts.ts'
import { instantOf } from '../engine/run.ts'
import type { JourneyItem } from '../queue-items.ts'

/** A stored event. System events of messages name the journey that sent them. */
export function eventFact({ event, source, starts, isImport, isInherited }: StoredEvent): Fact {
  const { key, name, data, createdAt, eventId } = event
  const isSystem = source === 'system'
  return {
    is: 'event',
    key: eventId ?? key,
    name,
    data,
    createdAt,
    isSystem,
    ofJourney: isSystem && typeof data.journey_id === 'number' ? (data.journey_id as JourneyId) : null,
    ofEntrance: isSystem && typeof data.entrance_id === 'number' ? data.entrance_id : null,
    isImport: isImport === true,
    isInherited: isInherited === true,
    starts: starts !== 'nothing',
  }
}

export const membershipFact = ({ listId, entered, inherited }: MembershipChange, key: string): Fact => ({
  is: 'membership',
  listId,
  entered,
  key,
  isInherited: inherited === true,
})

/** An item of a user, and the item that it carries for journeys. */
export type UserItem = { userId: UserId; key: string; at: Date; item: JourneyItem | ListChange | null }

/** A membership that changed because time passed, as it is stored in the queue. */
export type ListChange = { do: 'membership'; user_id: UserId; list_id: ListId; entered: boolean }

/** What a wave brought. */
export type WaveFacts = { items: UserItem[]; events: StoredEvent[]; memberships: MembershipChange[]; changes: UserChange[] }

const LIST_EVENTS: Record<string, boolean> = { list_entered: true, list_left: false }

/** The occasion of each user of a wave, in the order of the items. */
export function occasionsOf({ items, events, memberships, changes }: WaveFacts, now: Date): Occasion[] {
  const byUser = new Map<UserId, Occasion & { key: string }>()
  for (const { userId, key, at } of items) {
    const known = byUser.get(userId)
    const instant = instantOf(at, now)
    if (known) Object.assign(known, { key, at: instant })
    else byUser.set(userId, { userId, key, at: instant, depth: 0, facts: [], timers: [], items: [] })
  }
  const of = (userId: UserId) => {
    const known: Occasion & { key: string } = byUser.get(userId) ?? {
      userId,
      key: `user-${userId}`,
      at: now,
      depth: 0,
      facts: [],
      timers: [],
      items: [],
    }
    byUser.set(userId, known)
    return known
  }
  for (const event of events) of(event.userId).facts.push(...factsOf(event, of(event.userId).key))
  for (const move of memberships) of(move.userId).facts.push(membershipFact(move, of(move.userId).key))
  for (const { userId, item, key } of items) {
    if (item === null) continue
    const occasion = of(userId)
    if (item.do !== 'membership') occasion.items.push({ ...item, user_id: userId })
    else {
      occasion.facts.push({ is: 'membership', listId: item.list_id, entered: item.entered, key, isInherited: false })
      occasion.isOfTime = true
    }
  }
  for (const { user_id, what, is_new } of changes) of(user_id).facts.push({ is: 'changed', what, isNew: is_new === true })
  for (const { userId, listId } of memberships) of(userId).facts.push({ is: 'changed', what: [`list:${listId}`], isNew: false })
  return [...byUser.values()]
}

/** Adding a user to a static list by hand comes as an event. */
function factsOf(stored: StoredEvent, key: string): Fact[] {
  const { name, data } = stored.event
  const entered = stored.source === 'system' ? LIST_EVENTS[name] : undefined
  const listId = data.list_id
  if (entered === undefined || typeof listId !== 'number') return [eventFact(stored)]
  return [eventFact(stored), { is: 'membership', listId: listId as ListId, entered, key, isInherited: stored.isInherited === true }]
}

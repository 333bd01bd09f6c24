/** The users of the items of a batch. */

import type { Consumer } from '../../infra/queue/consumer.ts'
import { type ParkedItem, parkedWith } from '../../infra/queue/queue.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { type NewEvent, newSystemEvent } from '../events/index.ts'
import {
  type IdentifiedUser,
  type KeyedSystemEvent,
  type KnownIds,
  keysOfChange,
  keysOfUpdate,
  knownIds,
  type MergedInto,
  mergedIntoOf,
  type ResolvedChanges,
  resolveQueuedChanges,
  type UserUpdate,
  withoutErased,
} from '../users/index.ts'
import { type Item, readRequest } from './read.ts'

type UpdateItem = Extract<Item, { update: unknown }>
type ChangeItem = Extract<Item, { change: unknown }>
type JourneyItems = Extract<Item, { journey: unknown }>

const isUpdate = (item: Item): item is UpdateItem => 'update' in item
const isChange = (item: Item): item is ChangeItem => 'change' in item
const isOfJourney = (item: Item): item is JourneyItems => 'journey' in item

/** The users that items belong to before any of them is applied. */
export type KnownUsers = { ids: KnownIds; mergedInto: MergedInto }

/** Looks up the users of a batch. `cacheable` is false in a transaction that has written something which may be undone. */
async function lookUpUsers(ctx: InTx, items: Item[], cacheable: boolean): Promise<KnownUsers> {
  const updates = updatesOf(items)
  const changes = [
    ...items.filter(isChange).map(({ change }) => change),
    ...items.filter(isOfJourney).map(({ journey: { user_id } }) => ({ user_id, what: [] })),
    ...updates.flatMap(({ user_id }) => (user_id === undefined ? [] : [{ user_id, what: [] }])),
  ]
  const [ids, mergedInto] = await Promise.all([knownIds(ctx, updates, cacheable), mergedIntoOf(ctx, changes)])
  return { ids, mergedInto }
}

/** Items that share one of these keys are about the same user, or may be after another item links their ids. */
export function identityKeysOf(item: Item, { ids, mergedInto }: KnownUsers): string[] {
  if (isUpdate(item)) return keysOfUpdate(item.update, ids, mergedInto)
  return keysOfChange(isChange(item) ? item.change : { user_id: item.journey.user_id, what: [] }, mergedInto)
}

/** The items of a batch without those whose user was erased after they were accepted. */
export const itemsOfKept = (items: Item[], { ids }: KnownUsers): Item[] =>
  items.flatMap((item): Item[] => {
    if (!isUpdate(item)) return [item]
    const update = withoutErased(item.update, ids.erased)
    return update === item.update ? [item] : update === null ? [] : [{ ...item, update }]
  })

/** How the consumer of the ingest queue reads accepted requests. */
export const requestReader = { read: readRequest, lookUp: lookUpUsers, keysOf: identityKeysOf } satisfies Partial<
  Consumer<Item, KnownUsers, never>
>

/** The user of each item that has one: for an update of the batch the user that was identified, for any other item the live user. */
export function usersOfItems(items: Item[], users: IdentifiedUser[], { mergedInto }: KnownUsers): Map<Item, UserId> {
  const found = new Map<Item, UserId>()
  const identified = users.values()
  for (const item of items) {
    if (isUpdate(item)) {
      const user = identified.next().value
      if (user && 'userId' in user) found.set(item, user.userId)
      continue
    }
    const userId = mergedInto.get(isChange(item) ? item.change.user_id : item.journey.user_id)
    if (userId !== undefined) found.set(item, userId)
  }
  return found
}

/** The user updates of a batch, in order. */
export const updatesOf = (items: Item[]): UserUpdate[] => items.filter(isUpdate).map(({ update }) => update)

/** The events of a batch with their users, and then the system events. `users` are those of the updates. */
export function newEventsOf(items: Item[], users: IdentifiedUser[], systemEvents: KeyedSystemEvent[]): NewEvent[] {
  const events = items.filter(isUpdate).flatMap(({ event }, index): NewEvent[] => {
    const user = users[index]
    return event && user && 'userId' in user ? [{ userId: user.userId, event, source: 'api' }] : []
  })
  return [...events, ...systemEvents.map(newSystemEvent)]
}

/** The items whose update is invalid for its user. `users` are those of the updates. */
export const parkedOf = (items: Item[], users: IdentifiedUser[], { ids }: KnownUsers): ParkedItem[] =>
  items.filter(isUpdate).flatMap(({ source, update }, index): ParkedItem[] => {
    const user = users[index]
    if (!user || !('faults' in user)) return []
    const item = parkedWith(source.item, ownerOf(update, ids))
    return [{ ...source, item, reason: user.faults.map(({ message }) => message).join(' ') }]
  })

function ownerOf({ user_id, profile: { external_id, anonymous_id } }: UserUpdate, { byExternalId, byAnonymousId }: KnownIds) {
  if (user_id !== undefined) return user_id
  if (external_id !== undefined) return byExternalId.get(external_id)
  return anonymous_id === undefined ? undefined : byAnonymousId.get(anonymous_id)
}

/** The user changes of a batch, applied to the live users. */
export const queuedChangesOf = (items: Item[], { mergedInto }: KnownUsers): ResolvedChanges =>
  resolveQueuedChanges(
    items.filter(isChange).map(({ change, key, source }) => ({ change, key, receivedAt: source.received_at })),
    mergedInto,
  )

/** Repeats of events: events with an `event_id` that an earlier event has. */
import { afterCommit, type InTx } from '../../infra/runtime/ctx.ts'
import { type AcceptedEvent, claimEventIds, releaseEventIds } from '../events/index.ts'
import { type IdentifiedUser, isAlwaysApplied } from '../users/index.ts'
import type { Item } from './read.ts'

type UpdateItem = Extract<Item, { update: unknown }>
type NamedItem = UpdateItem & { event: AcceptedEvent & { eventId: string } }

const isUpdate = (item: Item): item is UpdateItem => 'update' in item
const isNamed = (item: Item): item is NamedItem => isUpdate(item) && item.event !== undefined && item.event.eventId !== null

/**
 * The items of a wave without repeats of events, which are ignored as a whole: with the ids and the profiles of their users (D-EVT-4). Of
 * items with the same id stay all, if it is not known yet whether the first can be applied: those after the one that was are ignored then.
 */
export async function withoutRepeats(ctx: InTx, items: Item[]): Promise<Item[]> {
  const byId = Map.groupBy(items.filter(isNamed), ({ event }) => event.eventId)
  const ids = [...byId].map(([event_id, [first]]) => ({ event_id, received_at: (first as NamedItem).event.receivedAt }))
  const claimed = await claimEventIds(ctx, ids)
  const instead = new Map<Item, Item[]>()
  for (const [id, named] of byId) {
    const [first, ...others] = named as [NamedItem, ...NamedItem[]]
    if (!claimed.has(id)) for (const item of named) instead.set(item, [])
    else if (isAlwaysApplied(first.update)) for (const item of others) instead.set(item, [])
    else if (others.length > 0) for (const item of named) instead.set(item, [{ ...item, update: { ...item.update, once: id } }])
  }
  if (instead.size === 0) return items
  const repeats = [...instead.values()].filter(({ length }) => length === 0).length
  afterCommit(ctx, () => ctx.metrics.eventsIngested('duplicate', repeats))
  return items.flatMap((item) => instead.get(item) ?? [item])
}

/** Releases the ids of events of which no update could be applied, and counts repeats of the others. `users` are those of the updates. */
export async function finishRepeats(ctx: InTx, items: Item[], users: IdentifiedUser[]): Promise<void> {
  if (users.every((user) => 'userId' in user)) return
  const updates = items.filter(isUpdate)
  const idsWhere = (test: (user: IdentifiedUser | undefined) => boolean) =>
    updates.flatMap((item, index) => (isNamed(item) && test(users[index]) ? [item.event.eventId] : []))
  const applied = new Set(idsWhere((user) => user !== undefined && 'userId' in user))
  const repeats = users.filter((user) => 'isRepeat' in user).length
  afterCommit(ctx, () => ctx.metrics.eventsIngested('duplicate', repeats))
  await releaseEventIds(
    ctx,
    idsWhere((user) => user === undefined || !('userId' in user)).filter((id) => !applied.has(id)),
  )
}

/** Repeats of events: events with an `event_id` that an earlier event has. */
import type { InTx } from '../../infra/runtime/ctx.ts'
import { type AcceptedEvent, claimEventIds, releaseEventIds } from '../events/index.ts'
import type { IdentifiedUser } from '../users/index.ts'
import type { Item } from './read.ts'

const eventOf = (item: Item): AcceptedEvent | undefined => ('event' in item ? item.event : undefined)

/** The items of a wave without repeats of events, which are ignored as a whole: with the ids and the profiles of their users (D-EVT-4). */
export async function withoutRepeats(ctx: InTx, items: Item[]): Promise<Item[]> {
  const repeats = await claimEventIds(
    ctx,
    items.flatMap((item) => eventOf(item) ?? []),
  )
  if (repeats.size === 0) return items
  return items.filter((item) => {
    const event = eventOf(item)
    return event === undefined || !repeats.has(event)
  })
}

/** Releases the ids of events whose update could not be applied. `users` are those of the updates. */
export async function releaseUnapplied(ctx: InTx, items: Item[], users: IdentifiedUser[]): Promise<void> {
  const unapplied = items
    .filter((item) => 'update' in item)
    .flatMap((item, index) => ('userId' in (users[index] ?? {}) ? [] : (eventOf(item) ?? [])))
  await releaseEventIds(ctx, unapplied)
}

/** What the items of a wave are to journeys, and the requests that they came from: for messages and for spans. Pure, but for the spans. */
import type { InTx } from './infra/runtime/ctx.ts'
import type { Tracing } from './infra/runtime/tracing.ts'
import type { UserId } from './lib/ids.ts'
import { type Item, type KnownUsers, usersOfItems } from './modules/ingest/index.ts'
import type { UserItem } from './modules/journeys/index.ts'
import type { IdentifiedUser } from './modules/users/index.ts'

export type RequestOf = (intent: { user_id: UserId; cause: string }) => string | undefined

export const withRequest = <I extends object>(intent: I, requestId: string | undefined) => ({ ...intent, ...(requestId && { requestId }) })

/** Which request an intent of a wave came from: that of the event that caused it, or the last one about its user. */
export function requestsOfIntents(items: Item[], owners: Map<Item, UserId>) {
  const byEvent = new Map(items.flatMap((item) => ('event' in item && item.event ? [[item.event.key, item.source.request_id]] : [])))
  const byUser = new Map(items.map((item) => [owners.get(item), item.source.request_id]))
  return ({ user_id, cause }: { user_id: UserId; cause: string }) =>
    byEvent.get(cause.slice(cause.indexOf('event:') + 'event:'.length)) || byUser.get(user_id) || undefined
}

/** A span for each request of a wave. */
export function traceItems({ clock }: InTx, tracing: Tracing, items: Item[], startedAt: Date): void {
  const elapsedMs = clock.now().getTime() - startedAt.getTime()
  const byRequest = Map.groupBy(items, ({ source }) => source.request_id)
  for (const [requestId, { length }] of byRequest)
    if (requestId !== '')
      tracing.record(
        { name: 'apply', kind: 'consumer', requestId, startedAt, attributes: { 'carillon.items': length } },
        { elapsedMs, failed: false },
      )
}

/** The items of a wave with their users, as journeys read them. */
export function itemsOfUsers(items: Item[], users: IdentifiedUser[], known: KnownUsers): UserItem[] {
  const owners = usersOfItems(items, users, known)
  return items.flatMap((item): UserItem[] => {
    const userId = owners.get(item)
    if (userId === undefined) return []
    const own = 'journey' in item ? (item.journey as UserItem['item']) : null
    return [{ userId, key: item.key, at: item.source.received_at, item: own }]
  })
}

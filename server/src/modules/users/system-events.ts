/** System events about users. Their names are part of the API: rules and campaigns can name them. */

import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { ATTRIBUTE, type SystemEvent, type UserChange } from './changes.ts'

/** A system event with its user and its unique key. */
export type KeyedSystemEvent = { userId: UserId; key: string; receivedAt: Date; event: SystemEvent; isImport?: true }

const USER_CREATED = 'user_created'
const USER_UPDATED = 'user_updated'

/**
 * The event for a new user or changed attributes: one for each user, whatever the number of changes. It triggers no campaign, and only a
 * new user starts journeys: an update must not cause another one.
 */
export function systemEventsOf(ctx: Pick<Ctx, 'clock'>, changes: UserChange[]): KeyedSystemEvent[] {
  const now = ctx.clock.now()
  const created_at = now.toISOString()
  return [...Map.groupBy(changes, ({ user_id }) => user_id)].flatMap(([userId, of]): KeyedSystemEvent[] => {
    const attributes = attributesIn(of)
    const isNew = of.some(({ is_new }) => is_new)
    if (!isNew && attributes.length === 0) return []
    const isImport = of.some(({ is_import }) => is_import)
    const event: SystemEvent = {
      name: isNew ? USER_CREATED : USER_UPDATED,
      data: isNew ? { ...(isImport && { is_import: true }) } : { changed: attributes, ...formerOf(of) },
      created_at,
      starts: isNew ? 'journeys' : 'nothing',
    }
    return [{ userId, key: `user-${userId}-${now.getTime()}`, receivedAt: now, event, ...(isImport && { isImport: true as const }) }]
  })
}

/** The names of the attributes that changed, each once. */
function attributesIn(changes: UserChange[]): string[] {
  const names = new Set<string>()
  for (const { what } of changes) {
    for (const name of what) if (name.startsWith(ATTRIBUTE)) names.add(name.slice(ATTRIBUTE.length))
  }
  return [...names]
}

/** What attributes were before the first of several changes, which backtests go back to. API replies leave it out. */
const formerOf = (changes: UserChange[]): Pick<UserChange, 'was'> =>
  changes.some(({ was }) => was) ? { was: Object.assign({}, ...changes.toReversed().map(({ was }) => was)) } : {}

/**
 * Dividing a batch into waves, which are applied one after the other. Of the items of a user that journeys depend on, each is in a wave of
 * its own, so that what happens to the user does not depend on how the queue was cut. Pure.
 */

import { pathOf } from '../../lib/attribute-paths.ts'
import { groupsOf } from '../../lib/groups.ts'
import type { UserId } from '../../lib/ids.ts'
import { identityKeysOf, type KnownUsers } from './identify.ts'
import type { Item } from './read.ts'

/** Whether something depends on this name: `event:purchase`, `attribute:data.plan`, `list:12`. */
export type Watches = ReadonlySet<string>

/** The items of a batch by wave, in order. */
export function wavesOf(items: Item[], known: KnownUsers, watches: Watches): Item[][] {
  const waves: Item[][] = []
  const groups = groupsOf(items.map((item) => identityKeysOf(item, known)))
  const waveOf = new Map<number, { wave: number; isConcerned: boolean }>()
  for (const [index, item] of items.entries()) {
    const group = groups[index] as number
    const at = waveOf.get(group) ?? { wave: 0, isConcerned: false }
    waveOf.set(group, at)
    if (concerns(item, known, watches)) {
      if (at.isConcerned) at.wave++
      at.isConcerned = true
    }
    const wave = waves[at.wave]
    if (wave) wave.push(item)
    else waves[at.wave] = [item]
  }
  return waves
}

/** May the item matter to a journey? */
function concerns(item: Item, known: KnownUsers, watches: Watches): boolean {
  if ('journey' in item) return true
  if ('change' in item) {
    const { what, is_new, merged_from, event } = item.change
    return is_new === true || merged_from !== undefined || what.some((name) => watches.has(name)) || isEventWatched(event?.name, watches)
  }
  const users = usersOf(item.update, known)
  if (users.length !== 1) return true
  return isEventWatched(item.event?.name, watches) || changesOf(item.update.profile).some((name) => watches.has(name))
}

const isEventWatched = (name: string | undefined, watches: Watches): boolean => name !== undefined && watches.has(`event:${name}`)

type Update = Extract<Item, { update: unknown }>['update']

/** The users that an update is known to be about: none for a new user, two for a merge. */
function usersOf({ profile: { external_id, anonymous_id }, user_id }: Update, { ids, mergedInto }: KnownUsers): UserId[] {
  const found = [
    user_id === undefined ? undefined : (mergedInto.get(user_id) ?? user_id),
    external_id === undefined ? undefined : ids.byExternalId.get(external_id),
    anonymous_id === undefined ? undefined : ids.byAnonymousId.get(anonymous_id),
  ]
  return [...new Set(found.filter((id) => id !== undefined))]
}

/** The attributes that an update may change, by the names of user changes. */
function changesOf({ external_id: _, anonymous_id: __, data, paths, ...fields }: Update['profile']): string[] {
  const inData = [...Object.keys(data ?? {}).map((key) => `data.${key}`), ...Object.keys(paths ?? {}).map((path) => topOf(path))]
  const names = [...Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name])), ...inData]
  return names.length === 0 ? [] : [...names.map((name) => `attribute:${name}`), 'event:user_updated']
}

/** `data.address.city` is a change of `data.address`. Names of changes have keys without escapes. */
const topOf = (path: string): string => `data.${pathOf(path)?.[0] ?? ''}`

/** The users of the items that matter to journeys, with the instant of the first such item of each. */
export function concernedUsers(items: Item[], known: KnownUsers, watches: Watches): Map<UserId, Date> {
  const found = new Map<UserId, Date>()
  for (const item of items) {
    if (!concerns(item, known, watches)) continue
    const ids = 'update' in item ? usersOf(item.update, known) : otherUsersOf(item, known)
    for (const id of ids) if (!found.has(id)) found.set(id, item.source.received_at)
  }
  return found
}

function otherUsersOf(item: Exclude<Item, { update: unknown }>, { mergedInto }: KnownUsers): UserId[] {
  const id = mergedInto.get('change' in item ? item.change.user_id : item.journey.user_id)
  return id === undefined ? [] : [id]
}

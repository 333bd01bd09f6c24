/** What subscription states allow, and the events of their changes. Pure. */
import type { UserId } from '../../lib/ids.ts'
import type { QueuedUserChange } from '../users/index.ts'
import type { SavedStateChange } from './consents/schema.ts'
import type { Consent } from './schema.ts'

/** Does a state allow messages of the type? Suppressions are checked separately. */
export const isSubscribed = ({
  state,
  is_transactional,
  requires_confirmation,
}: Omit<Consent, 'user_id' | 'subscription_id' | 'consent_id'>) => is_transactional || reaches(state, requires_confirmation)

const reaches = (state: number, requiresConfirmation: boolean) => state >= (requiresConfirmation ? 2 : 1)

/** The event of a state change: the user starts receiving the type, stops receiving it, or neither. */
export function eventOf(before: number, after: number, requiresConfirmation: boolean): 'subscribed' | 'unsubscribed' | null {
  const [did, does] = [reaches(before, requiresConfirmation), reaches(after, requiresConfirmation)]
  if (does && !did) return 'subscribed'
  return (did && !does) || (after === 0 && before !== 0) ? 'unsubscribed' : null
}

/** The user changes to queue for saved states: the types that changed, and their events, which may trigger campaigns. */
export function queuedChangesOf(written: SavedStateChange[], source: string, now: Date): QueuedUserChange[] {
  const byUser = Map.groupBy(written, ({ user_id }) => user_id)
  return [...byUser].flatMap(([user_id, changes]) => [
    { user_id, what: changes.map(({ subscription_id }) => `subscription:${subscription_id}`) },
    ...changes.flatMap((change) => eventsOf(user_id, change, source, now)),
  ])
}

function eventsOf(user_id: UserId, change: SavedStateChange, source: string, now: Date): QueuedUserChange[] {
  const { subscription_id, state, previous_state, default_state, requires_confirmation } = change
  const name = eventOf(previous_state ?? default_state, state, requires_confirmation)
  if (name === null) return []
  return [{ user_id, what: [], event: { name, data: { subscription_id, source }, created_at: now.toISOString() } }]
}

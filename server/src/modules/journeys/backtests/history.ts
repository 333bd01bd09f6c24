/** What happened to a user in a window, as items of a simulation, and how the user was when it began. Pure. */
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import { SECOND_MS } from '../../../lib/times.ts'
import type { PastEvent } from '../../events/index.ts'
import type { PastOutcome } from '../../messages/index.ts'
import type { RecordedEntrance } from '../../positions/index.ts'
import { LIST_ENTERED, LIST_LEFT } from '../../rules/index.ts'
import type { PastConsent } from '../../subscriptions/index.ts'
import type { Fact } from '../engine/facts.ts'
import type { KnownEvent, SimulatedItem, SimulatedUser } from '../simulation/user.ts'

/** What is stored of a user that a backtest needs, all since the start of the window but for `events`. */
export type Stored = {
  /** In the order in which they were stored; also those from before the window, which count for rules. */
  events: PastEvent[]
  recorded: RecordedEntrance[]
  outcomes: PastOutcome[]
  consents: PastConsent[]
}

type Window = { journeyId: JourneyId; since: Date; until: Date }

export type History = { items: SimulatedItem[]; events: KnownEvent[]; flags: Set<string> }

/** Events that follow from an item are stored this long after it was received at most; otherwise they are items of their own. */
const FOLLOWS_MS = 5 * SECOND_MS

const USER_CREATED = 'user_created'
const USER_UPDATED = 'user_updated'

/** Rolls the user back to the start of the window, and returns what happened since. */
export function historyOf(user: SimulatedUser, stored: Stored, window: Window): History {
  const flags = new Set<string>()
  const inWindow = stored.events.filter(({ received_at }) => received_at >= window.since)
  const before = stored.events.filter(({ received_at }) => received_at < window.since)
  const attributes = rollBackAttributes(user, inWindow, flags)
  rollBackLists(user, inWindow)
  rollBackConsents(user, stored.consents)
  const own = ({ journey_id, source, name }: PastEvent) => journey_id === window.journeyId && (source === 'api' || name === USER_UPDATED)
  const known = recordedCauses(stored.recorded)
  const items: SimulatedItem[] = []
  for (const event of inWindow) {
    if (event.received_at >= window.until || own(event)) continue
    const after = attributes.get(event)
    addEvent(items, event, after, known)
  }
  for (const { state, subscription_id, at, journey_id } of stored.consents)
    if (journey_id !== window.journeyId && at < window.until) items.push({ at, subscriptions: [{ id: subscription_id, state }] })
  for (const entrance of stored.recorded) items.push(...requested(entrance, window.journeyId))
  return { items: inOrder(items), events: before.map(knownEvent), flags }
}

/** A sort keeps the order of what has the same instant. */
const inOrder = (items: SimulatedItem[]): SimulatedItem[] => items.sort((a, b) => a.at.getTime() - b.at.getTime())

const knownEvent = ({ name, source, data, created_at }: PastEvent): KnownEvent => ({
  name,
  source,
  data,
  createdAtMs: created_at.getTime(),
})

/** Sets the attributes of the user to what they were. Returns those that each event set. */
function rollBackAttributes(user: SimulatedUser, events: PastEvent[], flags: Set<string>): Map<PastEvent, Record<string, unknown>> {
  const after = new Map<PastEvent, Record<string, unknown>>()
  for (const event of events.toReversed()) {
    if (event.name !== USER_UPDATED || event.source !== 'system') continue
    const { changed = [], was = {} } = event.data as { changed?: string[]; was?: Record<string, unknown> }
    const values: Record<string, unknown> = {}
    for (const name of changed) {
      values[name] = attributeOf(user, name)
      if (Object.hasOwn(was, name)) setValue(user, name, was[name])
      else flags.add('attributes')
    }
    after.set(event, values)
  }
  return after
}

const DATA = 'data.'

const attributeOf = ({ user }: SimulatedUser, name: string): unknown =>
  (name.startsWith(DATA) ? user.data[name.slice(DATA.length)] : user[name as 'email']) ?? null

function setValue(one: SimulatedUser, name: string, value: unknown): void {
  if (!name.startsWith(DATA)) {
    if (name !== 'created_at') one.user = { ...one.user, [name]: value ?? null }
    return
  }
  const { [name.slice(DATA.length)]: _, ...rest } = one.user.data
  one.user = { ...one.user, data: value == null ? rest : { ...rest, [name.slice(DATA.length)]: value } }
}

/** The list of a list event. */
function listOf({ name, source, data }: PastEvent): { listId: ListId; entered: boolean } | null {
  if (source !== 'system' || (name !== LIST_ENTERED && name !== LIST_LEFT) || typeof data.list_id !== 'number') return null
  return { listId: data.list_id as ListId, entered: name === LIST_ENTERED }
}

/** The first move after an instant tells what was so before it. */
function rollBackLists({ lists }: SimulatedUser, events: PastEvent[]): void {
  for (const event of events.toReversed()) {
    const move = listOf(event)
    if (move?.entered === true) lists.delete(move.listId)
    if (move?.entered === false) lists.add(move.listId)
  }
}

function rollBackConsents({ subscriptions }: SimulatedUser, consents: PastConsent[]): void {
  for (const { subscription_id, previous_state } of consents.toReversed()) {
    const now = subscriptions.get(subscription_id)
    subscriptions.set(subscription_id, { state: previous_state ?? now?.state ?? 0, isDefault: previous_state === null })
  }
}

/** The causes of live entrances, so that those of a backtest have the same ids. Events are stored without their keys. */
type Causes = { take(kind: string, event: PastEvent): string | null }

function recordedCauses(recorded: RecordedEntrance[]): Causes {
  const left = [...recorded]
  return {
    take(kind, { received_at, name, data }) {
      const fits = ({ cause, entered_at, event }: RecordedEntrance) =>
        entered_at.getTime() === received_at.getTime() && cause.startsWith(`${kind}:`) && (kind !== 'event' || event?.name === name)
      // The entry event may have been replaced since by a later one.
      const exact = left.findIndex((one) => fits(one) && JSON.stringify(one.event?.data) === JSON.stringify(data))
      const found = exact < 0 ? left.findIndex(fits) : exact
      const [taken] = found < 0 ? [] : left.splice(found, 1)
      return taken?.cause.slice(kind.length + 1) ?? null
    },
  }
}

/** Adds what an event says: to the item that it follows from, or as an item of its own. */
function addEvent(items: SimulatedItem[], event: PastEvent, after: Record<string, unknown> | undefined, known: Causes): void {
  const at = event.received_at
  const last = items.at(-1)
  const follows = last !== undefined && at.getTime() - last.at.getTime() <= FOLLOWS_MS ? last : undefined
  const move = listOf(event)
  if (move) {
    const kind = `list:${move.listId}`
    const key = known.take(kind, event) ?? `${at.getTime()}`
    const lists = [{ is: 'membership' as const, ...move, key, isInherited: false }]
    if (follows) follows.lists = [...(follows.lists ?? []), ...lists]
    else items.push({ at, lists })
    return
  }
  const fact = factOf(event, known, items.length)
  if (event.source === 'system' && after && follows && at.getTime() === follows.at.getTime() && !follows.attributes) {
    follows.attributes = after
    follows.events = [...(follows.events ?? []), fact]
    return
  }
  const isNew = event.source === 'system' && event.name === USER_CREATED
  items.push({ at, events: [fact], ...(after && { attributes: after }), ...(isNew && { isNew: true }) })
}

/** System events that make users enter journeys: not those about what Carillon did. */
const STARTING = /^(?:user_created|subscribed|unsubscribed|[a-z_]+_(?:opened|clicked))$/

function factOf(event: PastEvent, known: Causes, index: number): Extract<Fact, { is: 'event' }> {
  const { name, data, created_at, received_at, source } = event
  const isSystem = source === 'system'
  const of = (member: string) => (isSystem && typeof data[member] === 'number' ? data[member] : null)
  return {
    is: 'event',
    key: known.take('event', event) ?? `${received_at.getTime()}-${index}`,
    ...{ name, data, createdAt: created_at, isSystem, isImport: isSystem && data.is_import === true, isInherited: false },
    ofJourney: of('journey_id') as JourneyId | null,
    ofEntrance: of('entrance_id'),
    starts: !isSystem || STARTING.test(name),
  }
}

/** Why users entered without an event of theirs: a request, a link of another journey, or a list that they were in at the publication. */
const REQUESTED = /^(?:api:|link:|list:\d+:existing-)/

/** Entrances without an event are recorded only as entrances. */
function requested({ cause, entered_at, trail, event, key, depth, user_id }: RecordedEntrance, journeyId: JourneyId): SimulatedItem[] {
  const entrance = trail[0]?.step
  if (!REQUESTED.test(cause) || entrance === undefined) return []
  const about = { journey_id: journeyId, user_id, entrance, cause, depth, data: event?.data ?? {} }
  return [{ at: entered_at, items: [{ do: 'enter', ...about, ...(key !== null && { key }) }] }]
}

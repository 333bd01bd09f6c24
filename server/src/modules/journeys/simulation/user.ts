/** A user in memory, and what happens to it. Pure. */
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import {
  type CompiledRule,
  type JourneyFacts,
  LIST_ENTERED,
  LIST_LEFT,
  matchesTracker,
  type Tracker,
  type UserFacts,
} from '../../rules/index.ts'
import { mergeData } from '../../users/index.ts'
import type { Fact } from '../engine/facts.ts'
import type { JourneyUser } from '../engine/run.ts'
import type { JourneyItem } from '../queue-items.ts'

/** An event that counts for rules. */
export type KnownEvent = { name: string; source: 'api' | 'system'; data: Record<string, unknown>; createdAtMs: number }

/** What is known of the user and a journey, with what a database would be asked for. */
export type SimulatedJourneyUser = JourneyUser &
  Pick<JourneyFacts, 'completed' | 'exited' | 'lastEndedAt' | 'lastOutcome' | 'inside'> & {
    keys: Set<number>
    /** The entrances that ended. */
    ended: Set<number>
    enteredAt: Date[]
  }

/** A state that no consent entry explains is the default of the type. */
export type SimulatedState = { state: 0 | 1 | 2; isDefault: boolean }

export type SimulatedUser = {
  user: UserFacts['user'] & { id: UserId }
  devices: UserFacts['devices']
  lists: Set<ListId>
  subscriptions: Map<number, SimulatedState>
  events: KnownEvent[]
  journeys: Map<JourneyId, SimulatedJourneyUser>
}

/** The dynamic lists that a graph mentions, also through rules, in the order in which they are evaluated. */
export type SimulatedList = { id: ListId; rule: CompiledRule | null }

export type Attributes = Record<string, unknown>

/** Everything that happens to a user at one instant, as an item of the ingest queue would bring it. */
export type SimulatedItem = {
  at: Date
  /** The user is created by it. */
  isNew?: true
  /** Values by attribute, such as `email` or `data.plan`; null removes. */
  attributes?: Attributes
  subscriptions?: { id: number; state: 0 | 1 | 2 }[]
  events?: Extract<Fact, { is: 'event' }>[]
  lists?: Extract<Fact, { is: 'membership' }>[]
  items?: JourneyItem[]
  /** Its `items` count only if the user is in this list then. */
  onlyIn?: ListId
  /** Nothing happens but that time passes. */
  isTime?: true
}

const DATA = 'data.'

/** Sets attributes. Returns the names of those that changed. */
export function setAttributes(one: SimulatedUser, attributes: Attributes): string[] {
  const changed: string[] = []
  const data: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(attributes)) {
    const before = name.startsWith(DATA) ? one.user.data[name.slice(DATA.length)] : one.user[name as 'email']
    if (JSON.stringify(before ?? null) === JSON.stringify(value ?? null)) continue
    changed.push(name)
    if (name.startsWith(DATA)) data[name.slice(DATA.length)] = value ?? null
    else one.user = { ...one.user, [name]: value ?? null }
  }
  one.user = { ...one.user, data: mergeData(one.user.data, data) }
  return changed
}

/** Adds the user to a list, or removes them. False if nothing changes. */
export function setMembership({ lists }: SimulatedUser, list: ListId, entered: boolean): boolean {
  if (lists.has(list) === entered) return false
  if (entered) lists.add(list)
  else lists.delete(list)
  return true
}

/** The event that a user entered a list or left it. */
export const listEvent = (list: ListId, entered: boolean, at: Date): KnownEvent => ({
  name: entered ? LIST_ENTERED : LIST_LEFT,
  source: 'system',
  data: { list_id: list },
  createdAtMs: at.getTime(),
})

/** The facts about the user that a rule is evaluated on. */
export const factsFor = (one: SimulatedUser, rule: CompiledRule, nowMs: number): UserFacts => ({
  id: one.user.id,
  user: one.user,
  devices: one.devices,
  times: (index) => timesOf(one, rule.trackers[index] as Tracker, nowMs),
  isIn: (list) => one.lists.has(list as ListId),
  subscription: (id) => one.subscriptions.get(id)?.state ?? 0,
  journey: (id) => journeyFacts(one.journeys.get(id as JourneyId)),
})

function journeyFacts(known: SimulatedJourneyUser | undefined): JourneyFacts | undefined {
  if (!known || (known.entered === 0 && known.heldOutAt === null)) return undefined
  const { lastEnteredAt, heldOutAt, ...facts } = known
  return { ...facts, lastEnteredAt: lastEnteredAt?.getTime() ?? null, heldOutAt: heldOutAt?.getTime() ?? null }
}

function timesOf({ events }: SimulatedUser, tracker: Tracker, nowMs: number): number[] {
  const { keep, count, withinMs } = tracker
  const matching = events
    .filter((event) => matchesTracker(tracker, event, nowMs) && (withinMs === null || event.createdAtMs > nowMs - withinMs))
    .map(({ createdAtMs }) => createdAtMs)
  if (keep === 'earliest') return matching.sort((a, b) => a - b).slice(0, count)
  const future = matching.filter((ms) => ms > nowMs).length
  return matching.sort((a, b) => b - a).slice(0, count + future)
}

const NO_JOURNEY = {
  ...{ entered: 0, completed: 0, exited: 0, lastEndedAt: null, lastOutcome: null },
  ...{ lastEnteredAt: null, heldOutAt: null, arm: null, goals: {} },
}

export function journeyUserOf({ journeys }: SimulatedUser, id: JourneyId): SimulatedJourneyUser {
  const known = journeys.get(id) ?? { ...NO_JOURNEY, inside: [], keys: new Set<number>(), ended: new Set<number>(), enteredAt: [] }
  journeys.set(id, known)
  return known
}

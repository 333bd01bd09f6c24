/** An entrance in memory, and how it changes. Pure. */
import type { JourneyId, UserId } from '../../../lib/ids.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/times.ts'
import type { Answer, EntryEvent, Seen, Visit } from '../steps/step.ts'
import type { NewEntrance } from './entry.ts'
import type { CompiledStep, Graph } from './graph.ts'

/** Which steps had what effect is kept of the first and the last visits. */
const FIRST_KEPT = 20
const LAST_KEPT = 80
const SEEN_BYTES_MAX = 200
const VISITS_MAX = 10_000

export type Outcome = { as: 'completed' | 'exited'; reason: string; at: Date }

/** What is stored of an entrance, to see what has changed. */
export type Stored = Pick<Entrance, 'dueAt' | 'visit' | 'event' | 'answers' | 'seen'> & { type: CompiledStep['type'] }

/** One run of a user through a journey. It is changed in place; the code that loads it saves it. */
export type Entrance = {
  readonly id: number
  readonly userId: UserId
  readonly journeyId: JourneyId
  enteredAt: Date
  readonly slot: string
  readonly key: string | null
  readonly cause: string
  graph: Graph
  step: CompiledStep
  visit: number
  depth: number
  attempts: number
  isHeld: boolean
  arrivedAt: Date
  actedAt: Date
  dueAt: Date | null
  /** When the wait is over, if the timer is earlier because the rule of an exit criterion may hold by then. */
  until: Date | null
  waits: readonly string[]
  parked: string | null
  event: EntryEvent | null
  answers: Record<string, Answer>
  seen: Record<string, string>
  trail: Visit[]
  outcome: Outcome | null
  /** As it is stored: null for a new one. */
  stored: Stored | null
  isChanged: boolean
  /** Visits since the item that is being applied. */
  visitsNow: number
}

/** Creates the entrance of a user who enters, and begins the visit of its first step. */
export function enter(graph: Graph, userId: UserId, entry: NewEntrance, event: EntryEvent | null, at: Date): Entrance {
  const step = graph.steps.get(entry.entrance.step) as CompiledStep
  const entrance: Entrance = {
    id: entry.id,
    userId,
    journeyId: graph.journeyId,
    enteredAt: at,
    slot: entry.slot,
    key: entry.key,
    cause: entry.cause,
    graph,
    step,
    visit: 0,
    depth: entry.depth,
    attempts: 0,
    isHeld: false,
    arrivedAt: at,
    actedAt: at,
    dueAt: null,
    until: null,
    waits: [],
    parked: null,
    event,
    answers: {},
    seen: {},
    trail: [],
    outcome: null,
    stored: null,
    isChanged: true,
    visitsNow: 0,
  }
  arrive(entrance, step, at)
  return entrance
}

/** Begins a visit. False when the entrance has had as many visits as allowed. */
export function arrive(entrance: Entrance, step: CompiledStep, at: Date): boolean {
  if (entrance.visit >= VISITS_MAX) return false
  entrance.step = step
  entrance.visit++
  entrance.visitsNow++
  entrance.arrivedAt = at
  setTimer(entrance, null)
  entrance.waits = []
  entrance.isHeld = false
  unpark(entrance)
  entrance.trail.push({
    step: step.key,
    visit: entrance.visit,
    arrived_at: at.toISOString(),
    left_at: null,
    path: null,
    reason: null,
    seen: {},
  })
  if (entrance.trail.length > FIRST_KEPT + LAST_KEPT) entrance.trail.splice(FIRST_KEPT, 1)
  entrance.isChanged = true
  return true
}

/** Ends a visit. After a visit of an hour or longer, the depth starts at 0 again. */
export function leave(entrance: Entrance, path: string | null, reason: string, at: Date): void {
  const visit = visitOf(entrance)
  visit.left_at = at.toISOString()
  visit.path = path
  visit.reason = reason
  if (at.getTime() - entrance.arrivedAt.getTime() >= HOUR_MS) entrance.depth = 0
  entrance.isChanged = true
}

/** Ends the entrance. */
export function end(entrance: Entrance, as: Outcome['as'], reason: string, at: Date): void {
  const visit = visitOf(entrance)
  if (visit.left_at === null) {
    visit.left_at = at.toISOString()
    visit.reason = reason
  }
  entrance.outcome = { as, reason, at }
  setTimer(entrance, null)
  entrance.isChanged = true
}

/** Sets when the step decides next, and `earlier`, if exit criteria have to be checked before that. */
export function setTimer(entrance: Entrance, end: Date | null, earlier: Date | null = null): void {
  entrance.dueAt = earlier ?? end
  entrance.until = earlier === null ? null : end
  entrance.isChanged = true
}

/** The current visit: the last one of the trail. */
export const visitOf = (entrance: Entrance): Visit => entrance.trail[entrance.trail.length - 1] as Visit

/** Why an entrance is completed whose last step was skipped by hand. */
export const SKIPPED = 'skipped'

/** Has the user left otherwise than by a path or an exit of the graph: by an exit criterion, by hand, or because the journey ended? */
export function hasLeftEarly(entrance: Entrance): boolean {
  const { outcome, step } = entrance
  if (outcome === null || step.type === 'exit' || visitOf(entrance).path !== null) return false
  return outcome.as !== 'completed' || outcome.reason !== SKIPPED
}

/** Adds values that the current visit depended on, as far as they fit into 200 bytes of JSON. */
export function note(entrance: Entrance, seen: Seen | undefined): void {
  if (seen === undefined) return
  const visit = visitOf(entrance)
  const kept: Seen = {}
  for (const [name, value] of Object.entries({ ...visit.seen, ...seen })) {
    const more = { ...kept, [name]: value }
    if (Buffer.byteLength(JSON.stringify(more)) <= SEEN_BYTES_MAX) kept[name] = value
  }
  visit.seen = kept
  entrance.isChanged = true
}

const MINUTE_MS = 60_000
/** When a decision that failed is made again; after the last one it waits to be retried by hand. */
const RETRIES_MS = [MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS]

/** Parks an entrance whose decision failed, and sets when the decision is retried. */
export function park(entrance: Entrance, reason: string, at: Date): void {
  const wait = RETRIES_MS[entrance.attempts]
  entrance.parked = reason
  entrance.attempts++
  entrance.waits = []
  setTimer(entrance, wait === undefined ? null : new Date(at.getTime() + wait))
  entrance.isChanged = true
}

export function unpark(entrance: Entrance): void {
  if (entrance.parked === null && entrance.attempts === 0) return
  entrance.parked = null
  entrance.attempts = 0
  entrance.isChanged = true
}

/** Sets times of an entrance that are in the future, because a clock was ahead, back to now. */
export function setBack(entrance: Entrance, now: Date): void {
  const notAfter = (at: Date) => (at > now ? now : at)
  const aheadMs = Math.max(0, entrance.arrivedAt.getTime() - now.getTime())
  const earlier = (at: Date | null) => at && new Date(at.getTime() - aheadMs)
  const { dueAt, until } = entrance
  // For steps that do not look at their time anew.
  setTimer(entrance, earlier(until ?? dueAt), until && earlier(dueAt))
  entrance.enteredAt = notAfter(entrance.enteredAt)
  entrance.arrivedAt = notAfter(entrance.arrivedAt)
  entrance.actedAt = notAfter(entrance.actedAt)
  if (entrance.event && new Date(entrance.event.created_at) > now) entrance.event = { ...entrance.event, created_at: now.toISOString() }
  // A time of day that came less than a day ahead does not come a second time.
  const isAhead = ({ left_at }: Visit) => left_at !== null && Date.parse(left_at) > now.getTime() + DAY_MS
  for (const visit of entrance.trail.filter(isAhead)) visit.left_at = now.toISOString()
  visitOf(entrance).arrived_at = entrance.arrivedAt.toISOString()
  entrance.isChanged = true
}

/** The instant at which an item acts on an entrance. It is never earlier than that of the item before. */
export function actAt(entrance: Entrance, at: Date): Date {
  if (at.getTime() > entrance.actedAt.getTime()) {
    entrance.actedAt = at
    entrance.isChanged = true
  }
  return entrance.actedAt
}

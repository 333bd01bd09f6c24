/** Runs one user through journeys in memory: time jumps from one item, or timer, to the next. */
import type { JourneyId } from '../../../lib/ids.ts'
import { type Entrance, park } from '../engine/entrance.ts'
import { dependenciesOf, type Occasion } from '../engine/facts.ts'
import { type Graphs, openRun, type Run } from '../engine/run.ts'
import { applyWave } from '../engine/walk.ts'
import * as kinds from '../steps/index.ts'
import type { StepKind, Visit } from '../steps/step.ts'
import type { Given, SimulatedMessage } from './given.ts'
import { journeyUserOf, type SimulatedItem, type SimulatedUser } from './user.ts'
import { MemoryWorld } from './world.ts'

export type Simulation = {
  graphs: Graphs
  /** What entrances, waits and exit criteria depend on: other facts concern no one inside. */
  watches: ReadonlySet<string>
  journeyId: JourneyId
  user: SimulatedUser
  given: Given
  /** In the order in which they happen. */
  items: readonly SimulatedItem[]
  until: Date
  /** Facts older than this when they come begin nothing. */
  factAgeMaxMs: number
  visitsMax: number
  /** Called before each item: throws or waits when the simulation takes too long. */
  pause(): Promise<boolean>
}

export type SimulatedRefusal = { at: Date; reason: string }

/** What happened in the simulated journey. */
export type Simulated = {
  entrances: Entrance[]
  /** By entrance. */
  visits: Map<number, Visit[]>
  messages: SimulatedMessage[]
  refusals: SimulatedRefusal[]
  /** Why it ended before its end. */
  stopped: 'visits' | 'time' | null
}

const ITEMS_MAX = 20_000

/** Simulates one user. The graph to simulate is the first of the live ones. */
export async function simulateUser(simulation: Simulation): Promise<Simulated> {
  const { journeyId, user, given, items, until, visitsMax, pause } = simulation
  const world = new MemoryWorld(user, given)
  const result: Simulated = { entrances: [], visits: new Map(), messages: world.messages, refusals: [], stopped: null }
  const waiting = [...items]
  for (let applied = 0; ; applied++) {
    takeComing(world, waiting)
    const next = nextOf(simulation, world, result.entrances, waiting)
    if (next === null || next.at > until) break
    if (applied >= ITEMS_MAX || countVisits(result) >= visitsMax) result.stopped = 'visits'
    else if (await pause()) result.stopped = 'time'
    if (result.stopped !== null) break
    await applyOne(simulation, world, result, next)
  }
  return { ...result, entrances: result.entrances.filter((entrance) => entrance.journeyId === journeyId) }
}

const countVisits = ({ visits }: Simulated): number => visits.values().reduce((sum, of) => sum + of.length, 0)

/** Puts outcomes and answers among the items that wait, after those of the same instant. */
function takeComing({ coming }: MemoryWorld, waiting: SimulatedItem[]): void {
  for (const item of coming.splice(0)) {
    const at = waiting.findIndex((other) => other.at > item.at)
    if (at < 0) waiting.push(item)
    else waiting.splice(at, 0, item)
  }
}

type Next = { at: Date; item: SimulatedItem | null; entrance: Entrance | null }

/** The next item or timer. Requests come before timers of the same instant. */
function nextOf({ until }: Simulation, world: MemoryWorld, entrances: Entrance[], waiting: SimulatedItem[]): Next | null {
  const [item] = waiting
  const due = entrances
    .filter(({ outcome, dueAt }) => outcome === null && dueAt !== null)
    .sort((a, b) => (a.dueAt as Date).getTime() - (b.dueAt as Date).getTime() || a.id - b.id)[0]
  const changeMs = world.nextListChangeMs()
  const dueMs = due?.dueAt?.getTime() ?? Number.POSITIVE_INFINITY
  const itemMs = item?.at.getTime() ?? Number.POSITIVE_INFINITY
  if (changeMs < itemMs && changeMs <= dueMs && changeMs <= until.getTime()) {
    const at = new Date(changeMs)
    return { at, item: { at, isTime: true }, entrance: null }
  }
  if (due && dueMs < itemMs) return { at: due.dueAt as Date, item: null, entrance: due }
  if (!item) return null
  waiting.shift()
  return { at: item.at, item, entrance: null }
}

async function applyOne(
  { journeyId, graphs, watches, user, factAgeMaxMs }: Simulation,
  world: MemoryWorld,
  result: Simulated,
  next: Next,
): Promise<void> {
  const { at, item, entrance } = next
  world.now = at
  const facts = item ? world.accept(item) : []
  const isOut = item?.onlyIn !== undefined && !user.lists.has(item.onlyIn)
  const items = isOut ? [] : (item?.items ?? [])
  const timers = entrance ? [timerOf(entrance)] : []
  const concerns = facts.some((fact) => (fact.is === 'changed' && fact.isNew) || dependenciesOf(fact).some((what) => watches.has(what)))
  if (timers.length + items.length === 0 && !concerns) return
  const active = result.entrances.filter(({ outcome }) => outcome === null)
  const onFailure = () => undefined
  const run = openRun({ world, graphs, now: at, factAgeMaxMs, onFailure }, active)
  const occasion: Occasion = { userId: user.user.id, at, depth: 0, facts, timers, items }
  await applyWave(run, [occasion])
  takeOver(journeyId, user, run, result, at)
}

const timerOf = ({ id, visit, journeyId, dueAt }: Entrance) => ({ entranceId: id, visit, journeyId, dueAt: dueAt as Date })

/** Keeps what a wave changed, as a database would. Of journeys that links led to, only what decides about further entrances. */
function takeOver(simulated: JourneyId, user: SimulatedUser, run: Run, result: Simulated, at: Date): void {
  const all = [...run.entrances.values()].flat()
  for (const entrance of all) {
    if (!result.entrances.includes(entrance)) result.entrances.push(entrance)
    if (entrance.outcome === null && entrance.dueAt === null && entrance.parked === null)
      park(entrance, `arrived: The step ${entrance.step.key} neither moves on nor waits.`, at)
    if (entrance.journeyId === simulated) noteVisits(result, entrance)
  }
  for (const [journeyId, entrances] of Map.groupBy(all, (entrance) => entrance.journeyId)) notePlaces(user, journeyId, entrances)
  for (const { journey_id, ...delta } of run.deltas.values()) {
    const known = journeyUserOf(user, journey_id)
    known.entered += delta.entered
    known.lastEnteredAt = delta.last_entered_at ?? known.lastEnteredAt
    known.heldOutAt = delta.held_out_at ?? known.heldOutAt
    known.arm = delta.arm ?? known.arm
    known.goals = { ...known.goals, ...delta.goals }
    for (let entered = 0; entered < delta.entered; entered++) known.enteredAt.push(at)
  }
  for (const { journey_id, key_hash } of run.keys.values()) journeyUserOf(user, journey_id).keys.add(key_hash)
  for (const { journey_id, reason, users: times } of run.refusals.values())
    if (journey_id === simulated) for (let time = 0; time < times; time++) result.refusals.push({ at, reason: reason ?? '' })
}

/** Notes where the user is in a journey, and which entrances ended. */
function notePlaces(user: SimulatedUser, journeyId: JourneyId, entrances: Entrance[]): void {
  const known = journeyUserOf(user, journeyId)
  known.inside = entrances
    .filter(({ outcome }) => outcome === null)
    .map(({ step, enteredAt, arrivedAt }) => ({ step: step.key, enteredAt: enteredAt.getTime(), arrivedAt: arrivedAt.getTime() }))
  for (const { id, outcome } of entrances) {
    if (outcome === null) continue
    known.ended.add(id)
    known[outcome.as]++
    known.lastEndedAt = outcome.at.getTime()
    known.lastOutcome = outcome.as
  }
}

/** A trail forgets visits in the middle, so each is noted when it is made. */
function noteVisits({ visits }: Simulated, { id, trail }: Entrance): void {
  const known = visits.get(id) ?? []
  visits.set(id, known)
  for (const visit of trail) {
    const at = known.findLastIndex((other) => other.visit === visit.visit)
    if (at < 0) known.push(visit)
    else known[at] = visit
  }
}

const types: Record<string, StepKind> = kinds

/** A visit in words. */
export function sentenceOf({ graph }: Pick<Entrance, 'graph'>, visit: Visit): string {
  const step = graph.steps.get(visit.step)
  const kind = step && types[step.type]
  return step && kind ? kind.tell(step.settings, visit) : `Was at \`${visit.step}\`.`
}

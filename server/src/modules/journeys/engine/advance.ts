/**
 * One round: decisions about users at their steps, each of which leads to another step, waits, ends, or asks for an effect. Pure: it works
 * on entrances in memory, and everything that a decision depends on was loaded before.
 */
import type { ListId, UserId } from '../../../lib/ids.ts'
import { usableTimeZone } from '../../../lib/time-zones.ts'
import type { UserFacts } from '../../rules/index.ts'
import type { Decision, Effect, Input, RuleResult, StepContext } from '../steps/step.ts'
import { add, type Counts } from './counts.ts'
import { arrive, type Entrance, end, leave, note, park, setTimer, unpark, visitOf } from './entrance.ts'
import type { CompiledStep, Graph } from './graph.ts'

/** A decision to be made. The inputs belong to one item; after the user has moved on, the others do not count. */
export type Task = { entrance: Entrance; inputs: Input[]; at: Date }

/** A decision about a user at a step, for which something may have to be loaded. Without an entrance: whether the user enters there. */
export type Question = { userId: UserId; entrance: Entrance | null; step: CompiledStep; at: Date }

/** What was loaded for decisions. */
export type Loaded = {
  /** Undefined for a user who was erased. */
  user(id: UserId): (UserFacts['user'] & { id: number }) | undefined
  rule(entrance: Pick<Entrance, 'userId'>, step: CompiledStep, param: string): RuleResult
  isIn(userId: UserId, list: ListId): boolean | undefined
  rendered(entrance: Entrance, step: CompiledStep, param: string): { text: string } | { problem: string }
  /** The time zone of users without one. */
  zone: string
}

/** An effect that a decision asked for. */
export type Asked = { entrance: Entrance; step: CompiledStep; visit: number; effect: Effect; at: Date }

export type Round = {
  counts: Counts
  loaded: Loaded
  isHeld(graph: Graph): boolean
  onFailure(entrance: Entrance, error: unknown): void
  onArm(entrance: Entrance, path: string): void
}

const VISITS_PER_ITEM_MAX = 100
/** The kinds whose effects leave the system, which users of a journey that is held wait for. */
const HELD_AT: readonly string[] = ['action', 'webhook', 'link']

/** Makes the decisions of a round. Returns those of the next one, and the effects whose results it needs. */
export function advance(round: Round, tasks: Task[]): { next: Task[]; asked: Asked[] } {
  const next: Task[] = []
  const asked: Asked[] = []
  for (const { entrance, inputs, at } of tasks) {
    const { visit } = entrance
    for (const [index, input] of inputs.entries()) {
      if (entrance.outcome !== null || entrance.visit !== visit) break
      const decision = decide(round, entrance, input, at)
      if (decision === null) {
        for (const left of inputs.slice(index)) noteMatch(round, entrance, entrance.step, left, at)
        break
      }
      if (isTimeUp(entrance, input, decision) && round.isHeld(entrance.graph)) {
        restUntilResumed(entrance, at)
        continue
      }
      if ('seen' in decision) note(entrance, decision.seen)
      if (decision.is === 'do') asked.push({ entrance, step: entrance.step, visit, effect: decision.effect, at })
      else if (decision.is === 'go') next.push(...go(round, entrance, decision, at))
      else if (decision.is === 'end') finish(round, entrance, decision.as, decision.reason, at)
      else if (decision.is === 'wait') wait(entrance, decision)
      if (decision.is === 'do') break
    }
  }
  return { next, asked }
}

/** Has a wait ended only because its time has come? It may be found out by something else than the timer. */
const isTimeUp = ({ step }: Entrance, input: Input, decision: Decision): boolean =>
  decision.is === 'go' && input.is !== 'arrived' && (step.type === 'delay' || (step.type === 'wait_until' && decision.reason === 'timeout'))

/** No timer fires while a journey is held: the one of a wait whose time has come does once the journey is resumed. */
function restUntilResumed(entrance: Entrance, at: Date): void {
  const end = entrance.until ?? entrance.dueAt
  if (end === null || end > at) setTimer(entrance, at)
}

/** What a step decides; null if it fails, which parks the entrance. */
export function decide(round: Round, entrance: Entrance, input: Input, at: Date, step = entrance.step): Decision | null {
  try {
    const context = contextOf(round.loaded, entrance, step, input, at)
    if (context === null) return { is: 'stay' }
    const decision = step.kind.decide(step.settings, context)
    if (step === entrance.step) unpark(entrance)
    return decision
  } catch (error) {
    round.onFailure(entrance, error)
    park(entrance, `${input.is}: ${(error as Error).message}`, at)
    return null
  }
}

/** Notes what an event or a list move fulfils of a step that does not decide about it, or fails to, for its next decision. */
export function noteMatch(round: Round, entrance: Entrance, step: CompiledStep, input: Input, at: Date): void {
  for (const name of matchesOf(round, entrance, step, input, at)) {
    const key = `${step.key}:${name}`
    const instant = (input.is === 'event' ? input.createdAt : at).toISOString()
    if (entrance.seen[key] === instant) continue
    entrance.seen = { ...entrance.seen, [key]: instant }
    entrance.isChanged = true
  }
}

/** What the input fulfils; nothing if that fails, so that the other users of the batch go on. */
function matchesOf(round: Round, entrance: Entrance, step: CompiledStep, input: Input, at: Date): string[] {
  try {
    const context = contextOf(round.loaded, entrance, step, input, at)
    return (context && step.kind.matches?.(step.settings, context, step === entrance.step)) ?? []
  } catch (error) {
    // At its own step the user is parked, for the failure that was reported.
    if (step !== entrance.step) round.onFailure(entrance, error)
    return []
  }
}

/** What a decision about a user at a step knows; null for a user who was erased. */
function contextOf(loaded: Loaded, entrance: Entrance, step: CompiledStep, input: Input, at: Date): StepContext | null {
  const user = loaded.user(entrance.userId)
  if (!user) return null
  return {
    now: at,
    enteredAt: entrance.enteredAt,
    arrivedAt: entrance.arrivedAt,
    zone: usableTimeZone(user.timezone, loaded.zone),
    user,
    event: entrance.event,
    entrance: {
      id: entrance.id,
      journeyId: entrance.journeyId,
      step: step.key,
      visit: entrance.visit,
      key: entrance.key,
      keyPath: keyPathOf(entrance),
      lastLeftAt: lastLeftAt(entrance, step.key),
      seen: entrance.seen,
      answers: entrance.answers,
    },
    noted: step === entrance.step ? visitOf(entrance).seen : {},
    input,
    rule: (param) => loaded.rule(entrance, step, param),
    isIn: (list) => loaded.isIn(entrance.userId, list),
    rendered: (param) => loaded.rendered(entrance, step, param),
  }
}

function keyPathOf({ graph, trail }: Entrance): string | null {
  const first = graph.entrances.find(({ step }) => step === trail[0]?.step)
  return first?.settings.entry_key ?? null
}

function lastLeftAt({ trail, visit }: Entrance, step: string): Date | null {
  const last = trail.findLast((before) => before.step === step && before.visit < visit && before.left_at !== null)
  return last?.left_at == null ? null : new Date(last.left_at)
}

function wait(entrance: Entrance, { until, on }: Extract<Decision, { is: 'wait' }>): void {
  entrance.waits = on
  setTimer(entrance, until)
}

function go(round: Round, entrance: Entrance, { path, reason }: Extract<Decision, { is: 'go' }>, at: Date): Task[] {
  const { step, graph } = entrance
  leave(entrance, path, reason, at)
  count(round, entrance, step, path, reason)
  if (step.type === 'experiment') round.onArm(entrance, path)
  const next = nextOf(graph, step, path)
  if (next === undefined) {
    const exits = exitsIfOpen(step, path)
    if (exits !== undefined) finish(round, entrance, 'exited', exits, at, false)
    else finish(round, entrance, 'completed', 'completed', at, false)
    return []
  }
  return moveTo(round, entrance, next, at)
}

const exitsIfOpen = ({ kind, settings }: CompiledStep, path: string): string | undefined =>
  kind.paths(settings).find((one) => one.path === path)?.exitsIfOpen

function nextOf(graph: Graph, step: CompiledStep, path: string): CompiledStep | undefined {
  if (!step.hasChild(path) && exitsIfOpen(step, path) !== undefined) return undefined
  const key = step.next(path)
  return key === undefined ? undefined : graph.steps.get(key)
}

function count(
  { counts }: Round,
  { journeyId, graph: { version } }: Entrance,
  step: CompiledStep,
  path: string | null,
  reason: string,
): void {
  add(counts, { journey_id: journeyId, what: 'left', version, step_id: step.id, kind: step.type, path, reason })
}

/** Begins a visit of a step. Returns the decision to be made there, unless the journey is held. */
function moveTo(round: Round, entrance: Entrance, step: CompiledStep, at: Date): Task[] {
  if (entrance.visitsNow >= VISITS_PER_ITEM_MAX || !arrive(entrance, step, at)) {
    finish(round, entrance, 'exited', 'visit_limit', at, false)
    return []
  }
  const { journeyId, graph } = entrance
  add(round.counts, { journey_id: journeyId, what: 'arrived', version: graph.version, step_id: step.id, kind: step.type })
  return decideFirst(round, entrance, at)
}

/** The decision to be made about a user who has come to a step, also if it is made again. While the journey is held, it may have to wait. */
export function decideFirst(round: Round, entrance: Entrance, at: Date): Task[] {
  if (!HELD_AT.includes(entrance.step.type) || !round.isHeld(entrance.graph)) return [{ entrance, inputs: [{ is: 'arrived' }], at }]
  entrance.isHeld = true
  unpark(entrance)
  setTimer(entrance, null)
  return []
}

/** Leaves the step for another one, by hand or by a new version. */
export function jump(round: Round, entrance: Entrance, step: CompiledStep, reason: string, at: Date): Task[] {
  leave(entrance, null, reason, at)
  count(round, entrance, entrance.step, null, reason)
  return moveTo(round, entrance, step, at)
}

/** Ends an entrance. `isAtStep`: the user leaves the step too, which is counted. */
export function finish(round: Round, entrance: Entrance, as: 'completed' | 'exited', reason: string, at: Date, isAtStep = true): void {
  const { journeyId, graph, step } = entrance
  if (isAtStep) count(round, entrance, step, null, reason)
  end(entrance, as, reason, at)
  add(round.counts, { journey_id: journeyId, what: as, version: graph.version, step_id: step.id, reason })
}

/** Users who are led through a graph in memory, without a database. */
import type { JourneyId, UserId } from '../src/lib/ids.ts'
import { advance, type Round } from '../src/modules/journeys/engine/advance.ts'
import { type Entrance, enter } from '../src/modules/journeys/engine/entrance.ts'
import type { Fact, Occasion } from '../src/modules/journeys/engine/facts.ts'
import { compileGraph, type Graph } from '../src/modules/journeys/engine/graph.ts'
import { openRun, type Run } from '../src/modules/journeys/engine/run.ts'
import type { Step } from '../src/modules/journeys/schema.ts'
import type { Input } from '../src/modules/journeys/steps/step.ts'
import { caseContext } from './journey-context.ts'

const { user, now, zone } = caseContext({})

export { now }
export const USER = user.id as UserId
export const JOURNEY = 11 as JourneyId

/** A step, with the steps that its paths lead to. */
export const step = (external_id: string, type: Step['type'], data: object, ...paths: [path: string, to: string][]): Step => ({
  external_id,
  name: external_id,
  type,
  x: 0,
  y: 0,
  data: data as never,
  children: paths.map(([path, to]) => ({ external_id: to, path })),
})

/** A round in which no rule holds and every user is in no list. */
export const openRound = (): Round => ({
  counts: new Map(),
  loaded: {
    user: () => user,
    rule: () => ({ holds: false, nextChangeAt: null, seen: {} }),
    isIn: () => false,
    rendered: (_, { settings }, param) => ({ text: String(settings[param]) }),
    zone,
  },
  isHeld: () => false,
  onFailure: (_, error) => {
    throw error
  },
  onArm: () => undefined,
})

/** A graph whose entrance `start` leads to the first of these steps. */
export function graphWith(entrance: object, ...steps: Step[]): Graph {
  const all = [step('start', 'entrance', entrance, ['default', steps[0]?.external_id ?? '']), ...steps]
  const ids = new Map(all.map(({ external_id }, at) => [external_id, at]))
  return compileGraph({ journeyId: JOURNEY, version: 1, steps: all, settings: {}, ids })
}

/** A user who has entered, and is led on until something has to happen. */
export function enterWith(round: Round, ...steps: Step[]): Entrance {
  const graph = graphWith({ trigger: 'none' }, ...steps)
  const [first] = graph.entrances
  if (!first) throw new Error('The graph has no entrance.')
  const entrance = enter(graph, USER, { entrance: first, id: 1, slot: '', key: null, cause: 'api:1', depth: 0 }, null, now)
  for (let tasks = [{ entrance, inputs: [{ is: 'arrived' } as Input], at: now }]; tasks.length > 0; ) tasks = advance(round, tasks).next
  return entrance
}

/** An event of the user. */
export const event = (name: string, over: Partial<Extract<Fact, { is: 'event' }>> = {}): Fact => ({
  ...{ is: 'event', key: '1-0', name, data: {}, createdAt: now, isSystem: false, ofJourney: null, ofEntrance: null },
  ...{ isImport: false, isInherited: false, starts: true },
  ...over,
})

/** What one item means for the user. */
export const occasion = (...facts: Fact[]): Occasion => ({ userId: USER, at: now, depth: 0, facts, timers: [], items: [] })

const noWork = { load: async () => undefined, apply: async () => ({ results: new Map(), followed: [] }) }
const nobody = { journeyUser: () => ({ entered: 0, lastEnteredAt: null, heldOutAt: null, arm: null, goals: {} }), enteredToday: () => 0 }

/** A run with users who are inside, or may enter. */
export function runOf(live: Graph[], ...entrances: Parameters<typeof openRun>[1]): Run {
  const { loaded } = openRound()
  const world = { ...noWork, loaded: { ...loaded, ...nobody, user: () => user, hasEnded: () => false, hasKey: () => false } }
  const graphs = { live, isHeld: () => false, version: () => undefined, planFor: () => 'stay' as const }
  return openRun({ world, graphs, now, factAgeMaxMs: Number.POSITIVE_INFINITY, onFailure: (_, error) => Promise.reject(error) }, entrances)
}

/** Goals of journeys: what users are to do who entered, or were held out. Pure. */
import type { EventTest } from '../../rules/index.ts'
import { testsOf } from '../steps/settings.ts'
import type { Occurrence } from './facts.ts'
import type { Goal, Graph } from './graph.ts'
import { type Candidate, deltaOf, type Run } from './run.ts'
import { add } from './tally.ts'

/** The journeys of which an occurrence may reach a goal. */
const goalsFor = (run: Run, { facts }: Occurrence): { graph: Graph; goal: Goal }[] => {
  const names = new Set(facts.flatMap((fact) => (fact.is === 'event' ? [fact.name] : [])))
  if (names.size === 0) return []
  return run.graphs.live.flatMap((graph) =>
    (graph.settings.goals ?? []).filter(({ event_name }) => names.has(event_name)).map((goal) => ({ graph, goal })),
  )
}

/** The users of whom has to be known when their goals count. */
export const goalCandidates = (run: Run, occurrences: Occurrence[]): Candidate[] =>
  occurrences.flatMap((occurrence) =>
    goalsFor(run, occurrence).map(({ graph: { journeyId } }) => ({
      userId: occurrence.userId,
      journeyId,
      keyHash: null,
      entriesPerDayMax: Number.POSITIVE_INFINITY,
    })),
  )

/** Counts the goals that an occurrence reaches: each once for a user, while it counts. */
export function countGoals(run: Run, occurrence: Occurrence): void {
  const { userId, at, facts } = occurrence
  for (const { graph, goal } of goalsFor(run, occurrence)) {
    const { journeyId } = graph
    const { goalUntil, goals, arm, heldOutAt, entered } = run.world.loaded.journeyUser(userId, journeyId)
    const delta = deltaOf(run, userId, journeyId)
    if (goalUntil === null || at > goalUntil || goals[goal.name] !== undefined || delta.goals[goal.name] !== undefined) continue
    const passes = testsOf(goal.where as EventTest[] | undefined)
    if (!facts.some((fact) => fact.is === 'event' && fact.name === goal.event_name && passes(fact.data, at.getTime()))) continue
    delta.goals = { ...delta.goals, [goal.name]: at.toISOString() }
    const isHeldOut = heldOutAt !== null && entered === 0
    add(run.tally, { journey_id: journeyId, what: 'goal', path: goal.name, arm: isHeldOut ? 'holdout' : arm })
  }
}

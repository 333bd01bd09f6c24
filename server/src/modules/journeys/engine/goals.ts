/** Counts the goals of journeys that users of a wave reach. Pure. */
import { goalsOf, goalUntil } from '../goals.ts'
import { add } from './counts.ts'
import type { Fact, Occasion } from './facts.ts'
import type { Graph } from './graph.ts'
import { type Candidate, deltaOf, type Run } from './run.ts'

type EventFact = Extract<Fact, { is: 'event' }>

/** The journeys of which an event may reach a goal. */
const goalsFor = ({ graphs: { live, off = [] } }: Run, { facts }: Occasion): { graph: Graph; fact: EventFact }[] =>
  facts.flatMap((fact) => {
    if (fact.is !== 'event') return []
    const isMet = ({ settings }: Graph) => settings.goals?.some(({ event_name }) => event_name === fact.name) === true
    const counting = off.filter(({ graph, since }) => isMet(graph) && fact.createdAt <= (goalUntil(graph.settings, since) ?? since))
    return [...live.filter(isMet), ...counting.map(({ graph }) => graph)].map((graph) => ({ graph, fact }))
  })

/** The users whose goals may count, with their journeys. */
export const goalCandidates = (run: Run, occasions: Occasion[]): Candidate[] =>
  occasions.flatMap((occasion) =>
    goalsFor(run, occasion).map(({ graph: { journeyId } }) => ({
      userId: occasion.userId,
      journeyId,
      keyHash: null,
      entranceId: null,
      entriesPerDayMax: Number.POSITIVE_INFINITY,
    })),
  )

/** Counts the goals that an occasion reaches: each once for an entrance or a hold-out, while it counts. */
export function countGoals(run: Run, occasion: Occasion): void {
  const { userId } = occasion
  for (const { graph, fact } of goalsFor(run, occasion)) {
    const { journeyId } = graph
    const before = run.world.loaded.journeyUser(userId, journeyId)
    const delta = deltaOf(run, userId, journeyId)
    // A step of the same wave may have created the event.
    const user = {
      last_entered_at: delta.last_entered_at ?? before.lastEnteredAt,
      held_out_at: delta.held_out_at ?? before.heldOutAt,
      arm: delta.arm ?? before.arm,
      goals: { ...before.goals, ...delta.goals },
    }
    for (const reached of goalsOf(graph, user, fact)) {
      delta.goals = { ...delta.goals, [reached.name]: fact.createdAt.toISOString() }
      add(run.counts, { journey_id: journeyId, what: 'goal', path: reached.name, arm: reached.arm })
    }
  }
}

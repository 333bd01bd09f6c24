/** Entrances as they are stored. Pure. */
import type { EntranceChange, EntranceRow, PastEntrance } from '../../positions/index.ts'
import type { Entrance } from '../engine/entrance.ts'
import type { Graph } from '../engine/graph.ts'

/** The entrance of a row. Undefined if the graph does not have the step, which cannot happen to a published version. */
export function entranceOf(row: EntranceRow, graph: Graph): Entrance | undefined {
  const step = graph.steps.get(graph.keyOf.get(row.step_id) ?? '')
  if (!step) return undefined
  return {
    id: row.entrance_id,
    userId: row.user_id,
    journeyId: row.journey_id,
    enteredAt: row.entered_at,
    slot: row.slot,
    key: row.key,
    cause: row.cause,
    graph,
    step,
    visit: row.visit,
    depth: row.depth,
    attempts: row.attempts,
    isHeld: row.is_held,
    arrivedAt: row.arrived_at,
    actedAt: row.acted_at,
    dueAt: row.due_at,
    until: row.until,
    waits: row.waits,
    parked: row.parked,
    event: row.event,
    answers: row.answers,
    seen: row.seen,
    trail: row.trail,
    outcome: null,
    stored: { dueAt: row.due_at, visit: row.visit, type: step.type, event: row.event, answers: row.answers, seen: row.seen },
    isChanged: false,
    visitsNow: 0,
  }
}

export const rowOf = (entrance: Entrance): EntranceRow => ({
  user_id: entrance.userId,
  entrance_id: entrance.id,
  journey_id: entrance.journeyId,
  step_id: entrance.step.id,
  version: entrance.graph.version,
  visit: entrance.visit,
  depth: entrance.depth,
  attempts: entrance.attempts,
  is_held: entrance.isHeld,
  entered_at: entrance.enteredAt,
  arrived_at: entrance.arrivedAt,
  acted_at: entrance.actedAt,
  due_at: entrance.dueAt,
  until: entrance.until,
  slot: entrance.slot,
  key: entrance.key,
  cause: entrance.cause,
  waits: [...entrance.waits],
  parked: entrance.parked,
  event: entrance.event,
  answers: entrance.answers,
  seen: entrance.seen,
  trail: entrance.trail,
})

/** The columns of a stored entrance to be saved. `event`, `answers` and `seen` are included only if they have changed. */
export function changeOf(entrance: Entrance): EntranceChange {
  const { stored } = entrance
  const { journey_id: _, slot: __, key: ___, cause: ____, event, answers, seen, ...row } = rowOf(entrance)
  return {
    ...row,
    ...(event !== stored?.event && { event }),
    ...(answers !== stored?.answers && { answers }),
    ...(seen !== stored?.seen && { seen }),
  }
}

export const pastOf = (entrance: Entrance): PastEntrance[] => {
  const { outcome } = entrance
  if (outcome === null) return []
  const { user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at, key, cause, event, answers, trail } =
    rowOf(entrance)
  const ended = { ended_at: outcome.at, outcome: outcome.as, reason: outcome.reason }
  return [
    {
      user_id,
      entrance_id,
      journey_id,
      step_id,
      version,
      visit,
      depth,
      entered_at,
      arrived_at,
      key,
      cause,
      event,
      answers,
      trail,
      ...ended,
    },
  ]
}

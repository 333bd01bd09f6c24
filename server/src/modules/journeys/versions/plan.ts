/** What happens to the users inside when a version is published. Pure. */
import type { Fault } from '../../../lib/errors.ts'
import { own } from '../../../lib/own.ts'
import type { Step } from '../schema.ts'
import { isSameRate, placeMs } from '../steps/balancer.ts'
import type { Plan, PlanEntry } from './schema.ts'

/** Users at a step of an earlier version. `type` is that of the step there, and `last_due_at` when the wait of the last of them is over. */
export type UsersAtStep = { external_id: string; version: number; type: string; users: number; last_due_at: Date | null }

/** The same with what happens to them: `move` names the step. */
export type Planned = UsersAtStep & { plan: 'stay' | 'exit' | { move: string }; in_place: boolean }

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

const isMove = (value: unknown): value is { move: string } =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 1 && 'move' in value && typeof value.move === 'string'

/** The faults of a plan itself: unknown keys, and steps of the new version that no user can move to. */
export function planFaults({ steps = {} }: Plan, known: ReadonlySet<string>, graph: readonly Step[]): Fault[] {
  const targets = new Map(graph.map((step) => [step.external_id, step]))
  return Object.entries(steps).flatMap(([key, entry]): Fault[] => {
    const param = `plan.steps.${key}`
    if (!known.has(key)) return [broken(param, `No version of the journey has the step \`${key}\`.`)]
    if (entry === 'stay' || entry === 'exit' || entry === 'move') return []
    if (!isMove(entry)) {
      return [
        {
          code: 'parameter_invalid_format',
          param,
          message: `The value of \`${param}\` must be \`stay\`, \`exit\`, \`move\` or \`{"move": "<key>"}\`.`,
        },
      ]
    }
    return targetFaults(`${param}.move`, entry.move, targets.get(entry.move))
  })
}

/** Why users cannot be moved to a step. */
export function targetFaults(param: string, key: string, target: Step | undefined): Fault[] {
  if (!target) return [broken(param, `The version has no step \`${key}\`.`)]
  if (target.type === 'entrance') return [broken(param, `Users cannot be moved to \`${key}\`, because it is an entrance.`)]
  if (target.type === 'exit' && (target.data as { when?: unknown }).when !== undefined)
    return [broken(param, `Users cannot be moved to \`${key}\`, because it is an exit criterion.`)]
  return []
}

function entryFor({ steps = {}, default: otherwise = 'stay' }: Plan, key: string): PlanEntry {
  return own(steps, key) ?? otherwise
}

/** A balancer with the settings of a version, and when the wait of the last user there is over. */
export type Balancer = { step: Step; last_due_at: Date | null }

/** A balancer from which users lose their places. Those of users who keep theirs are all before `from`; null if there are none. */
type Vacated = { key: string; from: Date | null }

/**
 * The balancers of which users of a version lose their places: they exit, move elsewhere, or get new places by another rate. All versions share
 * the places of a balancer, and users of another one may keep theirs.
 */
export function vacatedBy(plan: Plan, balancers: readonly Balancer[], graph: readonly Step[]): Vacated[] {
  const byKey = Map.groupBy(balancers, ({ step }) => step.external_id)
  return [...byKey].flatMap(([key, group]): Vacated[] => {
    const kept = group.filter(({ step }) => keepsPlaces(entryFor(plan, key), step, graph))
    if (kept.length === group.length) return []
    const lastMs = Math.max(...kept.map(({ step, last_due_at }) => (last_due_at?.getTime() ?? 0) + placeMs(step.data)))
    return [{ key, from: kept.length === 0 ? null : new Date(lastMs) }]
  })
}

function keepsPlaces(entry: PlanEntry, { external_id: key, data }: Step, graph: readonly Step[]): boolean {
  if (entry === 'stay' || entry === 'exit') return entry === 'stay'
  const target = graph.find(({ external_id }) => external_id === key)
  return (entry === 'move' || entry.move === key) && target?.type === 'balancer' && isSameRate(data, target.data)
}

/** What happens to the users at each step, and the faults of steps for which the plan cannot be carried out. */
export function plannedOf(plan: Plan, groups: readonly UsersAtStep[], graph: readonly Step[]): { planned: Planned[]; faults: Fault[] } {
  const targets = new Map(graph.map((step) => [step.external_id, step]))
  const faults: Fault[] = []
  const planned = groups.map((group): Planned => {
    const { external_id: key, type, users } = group
    const entry = entryFor(plan, key)
    if (entry === 'stay' || entry === 'exit') return { ...group, plan: entry, in_place: false }
    const to = entry === 'move' ? key : entry.move
    const target = targets.get(to)
    if (entry === 'move' && target?.type !== type) {
      const what = target ? `has another type now` : `does not exist any more`
      const message = `${users} users are at \`${key}\`, which ${what}. Set \`plan.steps.${key}\` to decide what happens to them.`
      faults.push(broken(`plan.steps.${key}`, message))
    }
    return { ...group, plan: { move: to }, in_place: to === key && target?.type === type }
  })
  return { planned, faults }
}

/** How many users do not stay on their version. */
export const movingOf = (planned: readonly Planned[]): number =>
  planned.reduce((sum, { plan, users }) => (plan === 'stay' ? sum : sum + users), 0)

/** Whether a plan can move a user. If not, no sweep is needed. */
export const movesUsers = ({ default: otherwise = 'stay', steps = {} }: Plan): boolean =>
  otherwise !== 'stay' || Object.values(steps).some((entry) => entry !== 'stay')

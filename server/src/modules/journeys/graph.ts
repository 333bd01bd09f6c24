/** Checks the graph of a journey (D-JRN-2). Pure. Faults name a step by its key: `w1.children[0].external_id`. */
import type { Fault } from '../../lib/errors.ts'
import { type Check, checker } from '../../lib/validate.ts'
import { type Step, StepInput, type StepType } from './schema.ts'
import * as kinds from './steps/index.ts'
import type { StepKind, StepReference, StepRule } from './steps/step.ts'

const STEPS_MAX = 200
const KEY = /^[A-Za-z0-9_-]{1,64}$/

const checkStep = checker(StepInput)
const types: Record<StepType, StepKind> = kinds
const settingsChecks = Object.fromEntries(Object.entries(types).map(([type, { settings }]) => [type, checker(settings)])) as Record<
  StepType,
  Check<unknown>
>

/** The steps of a graph in its order, or its faults. */
export function readGraph(map: Record<string, unknown>): { steps: Step[]; faults: Fault[] } {
  const keys = Object.keys(map)
  if (keys.length > STEPS_MAX) {
    return { steps: [], faults: [{ code: 'validation_failed', param: 'body', message: `A journey may have at most ${STEPS_MAX} steps.` }] }
  }
  const read = Object.entries(map).map(([key, step]) => readStep(key, step))
  const faults = read.flatMap((step) => ('faults' in step ? step.faults : []))
  const steps = read.flatMap((step) => ('faults' in step ? [] : [step]))
  return { steps, faults: faults.length > 0 ? faults : [...childFaults(steps), ...loopFaults(steps)] }
}

function readStep(key: string, given: unknown): Step | { faults: Fault[] } {
  if (!KEY.test(key)) {
    const param = key.slice(0, 255) || 'body'
    const message = `The step key \`${key.slice(0, 255)}\` must be 1 to 64 letters, digits, \`_\` and \`-\`.`
    return { faults: [{ code: 'parameter_invalid_format', param, message }] }
  }
  const { faults, value } = checkStep(given)
  if (faults.length > 0) return { faults: faults.map((fault) => withPath(fault, key)) }
  const { type, name = '', x, y, data = {}, children = [] } = value
  const settings = settingsChecks[type](data)
  if (settings.faults.length > 0) return { faults: settings.faults.map((fault) => withPath(fault, `${key}.data`)) }
  return { external_id: key, type, name, x, y, data, children }
}

function withPath(fault: Fault, at: string): Fault {
  const param = fault.param === undefined || fault.param === 'body' ? at : `${at}.${fault.param}`
  return { ...fault, param, message: fault.message.replace(`\`${fault.param}\``, `\`${param}\``) }
}

function childFaults(steps: Step[]): Fault[] {
  const keys = new Set(steps.map(({ external_id }) => external_id))
  return edgesOf(steps).flatMap(({ from, to, param }) => {
    if (from === to) return broken(param, `The step \`${from}\` cannot lead to itself.`)
    return keys.has(to) ? [] : broken(param, `The step \`${from}\` leads to \`${to}\`, which does not exist.`)
  })
}

type Edge = { from: string; to: string; param: string }

const edgesOf = (steps: Step[]): Edge[] =>
  steps.flatMap(({ external_id: from, children }) =>
    children.map(({ external_id: to }, at) => ({ from, to, param: `${from}.children[${at}].external_id` })),
  )

/** A fault for each edge that closes a loop without a delay, in which a user would move forever. */
function loopFaults(steps: Step[]): Fault[] {
  const immediate = steps.filter(({ type }) => !types[type].waits)
  const keys = new Set(immediate.map(({ external_id }) => external_id))
  const edges = Map.groupBy(
    edgesOf(immediate).filter(({ from, to }) => keys.has(to) && from !== to),
    ({ from }) => from,
  )
  const state = new Map<string, 'entered' | 'left'>()
  const visit = (key: string): Fault[] => {
    state.set(key, 'entered')
    const faults = (edges.get(key) ?? []).flatMap(({ from, to, param }) => {
      if (state.get(to) === 'entered')
        return broken(param, `The step \`${from}\` closes a loop back to \`${to}\` without a delay. Add a step of the type \`delay\`.`)
      return state.has(to) ? [] : visit(to)
    })
    state.set(key, 'left')
    return faults
  }
  return [...keys].flatMap((key) => (state.has(key) ? [] : visit(key)))
}

const broken = (param: string, message: string): Fault[] => [{ code: 'validation_failed', param, message }]

/** Everything of the project that steps refer to. */
export function referencesOf(steps: Step[]): { ids: StepReference[]; rules: StepRule[] } {
  const ids: StepReference[] = []
  const rules: StepRule[] = []
  for (const { external_id, type, data } of steps) {
    for (const [member, kind] of Object.entries(types[type].refersTo ?? {})) {
      const value = (data as Record<string, unknown>)[member]
      const param = `${external_id}.data.${member}`
      if (value === undefined) continue
      if (kind === 'rule') rules.push({ rule: value, param })
      else ids.push({ kind, id: value as number, param })
    }
  }
  return { ids, rules }
}

/** Checks the graph of a journey (D-JRN-2). Pure. Faults name a step by its key: `w1.children[0].external_id`. */
import type { Fault } from '../../lib/errors.ts'
import { type Check, checker } from '../../lib/validate.ts'
import { STEPS_MAX, type Step, StepInput, type StepType } from './schema.ts'
import * as kinds from './steps/index.ts'
import type { StepKind, StepReference, StepRule } from './steps/step.ts'

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
  const found = settings.faults.length > 0 ? settings.faults : settingsFaults(type, data, 'stored')
  if (found.length > 0) return { faults: found.map((fault) => ofSettings(fault, key)) }
  return { external_id: key, type, name, x, y, data, children }
}

/** Why settings whose shape is correct cannot be stored, or cannot be published. Params are paths in `data`. */
export const settingsFaults = (type: StepType, data: object, when: 'stored' | 'published'): Fault[] =>
  types[type].faults?.(data, when) ?? []

/** The fault of a step, whose param is a path in it, or `body` for the step itself. */
const withPath = (fault: Fault, key: string): Fault =>
  fault.param === undefined || fault.param === 'body' ? renamed(fault, key) : renamed(fault, `${key}.${fault.param}`)

/** The fault of the settings of a step, whose param is a path in `data`. A setting can be called `body`. */
export const ofSettings = (fault: Fault, key: string): Fault => renamed(fault, `${key}.data.${fault.param}`)

const renamed = (fault: Fault, param: string): Fault => ({
  ...fault,
  param,
  message: fault.message.replaceAll(`\`${fault.param}\``, () => `\`${param}\``),
})

function childFaults(steps: Step[]): Fault[] {
  const keys = new Set(steps.map(({ external_id }) => external_id))
  return edgesOf(steps).flatMap(({ from, to, param }) => {
    if (from === to) return broken(param, `The step \`${from}\` cannot lead to itself.`)
    return keys.has(to) ? [] : broken(param, `The step \`${from}\` leads to \`${to}\`, which does not exist.`)
  })
}

type Edge = { from: string; to: string; param: string }

/** The ways from step to step. */
export const edgesOf = (steps: readonly Step[]): Edge[] =>
  steps.flatMap(({ external_id: from, children }) =>
    children.map(({ external_id: to }, at) => ({ from, to, param: `${from}.children[${at}].external_id` })),
  )

/** Whether users stay at a step for at least a minute, so that a loop may lead through it. */
export const isWait = ({ type, data }: Pick<Step, 'type' | 'data'>): boolean => types[type].waits?.(data) ?? false

/**
 * A fault for each edge that closes a loop without a delay, in which a user would move forever. A draft may have a delay that is not
 * filled in yet; the loops of a published graph need one that is long enough.
 */
export function loopFaults(steps: readonly Step[], isDelay: (step: Step) => boolean = ({ type }) => type === 'delay'): Fault[] {
  const immediate = steps.filter((step) => !isDelay(step))
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
        return broken(
          param,
          `The step \`${from}\` closes a loop back to \`${to}\` without a delay. Add a step of the type \`delay\`, of at least a minute.`,
        )
      return state.has(to) ? [] : visit(to)
    })
    state.set(key, 'left')
    return faults
  }
  return [...keys].flatMap((key) => (state.has(key) ? [] : visit(key)))
}

const broken = (param: string, message: string): Fault[] => [{ code: 'validation_failed', param, message }]

/** Everything of the project that steps refer to, with params such as `send1.data.branches[0].rule`. */
export function referencesOf(steps: readonly Step[]): { ids: StepReference[]; rules: StepRule[] } {
  const all = steps.map(({ external_id, type, data }) => {
    const at = <T extends { param: string }>(found: T): T => ({ ...found, param: `${external_id}.data.${found.param}` })
    const { ids = [], rules = [] } = types[type].references?.(data) ?? {}
    return { ids: ids.map(at), rules: rules.map(at) }
  })
  return { ids: all.flatMap(({ ids }) => ids), rules: all.flatMap(({ rules }) => rules) }
}

/** The kind of a step. */
export const kindOf = (type: StepType): StepKind => types[type]

/** A published graph, compiled for many users. Pure. */
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import { type CompiledRule, compileRule, type Rule } from '../../rules/index.ts'
import type { Step, StepType } from '../schema.ts'
import type { JourneySettings } from '../settings.ts'
import type { EntranceSettings } from '../steps/entrance.ts'
import * as kinds from '../steps/index.ts'
import { DEFAULT_PATH, type Dependency, type StepKind } from '../steps/step.ts'
import { type EntranceStep, entrancesOf } from './entry.ts'

export type CompiledStep = {
  key: string
  /** In the register of ids. */
  id: number
  type: StepType
  kind: StepKind
  settings: Record<string, unknown>
  rules: readonly { param: string; rule: CompiledRule }[]
  lists: readonly ListId[]
  liquid: readonly { param: string; template: string }[]
  dependencies: ReadonlySet<Dependency>
  /** The step that a path leads to. An open path leads to the default one. Undefined: the entrance ends. */
  next(path: string): string | undefined
  hasChild(path: string): boolean
}

export type Graph = {
  journeyId: JourneyId
  version: number
  settings: JourneySettings
  steps: ReadonlyMap<string, CompiledStep>
  keyOf: ReadonlyMap<number, string>
  entrances: readonly EntranceStep[]
  /** Exit criteria, in the order of their keys. */
  criteria: readonly CompiledStep[]
  /** Steps that count what happens while the user is elsewhere. */
  counting: readonly CompiledStep[]
  /** What entrances, exit criteria, goals and steps depend on. */
  watches: ReadonlySet<Dependency>
}

export type GraphSource = {
  journeyId: JourneyId
  version: number
  steps: readonly Step[]
  settings: JourneySettings
  ids: ReadonlyMap<string, number>
}

const types: Record<StepType, StepKind> = kinds

/** Compiles a graph that may be published. */
export function compileGraph({ journeyId, version, steps, settings, ids }: GraphSource): Graph {
  const compiled = steps.map((step) => compileStep(step, ids.get(step.external_id) ?? 0))
  const inOrder = [...compiled].sort((a, b) => (a.key < b.key ? -1 : 1))
  const criteria = inOrder.filter(({ type, settings }) => type === 'exit' && settings.when !== undefined)
  const watches = new Set<Dependency>()
  for (const { event_name } of settings.goals ?? []) watches.add(`event:${event_name}`)
  for (const step of compiled) addAll(watches, step.dependencies)
  return {
    journeyId,
    version,
    settings,
    steps: new Map(compiled.map((step) => [step.key, step])),
    keyOf: new Map(compiled.map(({ id, key }) => [id, key])),
    entrances: entrancesOf(steps),
    criteria,
    counting: compiled.filter(({ kind }) => kind.matches !== undefined),
    watches,
  }
}

function addAll<T>(into: Set<T>, values: Iterable<T>): void {
  for (const value of values) into.add(value)
}

/** What makes users enter. */
function startsOf({ trigger, event_name, list_id }: EntranceSettings): Dependency[] {
  if (trigger === 'event' && event_name !== undefined) return [`event:${event_name}`]
  return trigger === 'list' && list_id !== undefined ? [`list:${list_id}`] : []
}

function compileStep({ external_id, type, data, children }: Step, id: number): CompiledStep {
  const kind = types[type]
  const { rules = [], lists = [], liquid = [] } = kind.needs?.(data) ?? {}
  const compiled = rules.map(({ rule, param }) => ({ param, rule: compileRule(rule as Rule) }))
  const childOf = new Map(children.map(({ external_id: child, path }) => [path ?? DEFAULT_PATH, child]))
  const dependencies = new Set([...(kind.dependencies?.(data) ?? []), ...(type === 'entrance' ? startsOf(data) : [])])
  for (const { rule } of compiled) addAll(dependencies, rule.dependencies)
  return {
    key: external_id,
    id,
    type,
    kind,
    settings: data,
    rules: compiled,
    lists,
    liquid,
    dependencies,
    next: (path) => childOf.get(path) ?? childOf.get(DEFAULT_PATH),
    hasChild: (path) => childOf.has(path),
  }
}

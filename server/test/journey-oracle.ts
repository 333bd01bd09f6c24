/**
 * A naive interpreter of one user in one journey: a list of instants, no batches, no database. It shares nothing with the engine but the
 * decisions of the kinds of step. For graphs of one entrance by an event, with steps that change attributes and nothing else.
 */
import type { JourneyId } from '../src/lib/ids.ts'
import * as kinds from '../src/modules/journeys/steps/index.ts'
import type { Decision, Input, StepContext, StepKind } from '../src/modules/journeys/steps/step.ts'
import type { GrownGraph, GrownStep } from './journey-graphs.ts'

export type OracleInput = { at: Date; event?: { name: string; data: Record<string, unknown> }; plan?: string }

type Visit = { step: string; path: string | null; arrived: Date; left: Date | null }
type Run = {
  entered: Date
  event: { name: string; data: Record<string, unknown>; created_at: string }
  step: string
  arrived: Date
  visits: Visit[]
  seen: Record<string, string>
  noted: Record<string, unknown>
  wait: { until: Date; on: readonly string[] } | null
  isOver: boolean
}
type User = { id: number; externalId: string; createdAt: Date; zone: string; data: Record<string, unknown> }
type Journey = { id: number; graph: GrownGraph }

const kindOf = ({ type }: GrownStep): StepKind => (kinds as Record<string, StepKind>)[type] as StepKind

/** The values at a path such as `branches[1].rule`. */
const valueAt = (value: unknown, path: string): any =>
  path
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .reduce((found: any, part) => found?.[part], value)

/** Rules of the generator: a plan, or none. */
function holds(rule: any, { data }: User): boolean {
  return rule.not ? !holds(rule.not, { data } as User) : data[rule.attribute.slice('data.'.length)] === rule.is
}

const render = (template: string, scope: object): string =>
  template.replace(/\{\{ ([\w.]+) \}\}/g, (_, path) => String(valueAt(scope, path) ?? ''))

function contextOf(journey: Journey, user: User, run: Run, key: string, input: Input, now: Date): StepContext {
  const step = journey.graph[key] as GrownStep
  const before = run.visits.slice(0, -1).findLast((visit) => visit.step === key)
  return {
    now,
    enteredAt: run.entered,
    arrivedAt: run.arrived,
    zone: user.zone,
    user: {
      ...{ id: user.id, external_id: user.externalId, anonymous_id: null, email: null, phone: null, timezone: null, locale: null },
      ...{ data: user.data, has_push_device: false, created_at: user.createdAt },
    },
    event: run.event,
    entrance: {
      ...{ id: 0, journeyId: journey.id as JourneyId, step: key, visit: run.visits.length, key: null, keyPath: null },
      ...{ lastLeftAt: before?.left ?? null, seen: run.seen, answers: {} },
    },
    noted: key === run.step ? run.noted : {},
    input,
    rule: (param) => ({ holds: holds(valueAt(step.data, param), user), nextChangeAt: null, seen: {} }),
    isIn: () => undefined,
    rendered: (param) => ({
      text: render(String(valueAt(step.data, param)), { user: { external_id: user.externalId, data: user.data }, event: run.event }),
    }),
  }
}

/** The visits of the user, entrance by entrance, until an instant. */
export function interpret(journey: Journey, user: User, inputs: OracleInput[], until: Date): Visit[] {
  const { graph } = journey
  const [start, entrance] = Object.entries(graph).find(([, { type }]) => type === 'entrance') as [string, GrownStep]
  const criteria = Object.keys(graph)
    .filter((key) => graph[key]?.type === 'exit' && graph[key]?.data.when !== undefined)
    .sort()
  const runs: Run[] = []
  const active = () => runs.find(({ isOver }) => !isOver)

  const leave = (run: Run, path: string | null, now: Date) => Object.assign(run.visits.at(-1) as Visit, { path, left: now })
  const finish = (run: Run, now: Date) => {
    if (run.visits.at(-1)?.left === null) leave(run, null, now)
    run.isOver = true
  }
  const arrive = (run: Run, step: string, now: Date) => {
    Object.assign(run, { step, arrived: now, wait: null, noted: {} })
    run.visits.push({ step, path: null, arrived: now, left: null })
  }
  const decide = (run: Run, input: Input, now: Date, key = run.step): Decision => {
    const step = graph[key] as GrownStep
    const decision = kindOf(step).decide(step.data, contextOf(journey, user, run, key, input, now))
    if (key === run.step && 'seen' in decision) run.noted = { ...run.noted, ...decision.seen }
    return decision
  }

  /** What a decision does. True if there is something to be decided at once. */
  const act = (run: Run, decision: Decision, now: Date): boolean => {
    if (decision.is === 'wait') run.wait = decision
    if (decision.is === 'end') finish(run, now)
    if (decision.is !== 'go') return false
    leave(run, decision.path, now)
    const step = graph[run.step] as GrownStep
    const child = step.children.find(({ path = 'default' }) => path === decision.path)
    const exits =
      kindOf(step)
        .paths(step.data)
        .find(({ path }) => path === decision.path)?.exitsIfOpen !== undefined
    const next = child ?? (exits ? undefined : step.children.find(({ path = 'default' }) => path === 'default'))
    if (next) arrive(run, next.external_id, now)
    else run.isOver = true
    return next !== undefined
  }
  const checkExits = (run: Run, input: Input | null, now: Date) => {
    for (const key of criteria) {
      if (run.isOver) return
      const decision = decide(run, input ?? { is: 'changed', what: [] }, now, key)
      if (decision.is === 'end') finish(run, now)
    }
  }
  const walk = (run: Run, now: Date) => {
    let input: Input = { is: 'arrived' }
    while (!run.isOver) {
      const decision = decide(run, input, now)
      if (decision.is === 'do') {
        const { attributes } = decision.effect as { attributes: Record<string, unknown> }
        const changed = Object.keys(attributes).filter((name) => user.data[name] !== attributes[name])
        user.data = { ...user.data, ...attributes }
        if (changed.length > 0) checkExits(run, { is: 'changed', what: changed.map((name) => `attribute:data.${name}`) }, now)
        input = { is: 'done', result: { is: 'applied' } }
      } else if (act(run, decision, now)) input = { is: 'arrived' }
      else return
    }
  }

  const enter = ({ event, at }: OracleInput) => {
    const { event_name, where, rule, on_repeat = 'ignore', reenter_after } = entrance.data as Record<string, any>
    if (event?.name !== event_name || (where && !(Number(event?.data.total) > where[0].greater_than))) return
    if (rule && !holds(rule, user)) return
    const inside = active()
    const entry = { name: event?.name as string, data: event?.data ?? {}, created_at: at.toISOString() }
    if (inside && on_repeat === 'update') inside.event = entry
    if (inside && on_repeat !== 'restart') return
    const last = runs.at(-1)
    if (!inside && reenter_after && last && at.getTime() < last.entered.getTime() + 3_600_000) return
    if (inside) finish(inside, at)
    const run: Run = { entered: at, event: entry, step: start, arrived: at, visits: [], seen: {}, noted: {}, wait: null, isOver: false }
    runs.push(run)
    arrive(run, start, at)
    checkExits(run, null, at)
    walk(run, at)
  }

  const apply = (given: OracleInput) => {
    const { at, event, plan } = given
    const isChanged = plan !== undefined && user.data.plan !== plan
    if (plan !== undefined) user.data = { ...user.data, plan }
    const run = active()
    const input: Input | null = event
      ? { is: 'event', name: event.name, data: event.data, createdAt: at }
      : isChanged
        ? { is: 'changed', what: ['attribute:data.plan'] }
        : null
    const about = event ? `event:${event.name}` : 'attribute:data.plan'
    let moved = false
    if (run && input) {
      checkExits(run, input, at)
      if (!run.isOver && event) noteMatches(run, input, at)
      if (!run.isOver && run.wait?.on.includes(about)) moved = act(run, decide(run, input, at), at)
    }
    enter(given)
    if (run && moved) walk(run, at)
  }
  const noteMatches = (run: Run, input: Input, at: Date) => {
    for (const [key, step] of Object.entries(graph)) {
      if (key === run.step || !kindOf(step).matches) continue
      const names = kindOf(step).matches?.(step.data, contextOf(journey, user, run, key, input, at), false) ?? []
      for (const name of names) run.seen = { ...run.seen, [`${key}:${name}`]: at.toISOString() }
    }
  }

  const waiting = [...inputs].sort((a, b) => a.at.getTime() - b.at.getTime())
  for (;;) {
    const run = active()
    const due = run?.wait?.until
    const [next] = waiting
    if (due && run && due <= until && (!next || due < next.at)) {
      if (act(run, decide(run, { is: 'timer' }, due), due)) walk(run, due)
      else if (!run.isOver && run.wait?.until.getTime() === due.getTime()) throw new Error(`A timer of ${run.step} changes nothing.`)
    } else if (next && next.at <= until) {
      waiting.shift()
      apply(next)
    } else return runs.flatMap(({ visits }) => visits)
  }
}

/** A graph that the interpreter can run: one entrance by an event, and other kinds replaced by those that change attributes. */
export function simplified(graph: GrownGraph): GrownGraph {
  const [start, entrance] = Object.entries(graph).find(([, { type }]) => type === 'entrance') as [string, GrownStep]
  const { on_repeat, reenter_after, rule } = entrance.data
  const repeats = { multiple: true, ...(on_repeat !== undefined && { on_repeat }), ...(reenter_after !== undefined && { reenter_after }) }
  const data = { trigger: 'event', event_name: 'cart', ...repeats, ...(rule !== undefined && { rule }) }
  const known = ['delay', 'wait_until', 'gate', 'experiment', 'update', 'exit']
  const simple = Object.fromEntries(
    Object.entries(graph).map(([key, step]) => [key, known.includes(step.type) ? step : key === start ? { ...step, data } : instead(step)]),
  )
  const reached = new Set([start, ...Object.keys(graph).filter((key) => graph[key]?.data.when !== undefined)])
  // A set is read to its end, also what is added meanwhile.
  for (const key of reached) for (const { external_id } of simple[key]?.children ?? []) reached.add(external_id)
  return Object.fromEntries(Object.entries(simple).filter(([key]) => reached.has(key))) as GrownGraph
}

function instead(step: GrownStep): GrownStep {
  const [only, ...more] = step.children
  if (!only) return { ...step, type: 'exit', data: {} }
  if (more.length === 0)
    return {
      ...step,
      type: 'update',
      data: { attributes: { stage: '{{ event.data.total }}' } },
      children: [{ external_id: only.external_id }],
    }
  const branches = step.children.map((_, index) => ({ path: `p${index}`, weight: 1 }))
  const children = step.children.map(({ external_id }, index) => ({ external_id, path: `p${index}` }))
  return { ...step, type: 'experiment', data: { branches }, children }
}

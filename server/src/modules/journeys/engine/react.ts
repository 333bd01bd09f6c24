/** What facts and items do to the users who are inside: exits first, then what they wait for. Pure. */
import type { JourneyItem } from '../queue-items.ts'
import { isSameRate } from '../steps/balancer.ts'
import { DEFAULT_PATH, type Input } from '../steps/step.ts'
import { decide, decideFirst, jump, noteMatch, type Question, type Task } from './advance.ts'
import { actAt, type Entrance, SKIPPED, setBack, setTimer, unpark } from './entrance.ts'
import { dependenciesOf, type Fact, inputOf, type Occasion } from './facts.ts'
import type { CompiledStep } from './graph.ts'
import { activeOf, countStale, exit, type Run } from './run.ts'

/** What came to a user by a merge ends no wait and no entrance. Which events are too old, the steps decide. */
const concerns = (fact: Fact): boolean => fact.is === 'changed' || !fact.isInherited

const isAbout = (step: Pick<CompiledStep, 'dependencies'>, fact: Fact): boolean =>
  (fact.is === 'changed' && fact.isNew) || dependenciesOf(fact).some((what) => step.dependencies.has(what))

/** The exit criteria that an item has to be checked against. Rules are checked on every item, because time changes them too. */
const criteriaFor = (entrance: Entrance, facts: Fact[]): CompiledStep[] =>
  entrance.graph.criteria.filter((step) => step.rules.length > 0 || facts.some((fact) => isAbout(step, fact)))

/** What has to be loaded to decide what occasions do to users who are inside. */
export function questionsOf(run: Run, occasions: Occasion[]): Question[] {
  return occasions.flatMap(({ userId, at, facts, timers }) =>
    activeOf(run, userId).flatMap((entrance): Question[] => {
      const isWoken = inputsFor(entrance, facts, timers, at).length > 0
      const counting = entrance.graph.counting.filter((step) => facts.some((fact) => isAbout(step, fact)))
      const steps = [...criteriaFor(entrance, facts), ...counting, ...(isWoken ? [entrance.step] : [])]
      return steps.map((step) => ({ userId, entrance, step, at }))
    }),
  )
}

/** Checks the exit criteria of each entrance of a user, in the order of the keys of their steps. */
export function checkExits(run: Run, { userId, at, facts }: Occasion): void {
  for (const entrance of activeOf(run, userId)) {
    const own = facts.filter(concerns)
    checkCriteria(run, entrance, own, at)
  }
}

/** Checks the exit criteria of one entrance. Without facts, only criteria with a rule are checked. */
export function checkCriteria(run: Run, entrance: Entrance, facts: Fact[], at: Date): void {
  const instant = actAt(entrance, at)
  for (const step of criteriaFor(entrance, facts)) {
    const about = facts.filter((fact) => isAbout(step, fact)).map(inputOf)
    for (const input of about.length > 0 ? about : [{ is: 'changed' as const, what: [] }]) {
      const decision = decide(run.round, entrance, input, instant, step)
      if (decision?.is !== 'end') continue
      exit(run, entrance, decision.reason, instant, decision.as)
      return
    }
  }
}

/**
 * Sets the timer to when the rule of an exit criterion can hold because time passes, if that is before the end of the wait. Else it is that
 * end: also of users whose version has no such criterion any more.
 */
export function lookBefore(run: Run, entrance: Entrance): void {
  const { graph, parked, isHeld, dueAt, until, actedAt } = entrance
  const rules = graph.criteria.flatMap((step) => step.rules.map(({ param }) => ({ step, param })))
  if ((rules.length === 0 && until === null) || parked !== null || isHeld || dueAt === null) return
  const end = until ?? dueAt
  let first = end
  for (const { step, param } of rules) {
    const { nextChangeAt } = run.world.loaded.rule(entrance, step, param)
    if (nextChangeAt !== null && nextChangeAt > actedAt && nextChangeAt < first) first = nextChangeAt
  }
  if (first.getTime() !== dueAt.getTime()) setTimer(entrance, end, first === end ? null : first)
}

/** Notes the facts of an occasion that later waits of its user count, and the present one if its decision failed and is made again. */
export function noteMatches(run: Run, { userId, at, facts }: Occasion): void {
  for (const entrance of activeOf(run, userId)) {
    for (const step of entrance.graph.counting) {
      if (step === entrance.step && entrance.parked === null) continue
      for (const fact of facts) {
        if (fact.is === 'changed' || !concerns(fact) || !isAbout(step, fact)) continue
        noteMatch(run.round, entrance, step, inputOf(fact), at)
      }
    }
  }
}

/** What of an occasion the step of an entrance decides about. */
function inputsFor(entrance: Entrance, facts: Fact[], timers: Occasion['timers'], at: Date): Input[] {
  const { id, visit, dueAt, until } = entrance
  const isTimed = timers.some((timer) => timer.entranceId === id && timer.visit === visit && timer.dueAt.getTime() === dueAt?.getTime())
  const isDue = isTimed && (until === null || until <= at)
  if (entrance.isHeld) return []
  if (entrance.parked !== null) return isDue ? [retryOf(entrance)] : []
  const waits = new Set(entrance.waits)
  const woken = facts.filter((fact) => concerns(fact) && wakes(waits, fact))
  return [...woken.map(inputOf), ...(isDue ? [{ is: 'timer' as const }] : [])]
}

const wakes = (waits: ReadonlySet<string>, fact: Fact): boolean =>
  (fact.is === 'changed' && fact.isNew && waits.size > 0) || dependenciesOf(fact).some((what) => waits.has(what))

/** The decision that failed, as far as it can be made again. */
const retryOf = ({ parked }: Entrance): Input => (parked?.startsWith('timer:') ? { is: 'timer' } : { is: 'arrived' })

/** The decisions about entrances that wait for one of these facts, or whose timers are due. */
export function wake(run: Run, { userId, at, facts, timers }: Occasion): Task[] {
  return activeOf(run, userId).flatMap((entrance): Task[] => {
    const inputs = inputsFor(entrance, facts, timers, at)
    return inputs.length === 0 ? [] : [{ entrance, inputs, at: actAt(entrance, at) }]
  })
}

/** The decisions that items of journeys lead to. */
export const applyItems = (run: Run, { userId, at, items }: Occasion): Task[] =>
  items.flatMap((item) =>
    activeOf(run, userId)
      .filter(({ journeyId, id }) => journeyId === item.journey_id && (item.entrance_id === undefined || id === item.entrance_id))
      .flatMap((entrance) => applyItem(run, entrance, item, actAt(entrance, at))),
  )

function applyItem(run: Run, entrance: Entrance, item: JourneyItem, at: Date): Task[] {
  const task = (...inputs: Input[]): Task[] => [{ entrance, inputs, at }]
  switch (item.do) {
    case 'exit':
      exit(run, entrance, item.reason, at)
      return []
    case 'move':
      return moveByHand(run, entrance, item.to, at)
    case 'skip':
      return skip(run, entrance, item.visit, at)
    case 'retry': {
      if (entrance.parked === null) return []
      const input = retryOf(entrance)
      return input.is === 'arrived' ? decideFirst(run.round, entrance, at) : task(input)
    }
    case 'wake':
      if (!entrance.isHeld) return task({ is: 'changed', what: [] })
      if (run.graphs.isHeld(entrance.journeyId)) return []
      entrance.isHeld = false
      entrance.isChanged = true
      return task({ is: 'arrived' })
    case 'clock':
      return actAgain(run, entrance)
    case 'plan':
      return moveByPlan(run, entrance, item.version, at)
    case 'outcome':
    case 'answer':
      return answered(run, entrance, item, at)
    case 'enter':
      return []
    default:
      return item satisfies never
  }
}

/** The next wait counts from now, places of a balancer are reserved anew, and messages are looked at. */
function actAgain(run: Run, entrance: Entrance): Task[] {
  const { now } = run
  setBack(entrance, now)
  if (entrance.isHeld) return []
  // It may have been sent in the future that did not come, also if the user had arrived before.
  if (entrance.step.type === 'action' && entrance.parked === null) setTimer(entrance, now)
  const isAnew = entrance.step.type === 'balancer' || entrance.parked !== null
  return isAnew ? decideFirst(run.round, entrance, now) : [{ entrance, inputs: [{ is: 'changed', what: [] }], at: now }]
}

function answered(run: Run, entrance: Entrance, item: Extract<JourneyItem, { do: 'outcome' | 'answer' }>, at: Date): Task[] {
  if (item.visit !== entrance.visit || entrance.isHeld) {
    countStale(run, entrance)
    return []
  }
  if (item.do === 'outcome') return [{ entrance, inputs: [{ is: 'outcome', state: item.state, reason: item.reason }], at }]
  const answer = { status: item.status, body: item.body }
  entrance.answers = { ...entrance.answers, [entrance.step.key]: answer }
  entrance.isChanged = true
  return [{ entrance, inputs: [{ is: 'answer', answer, problem: item.problem }], at }]
}

/** Lets a user leave by the default path. A step without one may be reached by a publication after the request was checked. */
function skip(run: Run, entrance: Entrance, visit: number | undefined, at: Date): Task[] {
  const { step } = entrance
  if ((visit !== undefined && visit !== entrance.visit) || !canBeSkipped(step)) {
    countStale(run, entrance)
    return []
  }
  const next = step.next(DEFAULT_PATH)
  if (next !== undefined) return moveByHand(run, entrance, next, at, SKIPPED)
  exit(run, entrance, SKIPPED, at, 'completed')
  return []
}

function canBeSkipped({ kind, settings, hasChild }: CompiledStep): boolean {
  const paths = kind.paths(settings).map(({ path }) => path)
  return paths.includes(DEFAULT_PATH) || hasChild(DEFAULT_PATH) || !paths.some(hasChild)
}

function moveByHand(run: Run, entrance: Entrance, to: string, at: Date, reason = 'moved'): Task[] {
  const step = entrance.graph.steps.get(to)
  return step === undefined ? [] : jump(run.round, entrance, step, reason, at)
}

/**
 * Moves a user to another version. At a step of the same key and type the visit continues, and the step decides again: a balancer only if
 * its rate has changed, because otherwise users would lose their places.
 */
function moveByPlan(run: Run, entrance: Entrance, version: number, at: Date): Task[] {
  const graph = run.graphs.version(entrance.journeyId, version)
  if (!graph || entrance.graph.version === version) return []
  const { step, visit } = entrance
  const plan = run.graphs.planFor(entrance.journeyId, version, step.key)
  if (plan === 'stay') return []
  if (plan === 'exit') {
    exit(run, entrance, 'published', at)
    return []
  }
  const target = graph.steps.get(plan.move)
  if (!target) return []
  entrance.isChanged = true
  entrance.graph = graph
  if (target.key !== step.key || target.type !== step.type) return jump(run.round, entrance, target, 'published', at)
  entrance.step = target
  if (entrance.isHeld || entrance.visit !== visit) return []
  const wasParked = entrance.parked !== null
  unpark(entrance)
  const isBegun = !wasParked && (target.type !== 'balancer' || isSameRate(step.settings, target.settings))
  return isBegun ? [{ entrance, inputs: [{ is: 'changed', what: [] }], at }] : decideFirst(run.round, entrance, at)
}

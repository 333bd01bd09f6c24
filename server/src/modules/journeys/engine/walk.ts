/**
 * A wave: what one item of each user does, from exits to entrances, and then the walk of all users, round by round, until each of them
 * waits or has ended (D-JRN-30). The same for users of a project and in a simulation, which differ in their world.
 */
import type { EffectResult, Input } from '../steps/step.ts'
import { type Asked, advance, type Question, type Task } from './advance.ts'
import { type Attempt, attempt, attemptsOf, neededBy } from './entries.ts'
import type { Occasion } from './facts.ts'
import { countGoals, goalCandidates } from './goals.ts'
import { causes } from './ids.ts'
import { applyItems, checkCriteria, checkExits, lookBefore, noteMatches, questionsOf, wake } from './react.ts'
import { activeOf, type Run } from './run.ts'

/** Applies one occasion of each user. Changes the entrances of the run, which the caller saves. */
export async function applyWave(run: Run, occasions: Occasion[]): Promise<void> {
  for (const { userId } of occasions) for (const entrance of activeOf(run, userId)) entrance.visitsNow = 0
  let tasks = await react(run, occasions)
  while (tasks.length > 0) {
    run.rounds++
    run.decisions += tasks.length
    await run.world.load({ questions: tasks.map(questionOf), lists: [], candidates: [] })
    const { next, asked } = advance(run.round, tasks)
    tasks = [...next, ...(await applyEffects(run, asked))]
  }
  for (const { userId } of occasions) for (const entrance of activeOf(run, userId)) lookBefore(run, entrance)
}

const questionOf = ({ entrance, at }: Task): Question => ({ userId: entrance.userId, entrance, step: entrance.step, at })

/** Exits, then waits, then entrances. Returns the decisions to be made next. */
async function react(run: Run, occasions: Occasion[]): Promise<Task[]> {
  if (occasions.length === 0) return []
  const attempts = occasions.flatMap((occasion) => attemptsOf(run, occasion))
  const needed = neededBy(attempts)
  await run.world.load({
    ...needed,
    questions: [...questionsOf(run, occasions), ...needed.questions],
    candidates: [...needed.candidates, ...goalCandidates(run, occasions)],
  })
  for (const occasion of occasions) {
    countGoals(run, occasion)
    checkExits(run, occasion)
    noteMatches(run, occasion)
  }
  const planned = occasions.filter(({ items }) => items.some((item) => item.do === 'plan')).flatMap((occasion) => placesOf(run, occasion))
  const waiting = occasions.flatMap((occasion) => [...applyItems(run, occasion), ...wake(run, occasion)])
  await checkNew(
    run,
    planned.filter(({ entrance, graph }) => entrance.outcome === null && entrance.graph !== graph),
  )
  await run.world.load({ questions: waiting.map(questionOf), lists: [], candidates: [] })
  run.decisions += waiting.length
  const { next, asked } = advance(run.round, waiting)
  const entered = await enterAll(run, attempts)
  return [...next, ...(await applyEffects(run, asked)), ...entered]
}

/** The entrances of a user with the versions that they are on. */
const placesOf = (run: Run, { userId, at }: Occasion) => activeOf(run, userId).map((entrance) => ({ entrance, graph: entrance.graph, at }))

/** One fact makes a user enter a journey once, by the first entrance that it matches. A rule that ends the journey is checked at once. */
async function enterAll(run: Run, attempts: Attempt[]): Promise<Task[]> {
  const tasks = attempts.flatMap((one) => attempt(run, one).tasks)
  await checkNew(run, tasks)
  return tasks
}

/** Checks the rules that end a journey, for entrances that began or came to another version. */
async function checkNew(run: Run, places: Pick<Task, 'entrance' | 'at'>[]): Promise<void> {
  const questions = places.flatMap(({ entrance, at }) =>
    entrance.graph.criteria.map((step) => ({ userId: entrance.userId, entrance, step, at })),
  )
  if (questions.length === 0) return
  await run.world.load({ questions, lists: [], candidates: [] })
  for (const { entrance, at } of places) checkCriteria(run, entrance, [], at)
}

/** Applies effects. What follows from them comes first: no more is decided about a user that it makes leave. */
async function applyEffects(run: Run, asked: Asked[]): Promise<Task[]> {
  if (asked.length === 0) return []
  const links = asked.filter(({ effect }) => effect.is === 'enter')
  const others = asked.filter(({ effect }) => effect.is !== 'enter')
  const { results, followed } = others.length > 0 ? await run.world.apply(others) : { results: new Map(), followed: [] }
  const reacted = await react(run, followed)
  const linked = await enterLinked(run, links)
  const current = asked.filter(({ entrance, visit }) => entrance.visit === visit)
  const done = current.map((one): Task => {
    const result: EffectResult = results.get(one) ?? linked.results.get(one) ?? { is: 'refused', reason: 'not_applied' }
    const input: Input = { is: 'done', result }
    return { entrance: one.entrance, inputs: [input], at: one.at }
  })
  return [...done, ...reacted, ...linked.tasks]
}

/** Users continue in other journeys, by their entry rules. */
async function enterLinked(run: Run, links: Asked[]): Promise<{ tasks: Task[]; results: Map<Asked, EffectResult> }> {
  const results = new Map<Asked, EffectResult>()
  const attempts: [Asked, Attempt][] = []
  for (const one of links) {
    const { entrance, effect, at } = one
    if (effect.is !== 'enter') continue
    const graph = run.graphs.live.find(({ journeyId }) => journeyId === effect.journeyId)
    const cause = causes.link(entrance.id, entrance.visit)
    const fact = { is: 'link' as const, step: effect.entrance, cause, at, depth: entrance.depth + 1, data: entrance.event?.data ?? {} }
    if (graph) attempts.push([one, { userId: entrance.userId, at, graph, fact, event: entrance.event }])
    else results.set(one, { is: 'refused', reason: 'not_live' })
  }
  if (attempts.length === 0) return { tasks: [], results }
  const needed = neededBy(attempts.map(([, made]) => made))
  await run.world.load(needed)
  const tasks: Task[] = []
  for (const [one, made] of attempts) {
    const outcome = attempt(run, made)
    results.set(one, outcome.result)
    tasks.push(...outcome.tasks)
  }
  await checkNew(run, tasks)
  return { tasks, results }
}

/** Checks that a stored graph can be published (D-JRN-13), and what an author should look at. Pure. Faults name a step by its key. */
import type { Fault } from '../../lib/errors.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { countTags } from '../../lib/liquid/liquid.ts'
import { edgesOf, isWait, kindOf, loopFaults, ofSettings, settingsFaults } from './graph.ts'
import type { Step } from './schema.ts'
import { isCriterion } from './steps/exit.ts'
import { templatesIn } from './steps/liquid.ts'
import { DEFAULT_PATH, type Path } from './steps/step.ts'

const ENTRANCES_MAX = 10

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/**
 * Why these steps cannot be published: all faults, of the settings and of the graph; of one with too much Liquid or too many entrances only that.
 * `linkFaults` finds those of links.
 */
export function publishFaults(steps: readonly Step[]): Fault[] {
  const excess = excessiveLiquid(steps)
  if (excess) return [excess]
  // The settings of an entrance may take long to check.
  const surplus = entranceFaults(steps)
  if (surplus.length > 0) return surplus
  return [
    ...steps.flatMap(({ external_id, type, data }) =>
      settingsFaults(type, data, 'published').map((fault) => ({
        ...ofSettings(fault, external_id),
        code: 'validation_failed' as const,
      })),
    ),
    ...steps.flatMap(pathFaults),
    ...loopFaults(steps, isWait),
    ...reachFaults(steps),
  ]
}

/** Parsing takes up to 50 µs for each tag. */
const LIQUID_TAGS_MAX = 3000

/** A fault if there is more Liquid than can be parsed in a moment: it is counted before any of it is parsed. */
function excessiveLiquid(steps: readonly Step[]): Fault | null {
  let tags = 0
  for (const { external_id, data } of steps) {
    for (const { template } of templatesIn(data, 'data')) tags += countTags(template)
    if (tags > LIQUID_TAGS_MAX)
      return broken(
        `${external_id}.data`,
        `The steps up to \`${external_id}\` have more than ${LIQUID_TAGS_MAX} Liquid tags. Shorten their texts, or continue in another journey.`,
      )
  }
  return null
}

/** Warnings about what can be published but may be a mistake. */
export const publishWarnings = (steps: readonly Step[]): Fault[] =>
  steps
    .filter(({ type, children }) => children.length === 0 && !ENDS.includes(type))
    .map(({ external_id }) =>
      broken(`${external_id}.children`, `The journey ends after the step \`${external_id}\`, because no step follows it.`),
    )

const ENDS = ['exit', 'link']

const pathsOf = ({ type, data }: Step): Path[] => kindOf(type).paths(data)

function pathFaults(step: Step): Fault[] {
  const { external_id: key, children } = step
  if (children.length === 0) return []
  const paths = pathsOf(step)
  const names = paths.map(({ path }) => path)
  const taken = children.map(({ path = DEFAULT_PATH }) => path)
  const wrong = taken.flatMap((path, at) => {
    const param = `${key}.children[${at}].path`
    if (!names.includes(path)) return broken(param, `The step \`${key}\` has no path \`${path}\`${choices(names)}`)
    return taken.indexOf(path) < at ? broken(param, `The step \`${key}\` has two children on the path \`${path}\`. Remove one.`) : []
  })
  const open = paths.filter(({ path, isRequired }) => isRequired && !taken.includes(path))
  return [...wrong, ...open.map(({ path }) => broken(`${key}.children`, `The step \`${key}\` needs a child on the path \`${path}\`.`))]
}

const choices = (names: string[]) =>
  names.length === 0 ? ', because it ends the journey. Remove the child.' : `. Use one of ${names.map((name) => `\`${name}\``).join(', ')}.`

function entranceFaults(steps: readonly Step[]): Fault[] {
  const entrances = steps.filter(({ type }) => type === 'entrance')
  return entrances
    .slice(ENTRANCES_MAX)
    .map(({ external_id }) => broken(external_id, `A journey may have at most ${ENTRANCES_MAX} entrances. Remove \`${external_id}\`.`))
}

const isExitCriterion = ({ type, data }: Step): boolean => type === 'exit' && isCriterion(data)

/** Faults for exit criteria with a step before them, and for steps that no entrance leads to. */
function reachFaults(steps: readonly Step[]): Fault[] {
  const criteria = new Set(steps.filter(isExitCriterion).map(({ external_id }) => external_id))
  const before = edgesOf(steps)
    .filter(({ to }) => criteria.has(to))
    .map(({ to, param }) =>
      broken(param, `The exit \`${to}\` has \`when\`, so it is checked for everyone in the journey. Remove the connection to it.`),
    )
  const entrances = steps.filter(({ type }) => type === 'entrance').map(({ external_id }) => external_id)
  if (entrances.length === 0) return before
  const reached = reachedFrom(steps, entrances)
  const unreached = steps.filter(({ external_id }) => !reached.has(external_id) && !criteria.has(external_id))
  return [...before, ...unreached.map(({ external_id }) => broken(external_id, `No entrance leads to the step \`${external_id}\`.`))]
}

/** The steps that can be reached from some, those included. From a step that `stops`, none is. */
function reachedFrom(steps: readonly Step[], from: readonly string[], stops: (step: Step) => boolean = () => false): Set<string> {
  const byKey = new Map(steps.map((step) => [step.external_id, step]))
  const reached = new Set<string>()
  const waiting = [...from]
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    const step = byKey.get(key)
    if (step === undefined || reached.has(key)) continue
    reached.add(key)
    if (!stops(step)) waiting.push(...step.children.map(({ external_id }) => external_id))
  }
  return reached
}

/** A way into a journey that users take at once when they enter at `entrance`, without a delay of at least a minute before it. */
export type JourneyLink = {
  entrance: string
  /** The step that links, and the param of its setting. */
  step: string
  param: string
  to: JourneyId
  /** The entrance of the other journey; null if it depends on the journey. */
  at: string | null
}

/** The links of a graph that users reach without a delay. */
export const linksOf = (steps: readonly Step[]): JourneyLink[] =>
  steps
    .filter(({ type }) => type === 'entrance')
    .flatMap(({ external_id: entrance }) => {
      const reached = reachedFrom(steps, [entrance], isWait)
      return steps.flatMap(({ external_id: step, type, data }) => {
        if (type !== 'link' || !reached.has(step)) return []
        const { journey_id, entrance: at = null } = data as { journey_id?: JourneyId; entrance?: string }
        return journey_id === undefined ? [] : [{ entrance, step, param: `${step}.data.journey_id`, to: journey_id, at }]
      })
    })

/**
 * A fault for each link of a graph that leads back to itself without a delay, so that users would enter over and over. `linksOfLive` has
 * the links of the published graphs of other journeys, as `linksOf` finds them. None while the graph has too many entrances, which is a fault already.
 */
export function linkFaults(journeyId: JourneyId, steps: readonly Step[], linksOfLive: (id: JourneyId) => readonly JourneyLink[]): Fault[] {
  if (entranceFaults(steps).length > 0) return []
  const own = linksOf(steps)
  const before = entrancesBefore(journeyId, (id) => (id === journeyId ? own : linksOfLive(id)))
  const leadingTo = new Map(
    [...new Set(own.map(({ entrance }) => entrance))].map((one) => [one, allBefore(before, placeOf(journeyId, one))]),
  )
  const back = own.filter(({ entrance, to, at }) => leadingTo.get(entrance)?.has(placeOf(to, at)))
  return [...new Map(back.map((link) => [link.param, link.step]))].map(([param, step]) =>
    broken(param, `The link \`${step}\` leads back to itself without a delay. Add a step of the type \`delay\`, of at least a minute.`),
  )
}

/** An entrance of a journey, or, without one, any of them. */
const placeOf = (journeyId: JourneyId, entrance: string | null): string => (entrance === null ? `${journeyId}` : `${journeyId} ${entrance}`)

type PlacesBefore = Map<string, Set<string>>

/** From which places links lead to a place, among those of a journey and of all journeys that its links lead to. */
function entrancesBefore(from: JourneyId, linksFrom: (id: JourneyId) => readonly JourneyLink[]): PlacesBefore {
  const before: PlacesBefore = new Map()
  const add = (place: string, one: string) => before.set(place, (before.get(place) ?? new Set()).add(one))
  const journeys = new Set([from])
  // It grows while it is walked through.
  for (const id of journeys)
    for (const { entrance, to, at } of linksFrom(id)) {
      add(placeOf(id, entrance), placeOf(id, null))
      add(placeOf(to, at), placeOf(id, entrance))
      journeys.add(to)
    }
  return before
}

/** The places from which links lead to a place, directly or through others. */
function allBefore(before: PlacesBefore, place: string): Set<string> {
  const found = new Set(before.get(place))
  for (const one of found) for (const other of before.get(one) ?? []) found.add(other)
  return found
}

import { Type } from 'typebox'
import { pathOf } from '../../../lib/attribute-paths.ts'
import type { Fault } from '../../../lib/errors.ts'
import { Exact } from '../../../lib/shapes.ts'
import { type EventCondition, type EventTest, MEMBERSHIP_EVENTS, TESTS_DOCUMENTED } from '../rule.ts'
import { As, Comparing, comparisonFaults, compileComparison } from './comparison.ts'
import { condition, type Dependency, type Reference, type Tracker } from './condition.ts'
import { type Count, compileCount, timesNeeded } from './counted.ts'
import { compileFirstOrLast } from './edge.ts'
import { describeWhere } from './event-data.ts'
import { describeName, PATH_LENGTH_MAX } from './path.ts'
import { compilePeriod, describePeriod, periodFaults, periodMembers } from './period.ts'

const COUNT_MAX = 1000
const TESTS_MAX = 20

const COUNTS = ['at_least', 'at_most', 'exactly'] as const
const EDGES = ['first', 'last'] as const

const Edge = (which: 'first' | 'last') =>
  Type.Optional({
    ...Comparing({}, 'date'),
    description: `Compares the time of the ${which} event, for users with at least one. Cannot be combined with \`within\`.`,
  })
const AtMost = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: COUNT_MAX, description }))
/** A test of the data of an event. */
export const EventTestShape = Comparing(
  {
    attribute: Type.String({
      minLength: 1,
      maxLength: PATH_LENGTH_MAX,
      description: 'A path into the event’s data, such as `data.total`.',
    }),
    as: As,
  },
  'any',
)

export const event = condition<EventCondition>({
  label: 'Event',
  description:
    'Users for whom an event occurred a given number of times, or first or last occurred at a given time. A condition has at most one of ' +
    `${[...COUNTS, ...EDGES].map((name) => `\`${name}\``).join(', ')}; without any of them, it matches users with at least one event.`,
  shape: Exact({
    event: Type.String({ notBlank: true, minLength: 1, maxLength: 255, description: 'The name of the event.' }),
    at_least: Type.Optional(Type.Integer({ minimum: 1, maximum: COUNT_MAX, description: 'The minimum number of events.' })),
    at_most: AtMost('The highest number of events.'),
    exactly: AtMost('The number of events.'),
    ...periodMembers,
    first: Edge('first'),
    last: Edge('last'),
    where: Type.Optional(
      Type.Array(EventTestShape, {
        documented: TESTS_DOCUMENTED,
        minItems: 1,
        maxItems: TESTS_MAX,
        description:
          'Tests of the event’s data. All of them must pass. Dates can be compared only with `before` and `after`. ' +
          `For ${MEMBERSHIP_EVENTS.map((name) => `\`${name}\``).join(' and ')}, one of the tests must name the list: \`data.list_id\` with \`is\`.`,
      }),
    ),
  }),
  example: { event: 'purchase', at_least: 3, within: '30d', where: [{ attribute: 'data.total', greater_than: 50 }] },
  faults: (given) => [...periodFaults(given), ...checkFaults(given), ...whereFaults(given), ...loopFaults(given)],
  references: changeEventLists,
  compile: (given, index) => {
    const dependencies: Dependency[] = [`event:${given.event}`, ...changeEventLists(given).map(({ id }) => `list:${id}` as const)]
    const base = { names: [given.event], where: given.where ?? [], ...compilePeriod(given) }
    const edge = given.first ?? given.last
    if (edge)
      return {
        dependencies,
        ...compileFirstOrLast({ ...base, keep: given.first ? 'earliest' : 'latest', count: 1, needsTime: true }, edge, index),
      }
    const count = countOf(given)
    const tracker: Tracker = { ...base, keep: 'latest', count: timesNeeded(count), needsTime: false }
    return { dependencies, ...compileCount(tracker, count, index) }
  },
  describe: (given) => {
    const rest = `${describePeriod(given)}${describeWhere(given.where)}`
    const edge = given.first ?? given.last
    if (!edge) return `${describeCount(countOf(given), describeName(given.event))}${rest}`
    const which = `the ${given.first ? 'first' : 'last'} ${describeName(given.event)}`
    return `${which}${rest === '' ? '' : ` (${rest.slice(1)})`} ${compileComparison(edge).description}`
  },
})

/** How many events a condition without `first` and `last` requires. */
export function countOf({ at_least, at_most, exactly }: EventCondition): Count {
  if (exactly !== undefined) return { least: exactly, most: exactly }
  return at_most === undefined ? { least: at_least ?? 1, most: null } : { least: 0, most: at_most }
}

function describeCount({ least, most }: Count, name: string): string {
  if (most === 0) return `never did ${name}`
  if (most === null) return least === 1 ? `did ${name}` : `did ${name} at least ${times(least)}`
  return `did ${name} ${least === most ? 'exactly' : 'at most'} ${times(most)}`
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/** A condition checks either a count or the time of the first or last event. */
function checkFaults(given: EventCondition): Fault[] {
  const checks = [...COUNTS, ...EDGES].filter((name) => given[name] !== undefined)
  if (checks.length > 1) {
    return [
      broken(
        'body',
        `The condition \`body\` can have only one of ${checks.map((name) => `\`${name}\``).join(' and ')}. Combine several with \`all\`.`,
      ),
    ]
  }
  const edge = EDGES.find((name) => given[name] !== undefined)
  if (!edge) return []
  const window =
    given.within === undefined ? [] : [broken('within', `Omit \`within\`, or use an operator such as \`within_last\` in \`${edge}\`.`)]
  return [...window, ...comparisonFaults(given[edge] as object, 'date', `${edge}.`)]
}

function whereFaults({ where = [] }: EventCondition): Fault[] {
  return where.flatMap((test, index) => {
    const at = `where[${index}].`
    if (!pathOf(test.attribute)) {
      const message = `The value of \`${at}attribute\` must be a path into the event’s data, such as \`data.total\`.`
      return [{ code: 'parameter_invalid_format', param: `${at}attribute`, message }]
    }
    const faults = comparisonFaults(test, test.as ?? 'any', at)
    return faults.length > 0 ? faults : timeFaults(test, at)
  })
}

/** Whether an event counts must not change as time passes. */
function timeFaults(test: EventTest, at: string): Fault[] {
  if (compileComparison(test).changeOffsets.length === 0) return []
  return [broken(at.slice(0, -1), `Dates in \`${at.slice(0, -1)}\` can be compared only with \`before\` and \`after\`.`)]
}

/** A list could depend on its own membership changes, unless the condition names the list whose changes count. */
function loopFaults(given: EventCondition): Fault[] {
  if (!MEMBERSHIP_EVENTS.includes(given.event) || changeEventLists(given).length > 0) return []
  return [broken('where', 'Name the list in `where`, with a test such as `{ "attribute": "data.list_id", "is": 12 }`.')]
}

/** The lists whose membership changes a condition counts. */
function changeEventLists({ event: name, where = [] }: EventCondition): Reference[] {
  if (!MEMBERSHIP_EVENTS.includes(name)) return []
  return where.flatMap(({ attribute, is }, index): Reference[] =>
    attribute === 'data.list_id' && Number.isSafeInteger(is) && (is as number) > 0
      ? [{ kind: 'list', id: is as number, param: `where[${index}].is` }]
      : [],
  )
}

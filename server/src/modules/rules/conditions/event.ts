import { Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { Exact } from '../../../lib/shapes.ts'
import { type EventCondition, type EventTest, MEMBERSHIP_EVENTS } from '../rule.ts'
import { comparisonFaults, comparisonMembers, compileComparison } from './comparison.ts'
import { condition, type Dependency, type Reference, type Tracker } from './condition.ts'
import { type Count, compileCount, timesNeeded } from './counted.ts'
import { compileFirstOrLast } from './edge.ts'
import { sayWhere } from './event-data.ts'
import { PATH_LENGTH_MAX, pathOf, sayName } from './path.ts'
import { compilePeriod, periodFaults, periodMembers, sayPeriod } from './period.ts'

const COUNT_MAX = 1000
const TESTS_MAX = 20

const COUNTS = ['at_least', 'at_most', 'exactly'] as const
const EDGES = ['first', 'last'] as const

const Edge = Type.Optional(Exact(comparisonMembers('date')))
const Most = Type.Optional(Type.Integer({ minimum: 0, maximum: COUNT_MAX }))
const Test = Exact({ attribute: Type.String({ minLength: 1, maxLength: PATH_LENGTH_MAX }), ...comparisonMembers('any') })

export const event = condition<EventCondition>({
  label: 'Event',
  shape: Exact({
    event: Type.String({ notBlank: true, minLength: 1, maxLength: 255 }),
    at_least: Type.Optional(Type.Integer({ minimum: 1, maximum: COUNT_MAX })),
    at_most: Most,
    exactly: Most,
    ...periodMembers,
    first: Edge,
    last: Edge,
    where: Type.Optional(Type.Array(Test, { minItems: 1, maxItems: TESTS_MAX })),
  }),
  faults: (given) => [...periodFaults(given), ...questionFaults(given), ...whereFaults(given), ...loopFaults(given)],
  references: listsWhoseMovesCount,
  compile: (given, index) => {
    const mentions: Dependency[] = [`event:${given.event}`, ...listsWhoseMovesCount(given).map(({ id }) => `list:${id}` as const)]
    const base = { names: [given.event], where: given.where ?? [], ...compilePeriod(given) }
    const edge = given.first ?? given.last
    if (edge)
      return {
        mentions,
        ...compileFirstOrLast({ ...base, keep: given.first ? 'earliest' : 'latest', count: 1, asksWhen: true }, edge, index),
      }
    const count = countOf(given)
    const tracker: Tracker = { ...base, keep: 'latest', count: timesNeeded(count), asksWhen: false }
    return { mentions, ...compileCount(tracker, count, index) }
  },
  says: (given) => {
    const rest = `${sayPeriod(given)}${sayWhere(given.where)}`
    const edge = given.first ?? given.last
    if (!edge) return `${sayCount(countOf(given), sayName(given.event))}${rest}`
    const which = `the ${given.first ? 'first' : 'last'} ${sayName(given.event)}`
    return `${which}${rest === '' ? '' : ` (${rest.slice(1)})`} ${compileComparison(edge).says}`
  },
})

function countOf({ at_least, at_most, exactly }: EventCondition): Count {
  if (exactly !== undefined) return { least: exactly, most: exactly }
  return at_most === undefined ? { least: at_least ?? 1, most: null } : { least: 0, most: at_most }
}

function sayCount({ least, most }: Count, name: string): string {
  if (most === 0) return `never did ${name}`
  if (most === null) return least === 1 ? `did ${name}` : `did ${name} at least ${times(least)}`
  return `did ${name} ${least === most ? 'exactly' : 'at most'} ${times(most)}`
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/** A condition asks one thing: how often, or when. */
function questionFaults(given: EventCondition): Fault[] {
  const asked = [...COUNTS, ...EDGES].filter((name) => given[name] !== undefined)
  if (asked.length > 1) {
    return [
      broken('body', `In \`body\` there may be only one of ${asked.map((name) => `\`${name}\``).join(' and ')}. Put others into \`all\`.`),
    ]
  }
  const edge = EDGES.find((name) => given[name] !== undefined)
  if (!edge) return []
  const window = given.within === undefined ? [] : [broken('within', `Leave \`within\` out, or put the window into \`${edge}\`.`)]
  return [...window, ...comparisonFaults(given[edge] as object, 'date', `${edge}.`)]
}

function whereFaults({ where = [] }: EventCondition): Fault[] {
  return where.flatMap((test, index) => {
    const at = `where[${index}].`
    if (!pathOf(test.attribute)) {
      const message = `The value of \`${at}attribute\` must be a path into the data of the event, such as \`data.total\`.`
      return [{ code: 'parameter_invalid_format', param: `${at}attribute`, message }]
    }
    const faults = comparisonFaults(test, 'any', at)
    return faults.length > 0 ? faults : presentFaults(test, at)
  })
}

/** Whether an event counts must not change once it is there. */
function presentFaults(test: EventTest, at: string): Fault[] {
  if (compileComparison(test).turns.length === 0) return []
  return [broken(at.slice(0, -1), `In \`${at.slice(0, -1)}\` a date can be compared by \`before\` and \`after\` only.`)]
}

/** A list could lead to itself by way of its own moves, unless it is said which list's moves count. */
function loopFaults(given: EventCondition): Fault[] {
  if (!MEMBERSHIP_EVENTS.includes(given.event) || listsWhoseMovesCount(given).length > 0) return []
  return [
    broken('where', 'Say in `where` which list is meant: a test with the `attribute` `data.list_id`, and with the id of the list as `is`.'),
  ]
}

function listsWhoseMovesCount({ event: name, where = [] }: EventCondition): Reference[] {
  if (!MEMBERSHIP_EVENTS.includes(name)) return []
  return where.flatMap(({ attribute, is }, index): Reference[] =>
    attribute === 'data.list_id' && Number.isSafeInteger(is) && (is as number) > 0
      ? [{ kind: 'list', id: is as number, param: `where[${index}].is` }]
      : [],
  )
}

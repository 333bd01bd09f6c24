import { type Static, Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import type { ListId } from '../../../lib/ids.ts'
import { Exact, IdOf, Line, OneOf } from '../../../lib/shapes.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { factName, type Inside, isChange, isEvent } from './facts.ts'
import {
  broken,
  Duration,
  dependenciesOf,
  durationFaults,
  durationMs,
  EventName,
  idAt,
  inWords,
  missingOf,
  pathFaults,
  RuleSetting,
  ruleAt,
  ruleFaults,
  Tests,
  testFaults,
} from './settings.ts'
import { type Case, type Decision, type Dependency, type Input, type Seen, type StepContext, type StepRule, step } from './step.ts'
import { WAIT_CASES } from './wait-until.cases.ts'

const TIMEOUT_MAX_MS = 400 * DAY_MS
const TIMEOUT = 'timeout'

const Settings = Exact({
  conditions: Type.Optional(
    Type.Array(
      Exact({
        path: Line(64, { description: 'The path that users take when this condition is met first.' }),
        event_name: Type.Optional(EventName('The event to wait for.')),
        where: Type.Optional(Tests('Tests of the event’s data.')),
        since: Type.Optional(
          OneOf(['entrance', 'arrival'], {
            description: 'When events and list changes begin to count: when the user entered the journey (default), or reached the step.',
          }),
        ),
        list_id: Type.Optional(IdOf<ListId>({ description: 'The list to wait for.' })),
        is: Type.Optional(
          OneOf(['in', 'not_in', 'entered', 'left'], {
            description: 'Whether the user must be in the list, not be in it, enter it or leave it. Default `in`.',
          }),
        ),
        rule: Type.Optional(RuleSetting('The rule that the user has to match.')),
      }),
      {
        maxItems: 10,
        description:
          'Each item has exactly one of `event_name`, `list_id` and `rule`. If several conditions are met at once, the first one in the array applies.',
      },
    ),
  ),
  timeout: Type.Optional(
    Duration('The longest wait, at least 1 minute. Users who are still waiting after that time take the path `timeout`.', '400 days'),
  ),
})
/** The settings of a wait. */
type WaitSettings = Static<typeof Settings>
type Condition = NonNullable<WaitSettings['conditions']>[number]

const ONE_OF = ['event_name', 'list_id', 'rule'] as const
const CHANGES: Record<string, 'entered' | 'left'> = { entered: 'entered', left: 'left' }

function conditionFaults({ where, since, is, ...condition }: Condition, at: number): Fault[] {
  const param = `conditions[${at}]`
  const given = ONE_OF.filter((name) => condition[name] !== undefined)
  if (given.length !== 1) return [broken(param, `\`${param}\` must have one of \`event_name\`, \`list_id\` and \`rule\`.`)]
  const isFact = condition.event_name !== undefined || CHANGES[is ?? 'in'] !== undefined
  if (where !== undefined && condition.event_name === undefined)
    return [broken(`${param}.where`, `Only an event has data for \`${param}.where\`. Omit it.`)]
  if (is !== undefined && condition.list_id === undefined) return [broken(`${param}.is`, `Only a list has \`is\`. Omit \`${param}.is\`.`)]
  if (since !== undefined && !isFact)
    return [broken(`${param}.since`, `Only conditions on events and list changes can have \`since\`. Omit \`${param}.since\`.`)]
  return [...testFaults(where, `${param}.where`), ...ruleFaults(condition.rule, `${param}.rule`)]
}

function publishedFaults(settings: WaitSettings): Fault[] {
  const { conditions = [], timeout } = settings
  return [
    ...missingOf(settings, 'timeout'),
    ...(conditions.length === 0 ? [broken('conditions', 'The step needs `conditions` to wait for.')] : []),
    ...pathFaults(conditions, 'conditions', [TIMEOUT]),
    ...conditions.flatMap(conditionFaults),
    ...durationFaults(timeout, 'timeout', { mostMs: TIMEOUT_MAX_MS }),
  ]
}

const rulesOf = ({ conditions = [] }: WaitSettings): StepRule[] =>
  conditions.flatMap(({ rule }, at) => ruleAt(rule, `conditions[${at}].rule`))

function dependencies(settings: WaitSettings): Dependency[] {
  const named = (settings.conditions ?? []).flatMap(({ event_name, list_id }) => [
    ...(event_name === undefined ? [] : [`event:${event_name}`]),
    ...(list_id === undefined ? [] : [`list:${list_id}`]),
  ])
  return [...named, ...dependenciesOf(rulesOf(settings))]
}

/** Whether an input is the event or the list change of a condition. */
function isMatch({ event_name, where, list_id, is = 'in' }: Condition, context: Inside, input: Input): boolean {
  if (event_name !== undefined) return isEvent(context, input, event_name, where)
  const change = CHANGES[is]
  return list_id !== undefined && change !== undefined && isChange(input, list_id, change)
}

/** What the input meets of the conditions that count since the entrance and, if the user has arrived, of those that count since then. */
const matches = ({ conditions = [] }: WaitSettings, context: StepContext, isThere: boolean): string[] =>
  conditions.flatMap((condition) =>
    (isThere || condition.since !== 'arrival') && isMatch(condition, context, context.input) ? [noteName(condition)] : [],
  )

/** Facts that came since the arrival are noted apart from those that came since the entrance. */
const noteName = (condition: Condition): string => `${factName(condition)}${condition.since === 'arrival' ? '+' : ''}`

type Met = { reason: string; seen: Seen }
type Result = Met | { nextChangeAt: Date | null }

/** Why a condition is met, or when that can change by itself. */
function checked(condition: Condition, at: number, context: StepContext): Result {
  const { list_id, is = 'in', rule } = condition
  if (rule !== undefined) {
    const { holds, nextChangeAt, seen } = context.rule(`conditions[${at}].rule`)
    return holds ? { reason: 'rule', seen } : { nextChangeAt }
  }
  if (list_id !== undefined) {
    const isIn = context.isIn(list_id)
    if (isIn === undefined && (is === 'not_in' || is === 'left')) return { reason: 'list_gone', seen: { list: list_id } }
    if (is === 'in' && isIn === true) return { reason: 'list', seen: { list: list_id } }
    if (is === 'not_in' && isIn === false) return { reason: 'list', seen: { list: list_id } }
  }
  return matchOf(condition, at, context) ?? { nextChangeAt: null }
}

/** The event or list change that meets a condition: the input, or one that was noted before the step decided about the user. */
function matchOf(condition: Condition, at: number, context: StepContext): Met | undefined {
  const { event_name, list_id, since = 'entrance' } = condition
  const { input, arrivedAt, entrance } = context
  const what = event_name === undefined ? { list: list_id } : { event: event_name }
  const reason = event_name === undefined ? 'list' : 'event'
  const seen = (name: string | number) => entrance.seen[`${entrance.step}:${name}`]
  // Entrances that began before conditions had names have their positions.
  const noted = seen(noteName(condition)) ?? (since === 'entrance' ? seen(at) : undefined)
  if (noted !== undefined && (since === 'entrance' || Date.parse(noted) >= arrivedAt.getTime()))
    return { reason, seen: { ...what, at: noted } }
  const isEarly = since === 'arrival' && input.is === 'event' && input.createdAt < arrivedAt
  return !isEarly && isMatch(condition, context, input) ? { reason, seen: what } : undefined
}

function decide(settings: WaitSettings, context: StepContext): Decision {
  const { conditions = [], timeout } = settings
  const { now, arrivedAt } = context
  const end = new Date(arrivedAt.getTime() + (timeout === undefined ? 0 : durationMs(timeout)))
  let until = end
  for (const [at, condition] of conditions.entries()) {
    const result = checked(condition, at, context)
    if ('reason' in result) return { is: 'go', path: condition.path, ...result }
    if (result.nextChangeAt !== null && result.nextChangeAt < until) until = result.nextChangeAt
  }
  if (end <= now) return { is: 'go', path: TIMEOUT, reason: 'timeout' }
  return { is: 'wait', until, on: dependencies(settings) }
}

export const wait_until = step({
  label: 'Wait until',
  description: 'Waits until an event occurs, until the user is in a list or matches a rule, or until the timeout ends.',
  also: ['wait until', 'wait for event', 'hold until', 'event trigger', 'wait for condition', 'action path', 'response branch'],
  settings: Settings,
  example: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '3d' },
  sentence: 'wait until purchase occurs, then take the path bought, or the path timeout after 3 days',
  references: (settings) => ({
    ids: (settings.conditions ?? []).flatMap(({ list_id }, at) => idAt('list', list_id, `conditions[${at}].list_id`)),
    rules: rulesOf(settings),
  }),
  namesPaths: { member: 'conditions', others: [TIMEOUT] },
  paths: ({ conditions = [] }) => [...conditions.map(({ path }) => path), TIMEOUT].map((path) => ({ path, isRequired: true })),
  faults: (settings, when) => (when === 'published' ? publishedFaults(settings) : []),
  needs: (settings) => ({
    rules: rulesOf(settings),
    lists: (settings.conditions ?? []).flatMap(({ list_id }) => (list_id === undefined ? [] : [list_id])),
  }),
  dependencies,
  matches,
  decide,
  tell: ({ timeout = '' }, { path, left_at }) => {
    if (left_at === null || path === null) return 'Waiting for a condition.'
    return path === TIMEOUT
      ? `Waited for ${inWords(timeout)}, and no condition was met.`
      : `Waited until the condition of the path ${path} was met.`
  },
  cases: WAIT_CASES as Case<WaitSettings>[],
})

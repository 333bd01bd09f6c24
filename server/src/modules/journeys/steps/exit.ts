import { type Static, Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import type { ListId } from '../../../lib/ids.ts'
import { Exact, IdOf, Line, OneOf } from '../../../lib/shapes.ts'
import { isChange, isEvent } from './facts.ts'
import { broken, dependenciesOf, EventName, idAt, RuleSetting, ruleAt, ruleFaults, Tests, testFaults } from './settings.ts'
import { type Case, type Decision, type Dependency, type Seen, type StepContext, type StepRule, step } from './step.ts'

const Settings = Exact({
  as: Type.Optional(OneOf(['completed', 'exited'], { description: 'Whether the user is counted as `completed` (default) or `exited`.' })),
  reason: Type.Optional(Line(255, { description: 'The reason shown in the user’s timeline.' })),
  when: Type.Optional(
    Type.Array(
      Exact({
        event_name: Type.Optional(EventName('The name of the event. Users who have this event exit the journey.')),
        where: Type.Optional(Tests('Tests of the event’s data.')),
        list_id: Type.Optional(
          IdOf<ListId>({ description: 'Users who enter this list exit the journey; with `change` set to `left`, users who leave it.' }),
        ),
        change: Type.Optional(
          OneOf(['entered', 'left'], {
            description: 'Whether users exit the journey when they enter the list or when they leave it. Default `entered`.',
          }),
        ),
        rule: Type.Optional(RuleSetting('Users who match this rule exit the journey.')),
      }),
      {
        minItems: 1,
        maxItems: 10,
        description:
          'Makes the step an exit criterion. It is checked for every user in the journey, and no other step leads to it. Each item has ' +
          'exactly one of `event_name`, `list_id` and `rule`.',
      },
    ),
  ),
})
/** The settings of an exit. */
export type ExitSettings = Static<typeof Settings>
type Criterion = NonNullable<ExitSettings['when']>[number]

/** Whether an exit is a criterion that is checked for everyone inside. */
export const isCriterion = ({ when }: ExitSettings): boolean => when !== undefined

const ONE_OF = ['event_name', 'list_id', 'rule'] as const

function criterionFaults({ where, ...criterion }: Criterion, at: number): Fault[] {
  const param = `when[${at}]`
  const given = ONE_OF.filter((name) => criterion[name] !== undefined)
  if (given.length !== 1) return [broken(param, `\`${param}\` must have one of \`event_name\`, \`list_id\` and \`rule\`.`)]
  if (where !== undefined && criterion.event_name === undefined)
    return [broken(`${param}.where`, `Only an event has data for \`${param}.where\`. Omit it.`)]
  if (criterion.change !== undefined && criterion.list_id === undefined)
    return [broken(`${param}.change`, `Only a list has a \`change\`. Omit \`${param}.change\`.`)]
  return [...testFaults(where, `${param}.where`), ...ruleFaults(criterion.rule, `${param}.rule`)]
}

const rulesOf = ({ when = [] }: ExitSettings): StepRule[] => when.flatMap(({ rule }, at) => ruleAt(rule, `when[${at}].rule`))

function dependencies(settings: ExitSettings): Dependency[] {
  const named = (settings.when ?? []).flatMap(({ event_name, list_id }) => [
    ...(event_name === undefined ? [] : [`event:${event_name}`]),
    ...(list_id === undefined ? [] : [`list:${list_id}`]),
  ])
  return [...named, ...dependenciesOf(rulesOf(settings))]
}

function decide({ as = 'completed', reason, when }: ExitSettings, context: StepContext): Decision {
  if (when === undefined) return context.input.is === 'arrived' ? { is: 'end', as, reason: reason ?? 'exit' } : { is: 'stay' }
  for (const [at, criterion] of when.entries()) {
    const met = metBy(criterion, at, context)
    if (met) return { is: 'end', as, reason: reason ?? met.reason, seen: met.seen }
  }
  return { is: 'stay' }
}

function metBy({ event_name, where, list_id, change = 'entered', rule }: Criterion, at: number, context: StepContext) {
  const { input } = context
  const found = (reason: string, seen: Seen) => ({ reason, seen })
  if (event_name !== undefined) return isEvent(context, input, event_name, where) ? found('event', { event: event_name }) : undefined
  if (list_id !== undefined) return isChange(input, list_id, change) ? found('list', { list: list_id }) : undefined
  if (rule === undefined) return undefined
  const { holds, seen } = context.rule(`when[${at}].rule`)
  return holds ? found('rule', seen) : undefined
}

const bought: ExitSettings = { as: 'completed', reason: 'bought', when: [{ event_name: 'purchase' }] }
const cart: ExitSettings = { when: [{ event_name: 'purchase', where: [{ attribute: 'data.total', greater_than: 10 }] }] }
const several: ExitSettings = {
  as: 'exited',
  when: [{ list_id: 12 as ListId, change: 'left' }, { rule: { attribute: 'data.plan', is: 'pro' } }],
}
const purchase = (data: Record<string, unknown> = {}, createdAt = '2026-11-23T09:00:00Z') => ({
  is: 'event' as const,
  name: 'purchase',
  data,
  createdAt: new Date(createdAt),
})
const inside = { enteredAt: new Date('2026-11-23T08:00:00Z'), rules: { 'when[1].rule': { holds: false } } }
const keyed = { key: 'c-1', keyPath: 'data.cart' }

const CASES: Case<ExitSettings>[] = [
  { title: 'ends the journey', settings: {}, decides: { is: 'end', as: 'completed', reason: 'exit' } },
  {
    title: 'ends it with a reason',
    settings: { as: 'exited', reason: 'no interest' },
    decides: { is: 'end', as: 'exited', reason: 'no interest' },
  },
  {
    title: 'an event meets the criterion',
    settings: bought,
    given: { ...inside, input: purchase() },
    decides: { is: 'end', as: 'completed', reason: 'bought', seen: { event: 'purchase' } },
  },
  {
    title: 'another event',
    settings: bought,
    given: { ...inside, input: { ...purchase(), name: 'login' } },
    decides: { is: 'stay' },
  },
  { title: 'the data does not pass', settings: cart, given: { ...inside, input: purchase({ total: 5 }) }, decides: { is: 'stay' } },
  {
    title: 'the data passes',
    settings: cart,
    given: { ...inside, input: purchase({ total: 50 }) },
    decides: { is: 'end', as: 'completed', reason: 'event', seen: { event: 'purchase' } },
  },
  {
    title: 'an event dated before the entry event',
    settings: bought,
    given: { ...inside, input: purchase({}, '2026-11-23T07:59:59Z') },
    decides: { is: 'stay' },
  },
  {
    title: 'an event with another key',
    settings: bought,
    given: { ...inside, entrance: keyed, input: purchase({ cart: 'c-2' }) },
    decides: { is: 'stay' },
  },
  {
    title: 'an event with the key',
    settings: bought,
    given: { ...inside, entrance: keyed, input: purchase({ cart: 'c-1' }) },
    decides: { is: 'end', as: 'completed', reason: 'bought', seen: { event: 'purchase' } },
  },
  {
    title: 'an event without a key counts',
    settings: bought,
    given: { ...inside, entrance: keyed, input: purchase() },
    decides: { is: 'end', as: 'completed', reason: 'bought', seen: { event: 'purchase' } },
  },
  {
    title: 'a list change meets the criterion',
    settings: several,
    given: { ...inside, input: { is: 'membership', listId: 12 as ListId, entered: false } },
    decides: { is: 'end', as: 'exited', reason: 'list', seen: { list: 12 } },
  },
  {
    title: 'the other change of the list',
    settings: several,
    given: { ...inside, input: { is: 'membership', listId: 12 as ListId, entered: true } },
    decides: { is: 'stay' },
  },
  {
    title: 'the rule holds on entry',
    settings: several,
    given: { rules: { 'when[1].rule': { holds: true, seen: { 'data.plan': 'pro' } } } },
    decides: { is: 'end', as: 'exited', reason: 'rule', seen: { 'data.plan': 'pro' } },
  },
  {
    title: 'the first of two criteria counts',
    settings: several,
    given: { rules: { 'when[1].rule': { holds: true } }, input: { is: 'membership', listId: 12 as ListId, entered: false } },
    decides: { is: 'end', as: 'exited', reason: 'list', seen: { list: 12 } },
  },
]

export const exit = step({
  label: 'Exit',
  description:
    'Ends the journey for the user. With `when`, it ends the journey for every user who meets a criterion, whichever step they are at.',
  also: ['end', 'stop', 'goal', 'exit criteria', 'exit condition', 'conversion'],
  settings: Settings,
  example: { as: 'exited', reason: 'bought', when: [{ event_name: 'purchase' }] },
  sentence: 'leave the journey as exited with the reason bought, as soon as purchase occurs',
  references: (settings) => ({
    ids: (settings.when ?? []).flatMap(({ list_id }, at) => idAt('list', list_id, `when[${at}].list_id`)),
    rules: rulesOf(settings),
  }),
  paths: () => [],
  faults: ({ when = [] }, at) => (at === 'published' ? when.flatMap(criterionFaults) : []),
  needs: (settings) => ({ rules: rulesOf(settings) }),
  dependencies,
  decide,
  tell: ({ as = 'completed' }, { reason }) => `Left the journey as ${as}${reason === null || reason === 'exit' ? '' : `: ${reason}`}.`,
  cases: CASES,
})

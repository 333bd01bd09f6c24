import { type Static, Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { Exact, Line } from '../../../lib/shapes.ts'
import type { EventTest } from '../../rules/index.ts'
import { broken, dependenciesOf, passes, pathFaults, RuleSetting, ruleAt, ruleFaults, Tests, testFaults } from './settings.ts'
import { type Case, type Decision, type StepContext, type StepRule, step } from './step.ts'

const Settings = Exact({
  rule: Type.Optional(RuleSetting('Users who match this rule take the path `yes`, others take `no`.')),
  branches: Type.Optional(
    Type.Array(
      Exact({
        path: Line(64, { description: 'The path of users who match.' }),
        rule: Type.Optional(RuleSetting('A rule that the user must match.')),
        where: Type.Optional(
          Tests('Tests of the entry event (`event.data.total`) or of the answer to a webhook step (`journey.score.body.points`).'),
        ),
      }),
      {
        maxItems: 20,
        description: 'Used instead of `rule`. Users take the first branch that they match. Users who match none take the path `else`.',
      },
    ),
  ),
})
type Settings = Static<typeof Settings>
type Branch = NonNullable<Settings['branches']>[number]

const BRANCHES_MIN = 2
const ELSE = 'else'
/** What tests of a gate may read. */
const READABLE = /^(?:event\.data\.|journey\.[A-Za-z0-9_-]{1,64}\.(?:body(?:\.|$)|status$))/
const DATA = 'data.'

/** The tests as they are checked and evaluated: on data that has `event` and `journey` as members. */
const asData = (where: readonly EventTest[]): EventTest[] =>
  where.map((test) => (typeof test.attribute === 'string' ? { ...test, attribute: `${DATA}${test.attribute}` } : test))

const known = new WeakMap<object, EventTest[]>()

function testsOf(where: EventTest[]): EventTest[] {
  const tests = known.get(where) ?? asData(where)
  known.set(where, tests)
  return tests
}

function whereFaults(where: EventTest[], param: string): Fault[] {
  const unreadable = where.flatMap(({ attribute }, at) =>
    typeof attribute === 'string' && !READABLE.test(attribute)
      ? [broken(`${param}[${at}].attribute`, `\`${param}[${at}].attribute\` must begin with \`event.data.\` or \`journey.<step>.body.\`.`)]
      : [],
  )
  return unreadable.length > 0 ? unreadable : testFaults(asData(where), param)
}

function publishedFaults({ rule, branches }: Settings): Fault[] {
  if (branches === undefined)
    return rule === undefined ? [broken('rule', 'The step needs a `rule` or `branches`.')] : ruleFaults(rule, 'rule')
  if (rule !== undefined) return [broken('rule', 'The step can have `rule` or `branches`, not both.')]
  if (branches.length < BRANCHES_MIN) return [broken('branches', 'The step needs at least two `branches`, or a `rule`.')]
  return [
    ...pathFaults(branches, 'branches', [ELSE]),
    ...branches.flatMap(({ rule, where }, at) => {
      const param = `branches[${at}]`
      if (rule === undefined && where === undefined) return [broken(param, `\`${param}\` needs a \`rule\` or \`where\`.`)]
      return [...ruleFaults(rule, `${param}.rule`), ...(where === undefined ? [] : whereFaults(where, `${param}.where`))]
    }),
  ]
}

const rulesOf = ({ rule, branches = [] }: Settings): StepRule[] => [
  ...ruleAt(rule, 'rule'),
  ...branches.flatMap((branch, at) => ruleAt(branch.rule, `branches[${at}].rule`)),
]

function decide({ branches, rule }: Settings, context: StepContext): Decision {
  if (context.input.is !== 'arrived') return { is: 'stay' }
  if (branches === undefined) {
    const { holds, seen } = rule === undefined ? { holds: false, seen: {} } : context.rule('rule')
    return { is: 'go', path: holds ? 'yes' : 'no', reason: 'rule', seen }
  }
  for (const [at, branch] of branches.entries()) {
    const found = matched(branch, at, context)
    if (found) return { is: 'go', path: branch.path, ...found }
  }
  return { is: 'go', path: ELSE, reason: 'rule' }
}

/** Why the user matches a branch; undefined if not. */
function matched({ rule, where }: Branch, at: number, context: StepContext): { reason: string; seen: Record<string, unknown> } | undefined {
  const { event, entrance, now } = context
  if (where !== undefined) {
    const data = { event: event ?? {}, journey: entrance.answers }
    if (!passes(testsOf(where), data, now)) return undefined
  }
  if (rule === undefined) return { reason: 'where', seen: {} }
  const { holds, seen } = context.rule(`branches[${at}].rule`)
  return holds ? { reason: 'rule', seen } : undefined
}

const pro = { attribute: 'data.plan', is: 'pro' }
const three: Settings = {
  branches: [
    { path: 'big', where: [{ attribute: 'event.data.total', greater_than: 100 }] },
    { path: 'pro', rule: pro },
    { path: 'good', where: [{ attribute: 'journey.score.body.points', at_least: 7 }] },
  ],
}
const entry = (data: Record<string, unknown>) => ({ event: { name: 'cart', data, created_at: '2026-11-23T08:00:00.000Z' } })

const CASES: Case<Settings>[] = [
  {
    title: 'the rule holds',
    settings: { rule: pro },
    given: { rules: { rule: { holds: true, seen: { 'data.plan': 'pro' } } } },
    decides: { is: 'go', path: 'yes', reason: 'rule', seen: { 'data.plan': 'pro' } },
  },
  {
    title: 'the rule does not hold, such as for a missing attribute or a deleted list',
    settings: { rule: pro },
    given: { rules: { rule: { holds: false } } },
    decides: { is: 'go', path: 'no', reason: 'rule', seen: {} },
  },
  {
    title: 'the first branch that matches counts',
    settings: three,
    given: { ...entry({ total: 120 }), rules: { 'branches[1].rule': { holds: true } } },
    decides: { is: 'go', path: 'big', reason: 'where', seen: {} },
  },
  {
    title: 'a branch by the user',
    settings: three,
    given: { ...entry({ total: 10 }), rules: { 'branches[1].rule': { holds: true } } },
    decides: { is: 'go', path: 'pro', reason: 'rule', seen: {} },
  },
  {
    title: 'a branch by the answer of a webhook step',
    settings: three,
    given: { entrance: { answers: { score: { status: 200, body: { points: 8 } } } } },
    decides: { is: 'go', path: 'good', reason: 'where', seen: {} },
  },
  {
    title: 'no branch matches, without an event or an answer',
    settings: three,
    decides: { is: 'go', path: ELSE, reason: 'rule' },
  },
  {
    title: 'a branch needs both its tests and its rule',
    settings: {
      branches: [
        { path: 'big', rule: pro, where: [{ attribute: 'event.data.total', greater_than: 1 }] },
        { path: 'pro', rule: pro },
      ],
    },
    given: { ...entry({ total: 0 }), rules: { 'branches[0].rule': { holds: true }, 'branches[1].rule': { holds: false } } },
    decides: { is: 'go', path: ELSE, reason: 'rule' },
  },
  { title: 'a later input changes nothing', settings: { rule: pro }, given: { input: { is: 'timer' } }, decides: { is: 'stay' } },
]

export const gate = step({
  label: 'Decide',
  description:
    'Divides users by a rule: those who match it take the path `yes`, others take `no`. With `branches`, it divides users among several paths.',
  also: ['branch', 'split', 'true/false branch', 'multi-split branch', 'condition', 'filter', 'decision', 'if/else'],
  settings: Settings,
  example: { rule: { attribute: 'data.plan', is: 'pro' } },
  sentence: 'take the path yes if plan is “pro”, otherwise the path no',
  references: (settings) => ({ ids: [], rules: rulesOf(settings) }),
  namesPaths: { member: 'branches', others: [ELSE] },
  paths: ({ branches }) => {
    const names = branches === undefined ? ['yes', 'no'] : [...branches.map(({ path }) => path), ELSE]
    return names.map((path) => ({ path, isRequired: true }))
  },
  faults: (settings, when) => (when === 'published' ? publishedFaults(settings) : []),
  needs: (settings) => ({ rules: rulesOf(settings) }),
  dependencies: (settings) => dependenciesOf(rulesOf(settings)),
  decide,
  tell: ({ branches }, { path }) => {
    if (path === null) return 'Reached the decision.'
    if (branches !== undefined) return path === ELSE ? 'Matched no branch.' : `Matched the branch ${path}.`
    return path === 'yes' ? 'Matched the rule.' : 'Did not match the rule.'
  },
  cases: CASES,
})

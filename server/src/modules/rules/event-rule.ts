/** The rule of a trigger: conditions on an event's data and on its user, in the language of list rules. Pure. */
import { type Static, Type } from 'typebox'
import type { Fault } from '../../lib/errors.ts'
import { Exact } from '../../lib/shapes.ts'
import { checkRule } from './check.ts'
import { type CompiledRule, compileRule, matchesTracker } from './compile.ts'
import { type EventTest, type Rule, RuleSchema } from './rule.ts'

const TESTS_MAX = 20

/** What a trigger asks of an event and its person. What is inside is said by the rules of lists. */
export const EventRule = Exact(
  {
    where: Type.Optional(
      Type.Unsafe<EventTest[]>({
        type: 'array',
        minItems: 1,
        maxItems: TESTS_MAX,
        description: 'Tests of the data of the event, all of which must pass, as in the `where` of a list’s rule.',
      }),
    ),
    user: Type.Optional(Type.Unsafe<Rule>({ ...RuleSchema, description: 'What must be so of the user, as in the rule of a list.' })),
  },
  {
    description: 'Which events a trigger campaign fires on, and for whom.',
    examples: [{ where: [{ attribute: 'data.total', greater_than: 50 }], user: { attribute: 'data.plan', is: 'pro' } }],
  },
)
export type EventRule = Static<typeof EventRule>

const PARAM = 'event_rule'

/** The tests as a condition on an event, which is what lists know. Its name does not matter: it is that of the campaign. */
const asCondition = (where: EventTest[]) => ({ event: 'event', where })

/** What is wrong with a rule of the right shape. */
export function eventRuleFaults({ where, user }: EventRule): Fault[] {
  if (where === undefined && user === undefined) {
    return [{ code: 'parameter_missing', param: PARAM, message: `In \`${PARAM}\` one of \`where\`, \`user\` is missing.` }]
  }
  return [
    ...(where === undefined ? [] : checkRule(asCondition(where), PARAM)),
    ...(user === undefined ? [] : checkRule(user, `${PARAM}.user`)),
  ]
}

export type CompiledEventRule = {
  /** Is this an event to fire on, by what it carries? */
  passes(data: Record<string, unknown>, nowMs: number): boolean
  /** What must be so of the person; null when everybody may. */
  user: CompiledRule | null
}

/** Makes a rule that was checked ready to be asked about many events. */
export function compileEventRule({ where, user }: EventRule): CompiledEventRule {
  const tracker = where === undefined ? undefined : compileRule(asCondition(where)).trackers[0]
  return {
    passes: (data, nowMs) => tracker === undefined || matchesTracker(tracker, { name: 'event', data, createdAtMs: nowMs }, nowMs),
    user: user === undefined ? null : compileRule(user),
  }
}

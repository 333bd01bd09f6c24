/** Event rules of trigger campaigns: conditions on an event's data and on its user, as in list rules. Pure. */
import { type Static, Type } from 'typebox'
import type { Fault } from '../../lib/errors.ts'
import { Exact } from '../../lib/shapes.ts'
import { checkRule } from './check.ts'
import { type CompiledRule, compileRule, matchesTracker } from './compile.ts'
import { type EventTest, type Rule, RuleSchema, TESTS_DOCUMENTED } from './rule.ts'

const TESTS_MAX = 20

/** An event rule. Its conditions are checked as in list rules. */
export const EventRule = Exact(
  {
    where: Type.Optional(
      Type.Unsafe<EventTest[]>({
        type: 'array',
        minItems: 1,
        maxItems: TESTS_MAX,
        description: 'Tests of the event’s data, as in the `where` of a list rule. All of them must pass.',
        published: { items: { type: 'object', additionalProperties: true } },
        documented: TESTS_DOCUMENTED,
      }),
    ),
    user: Type.Optional(Type.Unsafe<Rule>({ ...RuleSchema, description: 'A rule that the user must match, as in lists.' })),
  },
  {
    description: 'The events and users that a trigger campaign is sent for.',
    examples: [{ where: [{ attribute: 'data.total', greater_than: 50 }], user: { attribute: 'data.plan', is: 'pro' } }],
  },
)
export type EventRule = Static<typeof EventRule>

const PARAM = 'event_rule'

/** The tests as a condition of a list rule. The event name does not matter, because the campaign has it. */
const asCondition = (where: EventTest[]) => ({ event: 'event', where })

/** The faults of an event rule whose shape is correct. */
export function eventRuleFaults({ where, user }: EventRule): Fault[] {
  if (where === undefined && user === undefined) {
    return [{ code: 'parameter_missing', param: PARAM, message: `The parameter \`${PARAM}\` must have \`where\`, \`user\` or both.` }]
  }
  return [
    ...(where === undefined ? [] : checkRule(asCondition(where), PARAM)),
    ...(user === undefined ? [] : checkRule(user, `${PARAM}.user`)),
  ]
}

export type CompiledEventRule = {
  /** Whether the event's data passes all tests. */
  passes(data: Record<string, unknown>, nowMs: number): boolean
  /** The rule that the user must match; null if there is none. */
  user: CompiledRule | null
}

/** Compiles a checked event rule for evaluation on many events. */
export function compileEventRule({ where, user }: EventRule): CompiledEventRule {
  const tracker = where === undefined ? undefined : compileRule(asCondition(where)).trackers[0]
  return {
    passes: (data, nowMs) =>
      tracker === undefined || matchesTracker(tracker, { name: 'event', source: 'api', data, createdAtMs: nowMs }, nowMs),
    user: user === undefined ? null : compileRule(user),
  }
}

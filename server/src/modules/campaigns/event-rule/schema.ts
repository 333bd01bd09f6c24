import { Type } from 'typebox'
import { Exact } from '../../../lib/shapes.ts'
import { type EventTest, type Rule, RuleSchema } from '../../segments/index.ts'

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

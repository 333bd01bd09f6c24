/** The schemas of rules in the API description, which refer to each other by name: a rule contains rules. */
import { type TSchema, Type } from 'typebox'
import { componentRef } from '../../lib/shapes.ts'
import type { ConditionKind } from './conditions/condition.ts'
import { EventTestShape } from './conditions/event.ts'
import * as conditions from './conditions/index.ts'
import { groupSchema } from './meta.ts'
import { GROUPS } from './nodes.ts'
import * as operators from './operators/index.ts'
import type { Operator } from './operators/operator.ts'
import { RuleSchema } from './rule.ts'

/** Describes the operators among the members of a comparison by what they are called. */
function withOperators(shape: TSchema): TSchema {
  const { properties = {} } = shape as { properties?: Record<string, { description?: string }> }
  const described = Object.entries(properties).map(([name, member]) => {
    const operator = (operators as Record<string, Operator>)[name]
    return [name, operator && member.description === undefined ? { ...member, description: `The operator “${operator.label}”.` } : member]
  })
  return Type.Unsafe({ ...shape, properties: Object.fromEntries(described) })
}

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

const groups = Object.fromEntries(GROUPS.map((is) => [`Rule${capitalised(is)}`, groupSchema(is)]))

const kinds = Object.fromEntries(
  Object.entries<ConditionKind>(conditions).map(([name, { shape, description }]) => [
    `${capitalised(name)}Condition`,
    Type.Unsafe({ ...withOperators(shape), description }),
  ]),
)

/** By the names of components. */
export const ruleComponents: Record<string, TSchema> = {
  Rule: Type.Unsafe({ ...RuleSchema, documented: { oneOf: Object.keys({ ...groups, ...kinds }).map(componentRef) } }),
  ...groups,
  ...kinds,
  EventTest: Type.Unsafe({ ...withOperators(EventTestShape), description: 'A test of the data of an event.' }),
}

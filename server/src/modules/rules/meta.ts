/** Describes what rules are made of, for editors: groups, conditions, attributes and operators. */
import { type Static, type TSchema, Type } from 'typebox'
import { publicSchema } from '../../infra/http/openapi/schemas.ts'
import type { Language } from '../../lib/languages.ts'
import { Exact, OneOf } from '../../lib/shapes.ts'
import { translated } from '../../lib/translated.ts'
import { CHILDREN_MAX, CONDITIONS_MAX, DEPTH_MAX } from './check.ts'
import type { ConditionKind } from './conditions/condition.ts'
import { FIELDS } from './conditions/fields.ts'
import * as conditions from './conditions/index.ts'
import { describeRule, wordsIn } from './describe.ts'
import { german } from './german.ts'
import { GROUPS, type Group } from './nodes.ts'
import * as operators from './operators/index.ts'
import { type Operator, VALUE_KINDS } from './operators/operator.ts'
import { type Rule, RuleSchema } from './rule.ts'

const Label = Type.String({ description: 'The name for display.' })
const Description = Type.String({ description: 'Which users match, in Markdown.' })
const Schema = (description: string) => Type.Unsafe<object>({ type: 'object', description: `JSON Schema of ${description}.` })
const Example = Type.Unsafe<unknown>({ description: 'A valid example. Its ids are made up.' })
const Sentence = Type.String({ description: 'The example in words, as in the `description` of a list.' })

/** The parts of rules in API replies (D-RULE-1). */
export const RuleMeta = Exact(
  {
    groups: Type.Record(
      Type.String(),
      Exact({ label: Label, description: Description, schema: Schema('the group'), example: Example, sentence: Sentence }),
      { description: 'The groups by name. In a rule, a group is an object with one member, which has the name of the group.' },
    ),
    conditions: Type.Record(
      Type.String(),
      Exact({ label: Label, description: Description, schema: Schema('the condition'), example: Example, sentence: Sentence }),
      { description: 'The kinds of condition by name. In a rule, a condition is an object that has the name of its kind as a member.' },
    ),
    attributes: Type.Record(
      Type.String(),
      Exact({
        label: Type.String({ description: 'The name of the attribute in sentences.' }),
        type: OneOf(VALUE_KINDS, { description: 'The type. The attribute accepts the operators that have this type in `types`.' }),
      }),
      { description: 'The attributes outside `data` by name. A path into `data` accepts every operator.' },
    ),
    operators: Type.Record(
      Type.String(),
      Exact({
        label: Label,
        types: Type.Array(OneOf(VALUE_KINDS), { description: 'The types of attributes that accept the operator.' }),
        argument: Schema('the argument'),
        example: Type.Unsafe<unknown>({ description: 'An example of the argument.' }),
        sentence: Type.String({ description: 'The operator and its example in words, to be placed after the name of an attribute.' }),
      }),
      { description: 'The operators by name. In a condition, the name of the operator is a member whose value is its argument.' },
    ),
    limits: Exact({
      levels: Type.Integer({ description: 'The highest number of levels of groups in a rule.' }),
      conditions: Type.Integer({ description: 'The highest number of conditions in a rule.' }),
    }),
  },
  { title: 'RuleMeta' },
)
export type RuleMeta = Static<typeof RuleMeta>

/** The parts of rules, described in a language. */
export const ruleMeta = (language: Language = 'en'): RuleMeta => {
  const meta = metaIn(language)
  return language === 'en' ? meta : translated(meta, german)
}

const metaIn = (language: Language): RuleMeta => ({
  groups: Object.fromEntries(
    GROUPS.map((is) => [is, { ...GROUP_WORDS[is], schema: publicSchema(groupSchema(is)), ...exampleOf(is, language) }]),
  ),
  conditions: mapValues<ConditionKind, RuleMeta['conditions'][string]>(conditions, ({ label, description, shape, example }) => ({
    label,
    description,
    schema: publicSchema(shape),
    example,
    sentence: describeRule(example as Rule, NAMELESS, language),
  })),
  attributes: mapValues(FIELDS, ({ kind }, name) => ({ label: wordsIn(language).field(name), type: kind })),
  operators: mapValues<Operator, RuleMeta['operators'][string]>(operators, ({ label, kinds, args, examples: [[, example]] }, name) => ({
    label,
    types: [...kinds],
    argument: publicSchema(args),
    example,
    sentence: wordsIn(language).operator(name as keyof typeof operators, example),
  })),
  limits: { levels: DEPTH_MAX, conditions: CONDITIONS_MAX },
})

const mapValues = <T, U>(kinds: Record<string, T>, map: (kind: T, name: string) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, map(kind, name)]))

/** References in examples have no names, so sentences contain their ids. */
const NAMELESS = { list: () => undefined, subscription: () => undefined, campaign: () => undefined, journey: () => undefined }

const GROUP_WORDS: Record<Group['is'], { label: string; description: string }> = {
  all: { label: 'All of', description: 'Users who match every rule in the group: “and”.' },
  any: { label: 'Any of', description: 'Users who match at least one rule in the group (“or”).' },
  none: { label: 'None of', description: 'Users who match no rule in the group.' },
  not: { label: 'Not', description: 'Users who do not match the rule in the group.' },
}

/** The schema of a group, whose members are rules. */
export function groupSchema(is: Group['is']): TSchema {
  if (is === 'not') return Exact({ not: RuleSchema })
  return Exact({ [is]: Type.Array(RuleSchema, { minItems: 1, maxItems: CHILDREN_MAX, description: 'The rules in the group.' }) })
}

function exampleOf(is: Group['is'], language: Language): { example: unknown; sentence: string } {
  const { attribute, event } = conditions
  const example = is === 'not' ? { not: attribute.example } : { [is]: [attribute.example, event.example] }
  return { example, sentence: describeRule(example as Rule, NAMELESS, language) }
}

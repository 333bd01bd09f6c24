/** Rules in English: the words are with each kind of condition and operator. */
import { fieldOf } from '../conditions/fields.ts'
import { kindOf } from '../nodes.ts'
import * as registry from '../operators/index.ts'
import type { Operator } from '../operators/operator.ts'
import type { RuleWords } from './words.ts'

const operators: Record<string, Operator> = registry

export const english: RuleWords = {
  and: 'and',
  or: 'or',
  not: (words, isGroup) => (/^(in|subscribed|unsubscribed|confirmed) /.test(words) && !isGroup ? `not ${words}` : `not (${words})`),
  needsComma: (words) => words.includes(' where '),
  condition: (condition, names) => kindOf(condition).describe(condition, names),
  operator: (name, args) => (operators[name] as Operator).describe(args),
  field: (attribute) => fieldOf(attribute)?.description ?? attribute,
}

/** What a language has for rules. A new kind of condition or operator does not compile without its words. */
import type { Names } from '../conditions/condition.ts'
import type * as conditions from '../conditions/index.ts'
import type * as operators from '../operators/index.ts'
import type {
  AttributeCondition,
  BucketCondition,
  CampaignCondition,
  DeviceCondition,
  EventCondition,
  JourneyCondition,
  ListCondition,
  SubscriptionCondition,
} from '../rule.ts'

type Shapes = {
  attribute: AttributeCondition
  bucket: BucketCondition
  campaign: CampaignCondition
  device: DeviceCondition
  event: EventCondition
  journey: JourneyCondition
  list: ListCondition
  subscription: SubscriptionCondition
}

type KindName = keyof typeof conditions

/** Conditions in words, to be joined with those of others. */
export type ConditionWords = { [K in KindName]: (condition: Shapes[K], names: Names) => string }

/** Operators with their arguments in words, to follow the name of a value. */
export type OperatorWords = Record<keyof typeof operators, (args: never) => string>

export type RuleWords = {
  and: string
  or: string
  /** A rule in words, denied. */
  not(words: string, isGroup: boolean): string
  /** Whether another part cannot follow without a comma. */
  needsComma(words: string): boolean
  condition(condition: object, names: Names): string
  /** An operator with its argument, to follow the name of a value. */
  operator(name: keyof typeof operators, args: unknown): string
  /** What sentences call an attribute. */
  field(attribute: string): string
}

/** Describes a rule in words. */
import type { Language } from '../../lib/languages.ts'
import type { Names } from './conditions/condition.ts'
import { type Group, groupOf } from './nodes.ts'
import type { Rule } from './rule.ts'
import * as languages from './words/index.ts'
import type { RuleWords } from './words/words.ts'

const wordsOf: Record<Language, RuleWords> = languages

/** The words of a language. */
export const wordsIn = (language: Language = 'en'): RuleWords => wordsOf[language]

/** Describes a rule, such as `plan is “pro” and not in the list “VIP”`. A reference without a name is described by its id. */
export const describeRule = (rule: Rule, names: Names, language?: Language): string => describe(rule, names, wordsIn(language))

function describe(rule: Rule, names: Names, words: RuleWords): string {
  const group = groupOf(rule)
  return group ? describeGroup(group, names, words) : words.condition(rule, names)
}

function describeGroup({ is, of }: Group, names: Names, words: RuleWords): string {
  const [first, ...others] = of
  switch (is) {
    case 'all':
      return joined(of, words.and, names, words)
    case 'any':
      return joined(of, words.or, names, words)
    case 'none':
      return others.length === 0 ? describeNot(first as Rule, names, words) : words.not(joined(of, words.or, names, words), true)
    case 'not':
      return describeNot(first as Rule, names, words)
    default:
      return is satisfies never
  }
}

/** Puts nested groups in parentheses, and a comma after a part that needs one, so that the parts stay distinct. */
function joined(rules: readonly Rule[], word: string, names: Names, words: RuleWords): string {
  const parts = rules.map((rule) =>
    isSimple(rule) || rules.length === 1 ? describe(rule, names, words) : `(${describe(rule, names, words)})`,
  )
  return parts.map((part, index) => (index === parts.length - 1 ? part : `${part}${words.needsComma(part) ? ',' : ''} ${word} `)).join('')
}

/** Whether a rule needs no parentheses. */
function isSimple(rule: Rule): boolean {
  const group = groupOf(rule)
  return !group || group.is === 'none' || group.is === 'not' || (group.of.length === 1 && isSimple(group.of[0] as Rule))
}

const describeNot = (rule: Rule, names: Names, words: RuleWords) => words.not(describe(rule, names, words), groupOf(rule) !== undefined)

import { Type } from 'typebox'
import { Exact, FreeForm } from '../../../lib/shapes.ts'
import { step } from './step.ts'

const RULE_BYTES_MAX = 32_768

export const gate = step({
  label: 'Decide',
  description: 'Divides users by a rule: those who match it take the path `yes`, others take `no`.',
  settings: Exact({
    rule: Type.Optional(FreeForm(RULE_BYTES_MAX, { description: 'Users who match this rule take the path `yes`, others take `no`.' })),
  }),
  refersTo: { rule: 'rule' },
  example: { rule: { attribute: 'data.plan', is: 'pro' } },
  sentence: 'take the path yes if plan is “pro”, otherwise the path no',
})

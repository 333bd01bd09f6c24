import { Type } from 'typebox'
import { Exact, FreeForm } from '../../../lib/shapes.ts'
import { step } from './step.ts'

const ATTRIBUTES_BYTES_MAX = 32_768

export const update = step({
  label: 'Update attributes',
  description: 'Changes attributes of the user.',
  settings: Exact({
    attributes: Type.Optional(
      FreeForm(ATTRIBUTES_BYTES_MAX, { description: 'Attributes to merge into the user’s `data`. Strings may contain Liquid.' }),
    ),
  }),
  example: { attributes: { onboarded: true } },
  sentence: 'set onboarded to true',
})

import { Exact } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const exit = step({
  label: 'Exit',
  description: 'Ends the journey for the user.',
  settings: Exact({}),
  example: {},
  sentence: 'leave the journey',
})

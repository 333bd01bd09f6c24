import { Exact } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const exit = step({ label: 'Exit', settings: Exact({}) })

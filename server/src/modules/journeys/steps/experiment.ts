import { Type } from 'typebox'
import { Exact, Line } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const experiment = step({
  label: 'Experiment',
  description: 'Divides users at random among several paths.',
  settings: Exact({
    branches: Type.Optional(
      Type.Array(Exact({ path: Line(64), weight: Type.Number({ minimum: 0, maximum: 1_000_000 }) }), {
        maxItems: 20,
        description: 'The paths with their relative weights.',
      }),
    ),
  }),
  example: {
    branches: [
      { path: 'a', weight: 3 },
      { path: 'b', weight: 1 },
    ],
  },
  sentence: '75% of users take the path a, and 25% take the path b',
})

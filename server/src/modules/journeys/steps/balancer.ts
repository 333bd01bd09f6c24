import { Type } from 'typebox'
import { Exact, OneOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const balancer = step({
  label: 'Limit the rate',
  description: 'Lets only so many users pass in each interval. The others wait for their turn.',
  settings: Exact({
    rate_limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'The number of users who pass in each interval.' }),
    ),
    rate_interval: Type.Optional(OneOf(['second', 'minute', 'hour', 'day'], { description: 'The length of the interval.' })),
  }),
  example: { rate_limit: 100, rate_interval: 'minute' },
  sentence: 'let 100 users pass each minute',
})

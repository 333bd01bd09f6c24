import { Type } from 'typebox'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const delay = step({
  label: 'Wait',
  settings: Exact({
    format: Type.Optional(
      OneOf(['duration', 'time', 'date'], { description: 'Waits for a duration, until a time of day, or until a date.' }),
    ),
    days: Type.Optional(Type.Integer({ minimum: 0, maximum: 3650 })),
    hours: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    minutes: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
    time: Type.Optional(
      Type.String({
        pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
        problem: 'must be a time of day such as `09:30`',
        description: 'A time of day in the user’s time zone.',
      }),
    ),
    date: Type.Optional(Line(255, { description: 'An ISO 8601 date, or Liquid that renders one.' })),
  }),
  waits: true,
})

import { Type } from 'typebox'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const delay = step({
  label: 'Wait',
  description: 'Waits for a duration, until a time of day, or until a date.',
  settings: Exact({
    format: Type.Optional(
      OneOf(['duration', 'time', 'date'], { description: 'What the user waits for: a `duration`, a `time` of day or a `date`.' }),
    ),
    days: Type.Optional(Type.Integer({ minimum: 0, maximum: 3650, description: 'The days of a duration.' })),
    hours: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: 'The hours of a duration, in addition to the days.' })),
    minutes: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100_000, description: 'The minutes of a duration, in addition to days and hours.' }),
    ),
    time: Type.Optional(
      Type.String({
        pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
        problem: 'must be a time of day such as `09:30`',
        description: 'A time of day in the user’s time zone.',
      }),
    ),
    date: Type.Optional(Line(255, { description: 'An ISO 8601 date, or Liquid that renders one.' })),
  }),
  example: { format: 'duration', days: 1, hours: 12 },
  sentence: 'wait for 1 day and 12 hours',
  waits: true,
})

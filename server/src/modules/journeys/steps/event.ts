import { Type } from 'typebox'
import { Exact, FreeForm } from '../../../lib/shapes.ts'
import { step } from './step.ts'

const DATA_BYTES_MAX = 32_768

export const event = step({
  label: 'Record an event',
  description: 'Records an event on the user.',
  settings: Exact({
    event_name: Type.Optional(Type.String({ notBlank: true, minLength: 1, maxLength: 255, description: 'The name of the event.' })),
    event_data: Type.Optional(FreeForm(DATA_BYTES_MAX, { description: 'The attributes of the event. Strings may contain Liquid.' })),
  }),
  example: { event_name: 'trial_started', event_data: { plan: 'pro' } },
  sentence: 'record the event trial_started with the plan “pro”',
})

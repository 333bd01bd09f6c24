import { Type } from 'typebox'
import type { JourneyId } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const link = step({
  label: 'Go to another journey',
  description: 'Ends this journey for the user, who enters another one.',
  settings: Exact({ journey_id: Type.Optional(IdOf<JourneyId>({ description: 'The journey to enter.' })) }),
  refersTo: { journey_id: 'journey' },
  example: { journey_id: 5 as JourneyId },
  sentence: 'go to the journey 5',
})

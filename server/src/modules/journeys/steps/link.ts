import { Type } from 'typebox'
import type { JourneyId } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const link = step({
  label: 'Go to another journey',
  settings: Exact({ journey_id: Type.Optional(IdOf<JourneyId>()) }),
})

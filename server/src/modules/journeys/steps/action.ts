import { Type } from 'typebox'
import type { CampaignId } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const action = step({
  label: 'Send',
  settings: Exact({ campaign_id: Type.Optional(IdOf<CampaignId>({ description: 'The trigger campaign to send.' })) }),
})

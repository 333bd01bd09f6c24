import { Type } from 'typebox'
import type { CampaignId } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

export const action = step({
  label: 'Send',
  description: 'Sends a message of a trigger campaign to the user.',
  settings: Exact({ campaign_id: Type.Optional(IdOf<CampaignId>({ description: 'The trigger campaign to send.' })) }),
  refersTo: { campaign_id: 'campaign' },
  example: { campaign_id: 7 as CampaignId },
  sentence: 'send the campaign 7',
})

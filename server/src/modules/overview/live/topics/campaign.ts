import type { CampaignId } from '../../../../lib/ids.ts'
import { progressOf } from '../../../campaigns/index.ts'
import type { TopicKind } from './topic.ts'

export const campaign: TopicKind = {
  about:
    'A campaign in `campaign`, as getCampaign returns it. Its counts are in `delivery`, as getCampaignDelivery returns them, but without the winner.',
  of: 'object',
  look: (ctx, ids) => progressOf(ctx, ids as CampaignId[]),
}

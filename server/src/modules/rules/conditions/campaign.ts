import type { CampaignId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, OneOf } from '../../../lib/shapes.ts'
import { CAMPAIGN_ACTIONS, type CampaignCondition } from '../rule.ts'
import { condition, type Tracker } from './condition.ts'
import { compileCount } from './counted.ts'
import { compilePeriod, periodFaults, periodMembers, sayPeriod } from './period.ts'

const ONCE = { least: 1, most: null }

const SAYS: Record<CampaignCondition['did'], string> = {
  sent: 'was sent',
  delivered: 'received',
  opened: 'opened',
  clicked: 'clicked in',
  bounced: 'bounced on',
  complained: 'complained about',
  failed: 'failed to be sent',
}

/** It counts the events that the system writes about messages. */
export const campaign = condition<CampaignCondition>({
  label: 'Campaign',
  shape: Exact({ campaign: IdOf<CampaignId>(), did: OneOf(CAMPAIGN_ACTIONS), ...periodMembers }),
  faults: periodFaults,
  references: (given) => [{ kind: 'campaign', id: given.campaign, param: 'campaign' }],
  compile: (given, index) => {
    const tracker: Tracker = {
      names: CHANNELS.map((channel) => `${channel}_${given.did}`),
      where: [{ attribute: 'data.campaign_id', is: given.campaign }],
      ...compilePeriod(given),
      keep: 'latest',
      count: 1,
      asksWhen: false,
    }
    return { mentions: tracker.names.map((name) => `event:${name}` as const), ...compileCount(tracker, ONCE, index) }
  },
  says: (given, names) => {
    const name = names.campaign(given.campaign)
    return `${SAYS[given.did]} the campaign ${name === undefined ? given.campaign : `“${name}”`}${sayPeriod(given)}`
  },
})

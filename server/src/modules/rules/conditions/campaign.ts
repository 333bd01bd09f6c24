import type { CampaignId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, OneOf } from '../../../lib/shapes.ts'
import { CAMPAIGN_ACTIONS, type CampaignCondition } from '../rule.ts'
import { condition, type Tracker } from './condition.ts'
import { compileCount } from './counted.ts'
import { compilePeriod, describePeriod, periodFaults, periodMembers } from './period.ts'

const ONCE = { least: 1, most: null }

const ACTION_PHRASES: Record<CampaignCondition['did'], string> = {
  sent: 'was sent',
  delivered: 'received',
  opened: 'opened',
  clicked: 'clicked in',
  bounced: 'bounced on',
  complained: 'complained about',
  failed: 'failed to receive',
}

/** Counts the system events about messages, and no events of requests with the same names (D-EVT-5). */
export const campaign = condition<CampaignCondition>({
  label: 'Campaign',
  description: 'Users with this result recorded for a message of the campaign.',
  shape: Exact({
    campaign: IdOf<CampaignId>({ description: 'The id of the campaign.' }),
    did: OneOf(CAMPAIGN_ACTIONS, { description: 'The result.' }),
    ...periodMembers,
  }),
  example: { campaign: 9, did: 'opened', within: '7d' },
  faults: periodFaults,
  references: (given) => [{ kind: 'campaign', id: given.campaign, param: 'campaign' }],
  compile: (given, index) => {
    const tracker: Tracker = {
      names: CHANNELS.map((channel) => `${channel}_${given.did}`),
      systemOnly: true,
      where: [{ attribute: 'data.campaign_id', is: given.campaign }],
      ...compilePeriod(given),
      keep: 'latest',
      count: 1,
      needsTime: false,
    }
    return { dependencies: tracker.names.map((name) => `event:${name}` as const), ...compileCount(tracker, ONCE, index) }
  },
  describe: (given, names) => {
    const name = names.campaign(given.campaign)
    return `${ACTION_PHRASES[given.did]} the campaign ${name === undefined ? given.campaign : `“${name}”`}${describePeriod(given)}`
  },
})

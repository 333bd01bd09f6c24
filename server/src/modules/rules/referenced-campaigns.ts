import type { CampaignId } from '../../lib/ids.ts'
import { checkRule } from './check.ts'
import { referencesOf } from './compile.ts'
import type { Rule } from './rule.ts'

/** The campaigns that a rule refers to; none when it is not a valid rule. */
export const campaignIdsIn = (rule: unknown): CampaignId[] =>
  rule == null || checkRule(rule, 'rule').length > 0
    ? []
    : referencesOf(rule as Rule).flatMap(({ kind, id }) => (kind === 'campaign' ? [id as CampaignId] : []))

/** Rule previews: count the users of a rule without creating a list, with a time limit. */

import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { CHANNELS, channels } from '../../../lib/channels.ts'
import { describeRule, type Rule } from '../../rules/index.ts'
import type { NamedCampaign } from '../check-references.ts'
import { usersInOrder } from '../members/list.ts'
import type { Preview } from '../schema.ts'
import { readByRule, TIMEOUT_MS, usableRule } from './by-rule.ts'
import * as queries from './queries.ts'

/** Counts the users for whom a rule holds. Throws 422 when that takes too long, 429 when too many previews of the project wait. */
export async function previewRule(ctx: ProjectCtx, rule: Rule, campaigns: NamedCampaign[], timeoutMs = TIMEOUT_MS): Promise<Preview> {
  const { names, compiled } = await usableRule(ctx, rule, campaigns)
  const previewed = await readByRule(ctx, compiled, { timeoutMs, doing: 'Counting' }, (ctx, statement) =>
    queries.countByRule(ctx, statement, compiled.conditions.length),
  )
  const { count, newest, counts } = previewed
  const withAddress = {
    email: previewed.with_email,
    phone: previewed.with_phone,
    devices: previewed.with_push_device,
    inbox: count,
    endpoint: count,
  }
  return {
    count,
    reach: CHANNELS.map((channel) => ({ channel, count: withAddress[channels[channel].recipient] })),
    users: await usersInOrder(ctx, newest),
    conditions: compiled.conditions.map(({ path, condition }, index) => ({
      path: path === '' ? 'rule' : `rule.${path}`,
      description: describeRule(condition, names, ctx.language),
      count: counts[index] ?? 0,
    })),
    sampled: false,
  }
}

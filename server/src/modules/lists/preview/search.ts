/** Lists the users who match a rule in pages, without creating a list. */

import type { PageRequest } from '../../../infra/http/paging.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { describeRule, type Rule } from '../../rules/index.ts'
import { searchPlan } from '../../users/index.ts'
import type { NamedCampaign } from '../check-references.ts'
import { usersInOrder } from '../members/list.ts'
import type { MatchingUsers } from '../schema.ts'
import { readByRule, TIMEOUT_MS, usableRule } from './by-rule.ts'
import * as queries from './queries.ts'

/** A page of the users who match a rule now, with the rule in words. Throws as `previewRule` does. */
export async function searchByRule(
  ctx: ProjectCtx,
  { rule, page, campaigns }: { rule: Rule; page: PageRequest; campaigns: NamedCampaign[] },
  timeoutMs = TIMEOUT_MS,
): Promise<MatchingUsers> {
  const { names, compiled } = await usableRule(ctx, rule, campaigns)
  const plan = page.q === '' ? null : await searchPlan(ctx, page.q)
  const { results, ...cursors } = await readByRule(ctx, compiled, { timeoutMs, doing: 'Searching by' }, (ctx, statement) =>
    queries.usersByRule(ctx, statement, page, plan),
  )
  const users = await usersInOrder(
    ctx,
    results.map(({ id }) => id),
  )
  return { results: users, ...cursors, description: describeRule(rule, names, ctx.language) }
}

/** Rule previews: count the users of a rule without creating a list, with a time limit. */

import { isSqlState } from '../../../infra/postgres/db.ts'
import { inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { CHANNELS, channels } from '../../../lib/channels.ts'
import { ApiError, fault, refuse } from '../../../lib/errors.ts'
import { createKeyedQueue } from '../../../lib/keyed-queue.ts'
import { type CompiledRule, checkRule, compileRule, describeRule, type Rule, ruleSql } from '../../rules/index.ts'
import { loadNames, type NamedCampaign, requireKnownReferences } from '../check-references.ts'
import { usersInOrder } from '../members/list.ts'
import { ruleTables } from '../rule-tables.queries.ts'
import type { Preview } from '../schema.ts'
import * as queries from './queries.ts'

const TIMEOUT_MS = 20_000
/** How many previews this process counts at a time, one of each project, and how many of a project may wait. */
const queue = createKeyedQueue({ atOnce: 4, waitingMax: 4 })
const RETRY_S = 10

/** Counts the users for whom a rule holds. Throws 422 when that takes too long, 429 when too many previews of the project wait. */
export async function previewRule(ctx: ProjectCtx, rule: Rule, campaigns: NamedCampaign[], timeoutMs = TIMEOUT_MS): Promise<Preview> {
  refuse(checkRule(rule, 'rule'))
  const names = await loadNames(ctx, [rule], campaigns)
  requireKnownReferences(rule, names)
  const compiled = compileRule(rule)
  const previewed = await queue.take(ctx.projectId, () => counted(ctx, compiled, timeoutMs))
  if (previewed === 'full') throw tooMany()
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

const QUERY_CANCELLED = '57014'

async function counted(ctx: ProjectCtx, compiled: CompiledRule, timeoutMs: number) {
  const statement = ruleSql(compiled, { projectId: ctx.projectId, now: ctx.clock.now(), source: { from: 'events' }, tables: ruleTables })
  try {
    const counts = await inTx(ctx, async (ctx) => {
      await queries.limitStatements(ctx, timeoutMs)
      return queries.countByRule(ctx, statement, compiled.conditions.length)
    })
    return counts
  } catch (error) {
    if (!isSqlState(error, QUERY_CANCELLED)) throw error
    throw fault(
      'validation_failed',
      'rule',
      'Counting this rule takes too long. Use shorter time windows, or create the list, which is built in the background.',
    )
  }
}

const tooMany = () =>
  new ApiError('rate_limited', `Too many previews of this project are being counted. Retry after ${RETRY_S} seconds.`, {
    headers: { 'retry-after': String(RETRY_S) },
  })

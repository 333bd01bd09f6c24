/** Reads users by a rule that is not saved: checked, a few at a time, and with a time limit. */

import { isSqlState } from '../../../infra/postgres/db.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ApiError, fault, refuse } from '../../../lib/errors.ts'
import { createKeyedQueue } from '../../../lib/keyed-queue.ts'
import { type CompiledRule, checkRule, compileRule, type Rule, type RuleSql, ruleSql } from '../../rules/index.ts'
import { loadNames, type NamedCampaign, requireKnownReferences } from '../check-references.ts'
import { ruleTables } from '../rule-tables.queries.ts'
import * as queries from './queries.ts'

export const TIMEOUT_MS = 20_000
/** How many rules this process reads by at a time, one of each project, and how many of a project may wait. */
const queue = createKeyedQueue({ atOnce: 4, waitingMax: 4 })
const RETRY_S = 10

/** The rule, compiled, with the names of what it refers to. Throws 422 when it is invalid, or refers to something that does not exist. */
export async function usableRule(ctx: ProjectCtx, rule: Rule, campaigns: NamedCampaign[]) {
  refuse(checkRule(rule, 'rule'))
  const names = await loadNames(ctx, [rule], campaigns)
  requireKnownReferences(rule, names)
  return { names, compiled: compileRule(rule) }
}

const QUERY_CANCELLED = '57014'

type Limits = {
  timeoutMs: number
  /** What takes too long, as the first word of the sentence that says so. */
  doing: 'Counting' | 'Searching by'
}

/** Runs `read` by a rule on all stored data. Throws 422 when that takes too long, 429 when too many requests of the project wait. */
export async function readByRule<T>(
  ctx: ProjectCtx,
  compiled: CompiledRule,
  limits: Limits,
  read: (ctx: InTx<ProjectCtx>, statement: RuleSql) => Promise<T>,
): Promise<T> {
  const result = await queue.take(ctx.projectId, () => readInTime(ctx, compiled, limits, read))
  if (result === 'full') throw tooMany()
  return result
}

async function readInTime<T>(
  ctx: ProjectCtx,
  compiled: CompiledRule,
  { timeoutMs, doing }: Limits,
  read: (ctx: InTx<ProjectCtx>, statement: RuleSql) => Promise<T>,
): Promise<T> {
  const statement = ruleSql(compiled, { projectId: ctx.projectId, now: ctx.clock.now(), source: { from: 'events' }, tables: ruleTables })
  try {
    return await inTx(ctx, async (ctx) => {
      await queries.limitStatements(ctx, timeoutMs)
      const started = performance.now()
      const found = await read(ctx, statement)
      ctx.metrics.listsEvaluated('preview', performance.now() - started)
      return found
    })
  } catch (error) {
    if (!isSqlState(error, QUERY_CANCELLED)) throw error
    throw fault(
      'validation_failed',
      'rule',
      `${doing} this rule takes too long. Use shorter time windows, or create the list, which is built in the background.`,
    )
  }
}

const tooMany = () =>
  new ApiError('rate_limited', `Too many previews and rule searches of this project are running. Retry after ${RETRY_S} seconds.`, {
    headers: { 'retry-after': String(RETRY_S) },
  })

/** Explains why a user is in a list, or is not. Evaluates the rule on all stored data of the user. */

import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing } from '../../../lib/errors.ts'
import { type CompiledRule, compileRule, type Explanation, explainRule, type Rule } from '../../rules/index.ts'
import { hiddenKeysOf, requireUser, type UserRow } from '../../users/index.ts'
import { loadFacts } from '../live/load-facts.ts'
import { findRule } from '../queries.ts'
import type { ListRow, UserExplanation } from '../schema.ts'
import { findMembership } from './queries.ts'

/** Explains by the rule of the live version, or by the newest rule when no version is live. `name` is an external id. Throws 404. */
export async function explainUser(ctx: ProjectCtx, list: ListRow, name: string): Promise<UserExplanation> {
  const user = await requireUser(ctx, name)
  const membership = list.live_version_id === null ? undefined : await findMembership(ctx, list.live_version_id, user.id)
  const rule = await liveRule(ctx, list)
  return {
    list_id: list.id,
    user_id: user.id,
    member: membership?.is_member ?? false,
    since: membership?.changed_at ?? null,
    evaluated_at: ctx.clock.now(),
    ...(rule === null ? NO_RULE : await explainForUser(ctx, rule, user)),
  }
}

const NO_RULE = { holds: null, next_check_at: null, explanation: null }

async function liveRule(ctx: ProjectCtx, { live_version_id, version_id, rule }: ListRow): Promise<Rule | null> {
  if (live_version_id === null || live_version_id === version_id) return rule
  return (await findRule(ctx, live_version_id))?.rule ?? null
}

/** Whether a rule holds for a user now, and why, on all stored data. Evidence that the caller may not see is left out. Throws 404. */
export async function explainForUser(ctx: ProjectCtx, rule: Rule, user: UserRow) {
  const nowMs = ctx.clock.now().getTime()
  const compiled = compileRule(rule)
  const facts = (await loadFacts(ctx, compiled, 'events', [user.id])).get(user.id)
  if (!facts) throw missing('user')
  const nextChange = compiled.nextChangeAt(facts, nowMs)
  return {
    holds: compiled.holds(facts, nowMs),
    next_check_at: nextChange === null ? null : new Date(nextChange),
    explanation: without(await hiddenConditions(ctx, compiled), explainRule(compiled, facts, nowMs)),
  }
}

/** The paths of conditions about attributes that this caller may not see (D-ATTR-1). */
async function hiddenConditions(ctx: ProjectCtx, { conditions }: CompiledRule): Promise<Set<string>> {
  const hidden = new Set(await hiddenKeysOf(ctx))
  const isHidden = (dependency: string) => dependency.startsWith(DATA) && hidden.has(dependency.slice(DATA.length))
  return new Set(conditions.filter(({ compiled }) => compiled.dependencies.some(isHidden)).map(({ path }) => path))
}

const DATA = 'attribute:data.'

function without(hidden: ReadonlySet<string>, { seen, of, ...node }: Explanation): Explanation {
  return {
    ...node,
    ...(seen !== undefined && !hidden.has(node.path) && { seen }),
    ...(of && { of: of.map((child) => without(hidden, child as Explanation)) }),
  }
}

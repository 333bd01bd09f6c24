/** Facts about users for several rules at once, as journeys need them. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import type { CompiledRule, UserFacts } from '../../rules/index.ts'
import type { UserChange, UserRecord } from '../../users/index.ts'
import { factsOf, loadNeeded, nested, timesOfEvents, type Users } from './load-facts.ts'
import * as queries from './queries.ts'
import { registryOf } from './registry.ts'

/** What is asked about users. `known` are those that the caller has read. */
export type Asked = { rules: CompiledRule[]; lists: ListId[]; ids: UserId[]; known: ReadonlyMap<UserId, UserFacts['user']> }

export type FactsFor = {
  /** The facts for one of the rules. The next call fills the same object. Undefined for a user who was erased. */
  facts(rule: CompiledRule, id: UserId): UserFacts | undefined
  /** Undefined for a list that does not exist any more. */
  isIn(id: UserId, list: ListId): boolean | undefined
}

/** Loads the facts for these rules. The caller holds the lock on lists. */
export async function loadFactsFor(ctx: InTx, { rules, lists, ids, known }: Asked): Promise<FactsFor> {
  const { liveVersionOf } = await registryOf(ctx)
  const named = [...rules.flatMap((rule) => rule.references.lists as ListId[]), ...lists]
  const versions = [...new Set(named.flatMap((id) => liveVersionOf.get(id) ?? []))]
  const memberships = nested(versions.length > 0 ? await queries.findMemberships(ctx, ids, versions) : [])
  const changes = new Map([...known].map(([id, user]): [UserId, UserChange] => [id, { user_id: id, what: [], user: user as UserRecord }]))
  const users: Users = { ...(await loadNeeded(ctx, rules, ids, changes)), memberships, liveVersionOf }
  const selectors = new Map<CompiledRule, ReturnType<typeof factsOf>>()
  for (const rule of new Set(rules)) {
    const trackers = rule.trackers.map((tracker, index) => ({ id: index as TrackerId, tracker }))
    selectors.set(rule, factsOf({ id: 0 as ListVersionId, trackers }, users, await timesOfEvents(ctx, rule, ids)))
  }
  return {
    facts(rule, id) {
      const selector = selectors.get(rule)
      return selector?.select(id) ? selector.user : undefined
    },
    isIn(id, list) {
      const version = liveVersionOf.get(list)
      return version === undefined ? undefined : memberships.get(id)?.get(version)?.is_member === true
    },
  }
}

/** Checks that everything a rule refers to exists, and that lists do not depend on each other in a cycle. */

import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { type Fault, notOfProject, refuse } from '../../lib/errors.ts'
import type { CampaignId, ListId, SubscriptionId } from '../../lib/ids.ts'
import { journeysWithSteps } from '../positions/index.ts'
import { type Names, type Rule, referencesOf } from '../rules/index.ts'
import { knownSubscriptions } from '../subscriptions/index.ts'
import { chainFaults, type References } from './chains.ts'
import * as queries from './queries.ts'

/** An existing campaign that a rule refers to. Read by the caller, because the module `campaigns` depends on this one. */
export type NamedCampaign = { id: CampaignId; name: string }

/** The names of everything that these rules refer to. */
export async function loadNames(ctx: ProjectCtx, rules: Rule[], campaigns: NamedCampaign[]): Promise<Names> {
  const ids: Record<keyof Names, number[]> = { list: [], subscription: [], campaign: [], journey: [] }
  for (const { kind, id } of rules.flatMap(referencesOf)) ids[kind].push(id)
  return {
    list: named(ids.list.length > 0 ? await queries.listNames(ctx, ids.list) : []),
    subscription: named(ids.subscription.length > 0 ? await knownSubscriptions(ctx, ids.subscription as SubscriptionId[], false) : []),
    campaign: named(campaigns),
    // Rules name journeys by their ids, because the module `journeys` depends on this one.
    journey: named((ids.journey.length > 0 ? await journeysWithSteps(ctx, ids.journey) : []).map(({ id }) => ({ id, name: String(id) }))),
  }
}

function named(rows: { id: number; name: string }[]): (id: number) => string | undefined {
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return (id) => names.get(id)
}

const THINGS = { list: 'a list', subscription: 'a subscription type', campaign: 'a campaign', journey: 'a journey with steps' }

/** A fault for each reference of a rule that does not exist. `at` is the path of the rule. */
export const unknownReferences = (at: string, rule: Rule, names: Names): Fault[] =>
  referencesOf(rule)
    .filter(({ kind, id }) => names[kind](id) === undefined)
    .map(({ kind, param }) => notOfProject(`${at}.${param}`, THINGS[kind]))

/** Throws 422 for references that do not exist. */
export const requireKnownReferences = (rule: Rule, names: Names): void => refuse(unknownReferences('rule', rule, names))

/**
 * Throws 422 when lists would depend on each other in a cycle, or in a chain that is too long. The caller has locked the rules of the
 * project. While a list is being built, the rule of its live version counts too.
 */
export async function requireShortChains(ctx: InTx, rule: Rule, list: ListId | null): Promise<void> {
  const inRule = referencesOf(rule).filter(({ kind }) => kind === 'list')
  if (inRule.length === 0) return
  const { references, names } = await referencesBetweenLists(ctx)
  const named = await queries.listNames(ctx, [...(list === null ? [] : [list]), ...inRule.map(({ id }) => id)])
  for (const { id, name } of named) names.set(id, name)
  const at = inRule.map(({ id, param }) => ({ id: id as ListId, param: `rule.${param}` }))
  refuse(chainFaults(references, list, at, (id) => `“${names.get(id)}”`))
}

async function referencesBetweenLists(ctx: ProjectCtx): Promise<{ references: References; names: Map<ListId, string> }> {
  const references = new Map<ListId, Set<ListId>>()
  const names = new Map<ListId, string>()
  for (const { list_id, name, rule } of await queries.rulesDependingOnLists(ctx)) {
    names.set(list_id, name)
    const others = references.get(list_id) ?? new Set<ListId>()
    for (const { kind, id } of referencesOf(rule)) if (kind === 'list') others.add(id as ListId)
    references.set(list_id, others)
  }
  return { references, names }
}

/** The names of the lists whose rules refer to this one. */
export async function listsReferringTo(ctx: ProjectCtx, list: ListId): Promise<string[]> {
  const { references, names } = await referencesBetweenLists(ctx)
  return [...references].filter(([, others]) => others.has(list)).flatMap(([id]) => names.get(id) ?? [])
}

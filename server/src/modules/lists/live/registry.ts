/** The list versions that are maintained: compiled, in the order of evaluation, indexed by their dependencies. */

import { LRUCache } from 'lru-cache'
import type { TxDb } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import { type CompiledRule, compileRule, type Tracker } from '../../rules/index.ts'
import * as queries from './queries.ts'

export type Version = {
  id: ListVersionId
  listId: ListId
  /** Whether its members are the members of the list. */
  isLive: boolean
  /** Infinity while it is being built. */
  liveSinceMs: number
  /** While it is being built, users up to this id are maintained. */
  builtTo: UserId
  /** Whether a scan builds it, so that users of new events must be marked as stale. */
  isScanned: boolean
  trackers: { id: TrackerId; tracker: Tracker }[]
  rule: CompiledRule
  /** Higher than the ranks of the lists that its rule refers to. */
  rank: number
}

export type Registry = {
  /** The versions of dynamic lists, by rank. */
  versions: readonly Version[]
  byId: ReadonlyMap<ListVersionId, Version>
  /** The versions that depend on an attribute, an event, a list or a subscription type. */
  dependingOn(what: string): readonly Version[]
  /** The version whose members are the members of the list. Static lists have one too. */
  liveVersionOf: ReadonlyMap<ListId, ListVersionId>
  listOf: ReadonlyMap<ListVersionId, ListId>
}

/** Clocks of several machines differ a little. */
export const CLOCK_GRACE_MS = 10_000

/** Are memberships of the user maintained? If the build has not reached the user yet, it will read everything itself. */
export const isMaintained = ({ isLive, builtTo }: Pick<Version, 'isLive' | 'builtTo'>, userId: UserId): boolean =>
  isLive || userId <= builtTo

/** Of the rules that are kept, as JSON. */
const RULE_CHARACTERS_MAX = 32_000_000
/** Of the registries that are kept. A registry without versions counts as one. */
const VERSIONS_MAX = 200_000

/** Never outdated, because the rule of a version never changes. */
const compiled = new LRUCache<ListVersionId, { rule: CompiledRule; trackerIds: TrackerId[] }>({
  maxSize: RULE_CHARACTERS_MAX,
  sizeCalculation: ({ rule }) => JSON.stringify(rule.rule).length,
})
const registries = new LRUCache<number, { key: string; registry: Registry }>({
  maxSize: VERSIONS_MAX,
  sizeCalculation: ({ registry }) => 1 + registry.versions.length,
})

const registryOfTransaction = new WeakMap<TxDb, Promise<Registry>>()

/** The registry of a transaction that holds the lock on lists, loaded once: no version goes live and no build advances meanwhile. */
export function registryOf(ctx: InTx): Promise<Registry> {
  const known = registryOfTransaction.get(ctx.db)
  if (known) return known
  const loading = loadRegistry(ctx)
  registryOfTransaction.set(ctx.db, loading)
  // After a savepoint that failed it is loaded again.
  loading.catch(() => registryOfTransaction.delete(ctx.db))
  return loading
}

/** The registry of a project as this transaction sees it. */
export async function loadRegistry(ctx: ProjectCtx): Promise<Registry> {
  const rows = await queries.versionsInUse(ctx)
  const key = rows.map(({ id, is_live, built_to, is_scanned }) => `${id} ${is_live ? 'live' : `${built_to} ${is_scanned}`}`).join()
  const known = registries.get(ctx.projectId)
  if (known?.key === key) return known.registry
  const registry = createRegistry(rows, await compiledOf(ctx, rows))
  registries.set(ctx.projectId, { key, registry })
  return registry
}

async function compiledOf(ctx: ProjectCtx, rows: queries.VersionRow[]) {
  const dynamic = rows.filter(({ is_dynamic }) => is_dynamic)
  // The cache may drop any of them while others are added.
  const found = new Map<ListVersionId, { rule: CompiledRule; trackerIds: TrackerId[] }>()
  for (const { id } of dynamic) {
    const known = compiled.get(id)
    if (known) found.set(id, known)
  }
  const unknown = dynamic.filter(({ id }) => !found.has(id)).map(({ id }) => id)
  for (const { id, rule, tracker_ids } of unknown.length > 0 ? await queries.rulesOf(ctx, unknown) : []) {
    const entry = { rule: compileRule(rule), trackerIds: tracker_ids }
    compiled.set(id, entry)
    found.set(id, entry)
  }
  return found
}

function createRegistry(rows: queries.VersionRow[], rules: Map<ListVersionId, { rule: CompiledRule; trackerIds: TrackerId[] }>): Registry {
  const versions = rows.flatMap(({ id, list_id, is_live, is_scanned, built_to, live_at }): Version[] => {
    const known = rules.get(id)
    if (!known) return []
    const trackers = known.rule.trackers.map((tracker, index) => ({ id: known.trackerIds[index] as TrackerId, tracker }))
    const liveSinceMs = is_live && live_at ? live_at.getTime() : Number.POSITIVE_INFINITY
    const state = { isLive: is_live, liveSinceMs, isScanned: is_scanned, builtTo: built_to }
    return [{ id, listId: list_id, ...state, trackers, rule: known.rule, rank: 0 }]
  })
  rank(versions)
  const byDependency = new Map<string, Version[]>()
  for (const version of versions) {
    for (const what of version.rule.dependencies) byDependency.set(what, [...(byDependency.get(what) ?? []), version])
  }
  const live = rows.filter(({ is_live }) => is_live)
  return {
    versions,
    byId: new Map(versions.map((version) => [version.id, version])),
    dependingOn: (what) => byDependency.get(what) ?? [],
    liveVersionOf: new Map(live.map(({ id, list_id }) => [list_id, id])),
    listOf: new Map(rows.map(({ id, list_id }) => [id, list_id])),
  }
}

/** Lists that a rule refers to, or whose membership changes it counts. */
const listsNamedBy = ({ dependencies }: CompiledRule): ListId[] =>
  [...dependencies].filter((what) => what.startsWith('list:')).map((what) => Number(what.slice('list:'.length)) as ListId)

const RANK_MAX = 50

/** Ends because rules that make a list depend on itself are refused when they are saved; the limit is a second safeguard. */
function rank(versions: Version[]): void {
  const ofList = Map.groupBy(versions, ({ listId }) => listId)
  for (let round = 0, isChanging = true; isChanging && round < RANK_MAX; round++) {
    isChanging = false
    for (const version of versions) {
      const named = listsNamedBy(version.rule).flatMap((id) => ofList.get(id) ?? [])
      const least = Math.max(-1, ...named.map((other) => other.rank)) + 1
      if (least <= version.rank) continue
      version.rank = least
      isChanging = true
    }
  }
  versions.sort((a, b) => a.rank - b.rank)
}

/** The versions of lists that are kept up to date, compiled, in the order in which they are to be looked at, found by what they mention. */

import { LRUCache } from 'lru-cache'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import { type CompiledRule, compileRule, type Tracker } from '../../rules/index.ts'
import * as queries from './queries.ts'

export type Version = {
  id: ListVersionId
  listId: ListId
  /** Its members are the list's: moves are news. */
  isLive: boolean
  /** Infinity while it is being built. */
  liveSinceMs: number
  /** Of one that is being built, people up to this id are kept up to date. */
  builtTo: UserId
  /** While it is being built: past events are read in a row, and what happens meanwhile is to be noted. */
  isScanned: boolean
  trackers: { id: TrackerId; tracker: Tracker }[]
  rule: CompiledRule
  /** A list comes after those it mentions. */
  rank: number
}

export type Registry = {
  /** Dynamic ones, by rank. */
  versions: readonly Version[]
  byId: ReadonlyMap<ListVersionId, Version>
  /** Those that mention an attribute, an event, a list … */
  mentioning(what: string): readonly Version[]
  /** The version whose members are the list's; of static lists too. */
  liveVersionOf: ReadonlyMap<ListId, ListVersionId>
  listOf: ReadonlyMap<ListVersionId, ListId>
}

/** Whom the building of a version has not come to yet is not kept: it will see all there is. */
export const isMaintained = ({ isLive, builtTo }: Pick<Version, 'isLive' | 'builtTo'>, userId: UserId): boolean =>
  isLive || userId <= builtTo

const COMPILED_KEPT = 5000
const REGISTRIES_KEPT = 200

/** Versions never change, so what was compiled is right for as long as anybody asks. */
const compiled = new LRUCache<ListVersionId, { rule: CompiledRule; trackerIds: TrackerId[] }>({ max: COMPILED_KEPT })
const registries = new LRUCache<number, { key: string; registry: Registry }>({ max: REGISTRIES_KEPT })

/** The registry of a project as this transaction sees it. */
export async function loadRegistry(ctx: ProjectCtx): Promise<Registry> {
  const rows = await queries.versionsInUse(ctx)
  const key = rows.map(({ id, is_live, built_to, is_scanned }) => `${id} ${is_live ? 'live' : `${built_to} ${is_scanned}`}`).join()
  const known = registries.get(ctx.projectId)
  if (known?.key === key) return known.registry
  const registry = registryOf(rows, await compiledOf(ctx, rows))
  registries.set(ctx.projectId, { key, registry })
  return registry
}

async function compiledOf(ctx: ProjectCtx, rows: queries.VersionRow[]) {
  const dynamic = rows.filter(({ is_dynamic }) => is_dynamic)
  const unknown = dynamic.filter(({ id }) => !compiled.has(id)).map(({ id }) => id)
  if (unknown.length > 0) {
    for (const { id, rule, tracker_ids } of await queries.rulesOf(ctx, unknown))
      compiled.set(id, { rule: compileRule(rule), trackerIds: tracker_ids })
  }
  return new Map(dynamic.map(({ id }) => [id, compiled.get(id) as { rule: CompiledRule; trackerIds: TrackerId[] }]))
}

function registryOf(rows: queries.VersionRow[], rules: Map<ListVersionId, { rule: CompiledRule; trackerIds: TrackerId[] }>): Registry {
  const versions = rows.flatMap(({ id, list_id, is_live, is_scanned, built_to, live_at }): Version[] => {
    const known = rules.get(id)
    if (!known) return []
    const trackers = known.rule.trackers.map((tracker, index) => ({ id: known.trackerIds[index] as TrackerId, tracker }))
    const liveSinceMs = is_live && live_at ? live_at.getTime() : Number.POSITIVE_INFINITY
    const state = { isLive: is_live, liveSinceMs, isScanned: is_scanned, builtTo: built_to }
    return [{ id, listId: list_id, ...state, trackers, rule: known.rule, rank: 0 }]
  })
  rank(versions)
  const byMention = new Map<string, Version[]>()
  for (const version of versions) {
    for (const what of version.rule.mentions) byMention.set(what, [...(byMention.get(what) ?? []), version])
  }
  const live = rows.filter(({ is_live }) => is_live)
  return {
    versions,
    byId: new Map(versions.map((version) => [version.id, version])),
    mentioning: (what) => byMention.get(what) ?? [],
    liveVersionOf: new Map(live.map(({ id, list_id }) => [list_id, id])),
    listOf: new Map(rows.map(({ id, list_id }) => [id, list_id])),
  }
}

/** Lists that a rule asks for, or whose moves it counts. */
const mentionedLists = ({ mentions }: CompiledRule): ListId[] =>
  [...mentions].filter((what) => what.startsWith('list:')).map((what) => Number(what.slice('list:'.length)) as ListId)

const RANK_MAX = 50

/** Lists are refused when they would mention each other in a circle, so that this comes to rest; the bound is for what nobody foresaw. */
function rank(versions: Version[]): void {
  const ofList = Map.groupBy(versions, ({ listId }) => listId)
  for (let round = 0, moved = true; moved && round < RANK_MAX; round++) {
    moved = false
    for (const version of versions) {
      const mentioned = mentionedLists(version.rule).flatMap((id) => ofList.get(id) ?? [])
      const least = Math.max(-1, ...mentioned.map((other) => other.rank)) + 1
      if (least <= version.rank) continue
      version.rank = least
      moved = true
    }
  }
  versions.sort((a, b) => a.rank - b.rank)
}

/** The published graphs of a project, compiled once. */
import { LRUCache } from 'lru-cache'
import { ahead } from '../../../infra/postgres/ahead.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { own } from '../../../lib/own.ts'
import { stepsOfJourneys } from '../../positions/index.ts'
import { compileGraph, type Graph } from '../engine/graph.ts'
import type { Graphs } from '../engine/run.ts'
import * as queries from './queries.ts'

/** What a project has published. */
export type Published = Graphs & {
  /** The journeys whose timers are due when their time has come. */
  journeyIds: readonly JourneyId[]
  /** What any journey mentions: facts about other things concern none. */
  watches: ReadonlySet<string>
}

type Compiled = { graph: Graph; plan: queries.VersionPlan | null; size: number }

/** Characters of the graphs that are kept, as JSON. */
const CHARACTERS_MAX = 64_000_000
const VERSIONS_MAX = 100_000

/** Never outdated, because a published version never changes. */
const compiled = new LRUCache<string, Compiled>({ maxSize: CHARACTERS_MAX, sizeCalculation: ({ size }) => size })
const published = new LRUCache<number, { key: string; value: Published }>({
  maxSize: VERSIONS_MAX,
  sizeCalculation: ({ value }) => 1 + value.journeyIds.length,
})

const graphs = ahead(readGraphs)

/** The published graphs of a project as this transaction sees them; null if it has none. */
export const publishedGraphs = (ctx: ProjectCtx | InTx): Promise<Published | null> => graphs.read(ctx)

/** Begins to read the graphs in a transaction that holds the locks under which they are applied. */
export const publishedGraphsAhead = (ctx: InTx): Promise<unknown> => graphs.begin(ctx)

async function readGraphs(ctx: ProjectCtx | InTx): Promise<Published | null> {
  const rows = await queries.publishedVersions(ctx)
  if (rows.length === 0) return null
  const key = JSON.stringify(rows)
  const known = published.get(ctx.projectId)
  if (known?.key === key) return known.value
  const value = createPublished(rows, await compileAll(ctx, rows))
  published.set(ctx.projectId, { key, value })
  return value
}

const idOf = ({ journey_id, version }: Pick<queries.VersionRow, 'journey_id' | 'version'>) => `${journey_id} ${version}`

async function compileAll(ctx: ProjectCtx | InTx, rows: queries.VersionRow[]): Promise<Map<string, Compiled>> {
  const found = new Map<string, Compiled>()
  for (const row of rows) {
    const known = compiled.get(idOf(row))
    if (known) found.set(idOf(row), known)
  }
  const unknown = rows.filter((row) => !found.has(idOf(row)))
  if (unknown.length === 0) return found
  const ids = Map.groupBy(await stepsOfJourneys(ctx, [...new Set(unknown.map(({ journey_id }) => journey_id))]), (row) => row.journey_id)
  for (const { journey_id: journeyId, version, steps, settings, plan } of await queries.graphsOf(ctx, unknown)) {
    const register = new Map((ids.get(journeyId) ?? []).map(({ external_id, id }) => [external_id, id]))
    const entry = {
      graph: compileGraph({ journeyId, version, steps, settings, ids: register }),
      plan,
      size: JSON.stringify(steps).length + 1,
    }
    compiled.set(idOf({ journey_id: journeyId, version }), entry)
    found.set(idOf({ journey_id: journeyId, version }), entry)
  }
  return found
}

function createPublished(rows: queries.VersionRow[], graphs: ReadonlyMap<string, Compiled>): Published {
  const held = new Set(rows.filter(({ is_held }) => is_held).map(({ journey_id }) => journey_id))
  const watches = new Set<string>()
  for (const { graph } of graphs.values()) for (const what of graph.watches) watches.add(what)
  return {
    live: rows.flatMap((row) => (row.is_live ? (graphs.get(idOf(row))?.graph ?? []) : [])),
    off: rows.flatMap((row) => {
      const graph = row.off_since === null ? undefined : graphs.get(idOf(row))?.graph
      return graph && row.off_since !== null ? [{ graph, since: row.off_since }] : []
    }),
    isHeld: (id) => held.has(id),
    version: (journey_id, version) => graphs.get(idOf({ journey_id, version }))?.graph,
    planFor: (journey_id, version, step) => planOf(graphs.get(idOf({ journey_id, version }))?.plan, step),
    journeyIds: [...new Set(rows.map(({ journey_id }) => journey_id))].filter((id) => !held.has(id)),
    watches,
  }
}

function planOf(plan: queries.VersionPlan | null | undefined, step: string): 'stay' | 'exit' | { move: string } {
  const planned = own(plan?.steps ?? {}, step) ?? plan?.default ?? 'stay'
  if (planned === 'exit') return 'exit'
  if (planned === 'move') return { move: step }
  const move = typeof planned === 'object' && planned !== null && 'move' in planned ? planned.move : undefined
  return typeof move === 'string' ? { move } : 'stay'
}

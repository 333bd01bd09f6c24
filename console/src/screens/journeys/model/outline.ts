/** The graph as a tree of rows. Pure. Steps follow each other on one level; what several ways lead to is on the level below. */
import { type Graph, isRoot, type Kinds, type Place, type Step, shownPaths, targetOf, unreached } from './graph.ts'

export type Row = {
  id: string
  level: number
  /** The way that leads to the row. */
  at?: Place
  /** Whether the path is named, because the step has several. */
  isBranch: boolean
} & (
  | { is: 'step'; key: string }
  /** The way leads to a step that has a row of its own. */
  | { is: 'jump'; key: string }
  /** The way leads nowhere. */
  | { is: 'end' }
)

type Given = { graph: Graph; kinds: Kinds; rows: Row[]; seen: Set<string> }

/** The rows of a graph: each step once, and each way that is shown. */
export function outlineOf(graph: Graph, kinds: Kinds): Row[] {
  const given: Given = { graph, kinds, rows: [], seen: new Set() }
  const roots = Object.keys(graph).filter((key) => isRoot(graph[key] as Step))
  for (const key of roots) walk(given, key, 1, undefined)
  for (const key of unreached(graph)) if (!given.seen.has(key)) walk(given, key, 1, undefined)
  return given.rows
}

/** The rows from a step up to `join`, at which the branches that it is in come together again. */
function walk(given: Given, first: string, level: number, join: string | undefined, at?: Place) {
  const { graph, rows, seen } = given
  let [key, way, isBranch] = [first as string | undefined, at, at !== undefined]
  while (key !== undefined) {
    const step = graph[key]
    if (step === undefined) return
    const row = { level, isBranch, ...(way && { at: way }) }
    if (seen.has(key) || (key === join && isBranch)) {
      rows.push({ ...row, is: 'jump', key, id: `${way?.from}:${way?.path}` })
      return
    }
    seen.add(key)
    rows.push({ ...row, is: 'step', key, id: key })
    const next = followed(given, key, step, level, join)
    ;[key, way, isBranch] = [next?.key, next?.at, false]
    if (key === join) return
  }
}

/** What stands after a step on its own level. The ways of a step with several are walked first, one level below. */
function followed(given: Given, key: string, step: Step, level: number, join: string | undefined) {
  const { graph, kinds, rows } = given
  const places = shownPaths(step, kinds).map((path) => ({ from: key, path }))
  const [only] = places
  if (places.length <= 1) {
    const to = only && targetOf(graph, only)
    if (only && to === undefined) rows.push({ is: 'end', level, isBranch: false, at: only, id: `${only.from}:${only.path}` })
    return only && to !== undefined ? { key: to, at: only } : undefined
  }
  const inner = joinOf(graph, places) ?? join
  for (const place of places) {
    const to = targetOf(graph, place)
    if (to === undefined) rows.push({ is: 'end', level: level + 1, isBranch: true, at: place, id: `${place.from}:${place.path}` })
    else walk(given, to, level + 1, inner, place)
  }
  return inner !== undefined && inner !== join ? { key: inner, at: undefined } : undefined
}

/** The first step to which all ways lead that lead somewhere. */
function joinOf(graph: Graph, places: Place[]): string | undefined {
  const targets = places.flatMap((place) => targetOf(graph, place) ?? [])
  const [first, ...others] = targets.map((key) => reachedFrom(graph, key))
  if (first === undefined || others.length === 0) return undefined
  return [...first].find((key) => others.every((reached) => reached.has(key)))
}

/** The steps that can be reached from one, itself first, then the nearest. */
function reachedFrom(graph: Graph, from: string): Set<string> {
  const found = new Set([from])
  for (const key of found) for (const { external_id } of graph[key]?.children ?? []) found.add(external_id)
  return found
}

/** The number of each step: its place in the outline. */
export const numbersOf = (rows: readonly Row[]): ReadonlyMap<string, number> =>
  new Map(rows.filter((row) => row.is === 'step').map(({ key }, index) => [key, index + 1]))

/** The ways that a step can be moved into with one key: before the row above, or after the row below. */
export function neighbours(
  graph: Graph,
  rows: readonly Row[],
  key: string,
  kinds: Kinds,
): { up?: Place | undefined; down?: Place | undefined } {
  if (graph[key] === undefined || isRoot(graph[key])) return {}
  const steps = rows.filter((row) => row.is === 'step')
  const index = steps.findIndex((row) => row.key === key)
  const [above, below] = [steps[index - 1], steps[index + 1]]
  const path = below && shownPaths(graph[below.key] as Step, kinds)[0]
  return {
    up: above && !isRoot(graph[above.key] as Step) ? above.at : undefined,
    down: below && path !== undefined && !isRoot(graph[below.key] as Step) ? { from: below.key, path } : undefined,
  }
}

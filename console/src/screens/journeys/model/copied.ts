/** Steps that are copied and inserted elsewhere, in this journey or another one. Pure. */
import { apply, type Command, type Graph, isRoot, type Kinds, keyFor, type Place, pathsOf, type Step, targetOf, waysOf } from './graph.ts'
import type { Row } from './outline.ts'
import { dropSecrets, hideSecrets } from './secrets.ts'

/** Copied steps as a browser keeps them. */
type Kept = { journey: number; steps: Graph }

/** What a browser keeps of copied steps of a journey: never a secret. */
export const keptOf = (journey: number, steps: Graph): string => JSON.stringify({ journey, steps: hideSecrets(steps) } satisfies Kept)

/**
 * The kept steps for a journey. Only the one that they are of has their secrets: elsewhere they lack the headers with secrets, and
 * `lacksSecrets` says whether they do.
 */
export function keptFor(journey: number, text: string): { steps: Graph; lacksSecrets: boolean } {
  const { journey: from, steps } = JSON.parse(text) as Kept
  const without = dropSecrets(steps)
  const lacksSecrets = from !== journey && JSON.stringify(without) !== JSON.stringify(steps)
  return { steps: lacksSecrets ? without : steps, lacksSecrets }
}

type Paste = Extract<Command, { do: 'paste' }>

/** The steps of these keys, in the order of the outline. Where steps between them are left out, the ways lead on. */
export function copyOf(graph: Graph, keys: ReadonlySet<string>, rows: readonly Row[]): Graph {
  const left = apply(graph, { do: 'remove-all', keys: Object.keys(graph).filter((key) => !keys.has(key)) })
  return Object.fromEntries(rows.flatMap((row) => (row.is === 'step' && keys.has(row.key) ? [[row.key, left[row.key] as Step]] : [])))
}

/**
 * The command that inserts copied steps under new keys. Those that begin something stand by themselves. The first of the others stands at
 * the place, and what followed there follows the last one. Undefined if they have no place: without `at`, or if nothing can follow them.
 */
export function pasteOf(graph: Graph, copied: Graph, kinds: Kinds, at: Place | undefined): Paste | undefined {
  const steps = renamed(graph, copied)
  const targets = new Set(waysOf(steps).map(({ to }) => to))
  const inner = Object.keys(steps).filter((key) => !isRoot(steps[key] as Step))
  const hasRoots = inner.length < Object.keys(steps).length
  const first = inner.find((key) => !targets.has(key)) ?? (hasRoots ? undefined : inner[0])
  if (first === undefined) return hasRoots ? { do: 'paste', steps } : undefined
  if (at === undefined) return undefined
  const into: Paste = { do: 'paste', steps, at, first }
  if (targetOf(graph, at) === undefined) return into
  const last = openWay(steps, first, kinds)
  return last && { ...into, last }
}

/** The first way of the last step after `first` that leads nowhere. */
function openWay(steps: Graph, first: string, kinds: Kinds): Place | undefined {
  const found = new Set([first])
  for (const key of found) for (const { external_id } of steps[key]?.children ?? []) found.add(external_id)
  const open = [...found].flatMap((from) => {
    const [path] = pathsOf(steps[from] as Step, kinds)
    return path === undefined || targetOf(steps, { from, path }) !== undefined ? [] : [{ from, path }]
  })
  return open.at(-1)
}

function renamed(graph: Graph, copied: Graph): Graph {
  const names = new Map<string, string>()
  let taken = graph
  for (const [key, step] of Object.entries(copied)) {
    const name = keyFor(taken, step.type)
    names.set(key, name)
    taken = { ...taken, [name]: step }
  }
  const nameOf = (key: string) => names.get(key) ?? key
  return Object.fromEntries(
    Object.entries(copied).map(([key, step]) => [
      nameOf(key),
      { ...step, children: step.children.map((child) => ({ ...child, external_id: nameOf(child.external_id) })) },
    ]),
  )
}

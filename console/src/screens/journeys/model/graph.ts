/** The graph of a journey as the editor changes it. Pure: canvas and outline show the same graph, and change it by the same commands. */

type Child = { external_id: string; path?: string }
export type Step = { type: string; name: string; x: number; y: number; data: Record<string, unknown>; children: Child[] }

/** The steps by key. */
export type Graph = Readonly<Record<string, Step>>

/** A way out of a step. */
export type Place = { from: string; path: string }

/** A way between two steps. */
export type Way = Place & { to: string }

/** The path of a child that names none. */
export const DEFAULT_PATH = 'default'

/** What the server says of the kinds of step (`GET /journeys/meta`), as far as the graph depends on it. */
export type Kinds = Record<string, { paths: string[]; waits: boolean; named_paths?: NamedPaths }>

type NamedPaths = { member: string; others: string[]; none: string[] }

const STEP_HEIGHT = 100

/** How the editor changes a graph. */
export type Command =
  /** Adds a step, into a way if there is one: the step that the way led to follows on the first path of the new one. */
  | { do: 'insert'; key: string; type: string; data?: Record<string, unknown>; at?: Place; path?: string }
  /** The ways to the step lead to the one that followed it on its first path. */
  | { do: 'remove'; key: string }
  | { do: 'remove-all'; keys: string[] }
  /** Adds steps whose keys are not taken. `first` stands at the place, and what followed there follows on `last`. */
  | { do: 'paste'; steps: Graph; at?: Place; first?: string; last?: Place }
  /** Takes a step out of its place and inserts it into a way. */
  | { do: 'move'; key: string; to: Place; path: string }
  /** Leads a way to another step, or to none. */
  | { do: 'connect'; at: Place; to: string | null }
  | { do: 'rename'; key: string; name: string }
  /** Writes settings. A path that gets another name keeps its way; one that is gone loses it. */
  | { do: 'write'; key: string; data: Record<string, unknown> }

/** The graph after a command. One that does not fit the graph changes nothing. */
export function apply(graph: Graph, command: Command): Graph {
  switch (command.do) {
    case 'insert':
      return inserted(graph, command)
    case 'remove':
      return removed(graph, command.key)
    case 'remove-all':
      return command.keys.reduce(removed, graph)
    case 'paste':
      return pasted(graph, command)
    case 'move':
      return moved(graph, command)
    case 'connect':
      return connected(graph, command.at, command.to)
    case 'rename':
      return changed(graph, command.key, (step) => ({ ...step, name: command.name }))
    case 'write':
      return changed(graph, command.key, (step) => ({
        ...step,
        data: command.data,
        children: renamedChildren(step, command.data),
      }))
    default:
      return command satisfies never
  }
}

/** Every way, in the order of the steps. */
export const waysOf = (graph: Graph): Way[] =>
  Object.entries(graph).flatMap(([from, { children }]) => children.map(({ external_id: to, path = DEFAULT_PATH }) => ({ from, path, to })))

/** Where a way leads. */
export const targetOf = (graph: Graph, { from, path }: Place): string | undefined =>
  graph[from]?.children.find((child) => (child.path ?? DEFAULT_PATH) === path)?.external_id

/** The paths that settings name themselves: those of branches and conditions. */
export const namedPaths = (data: Record<string, unknown>): string[] =>
  Object.values(data).flatMap((value) =>
    Array.isArray(value) ? value.flatMap((item) => (typeof item?.path === 'string' ? [item.path as string] : [])) : [],
  )

/** The ways out of a step: those that its settings name, those of its kind, and any that it has besides. */
export function pathsOf({ type, data, children }: Step, kinds: Kinds): string[] {
  const { paths, named_paths } = kinds[type] ?? { paths: [] }
  const taken = children.map(({ path = DEFAULT_PATH }) => path)
  const own = named_paths === undefined ? paths : pathsBy(data, named_paths)
  return [...new Set([...own, ...taken])]
}

function pathsBy(data: Step['data'], { member, others, none }: NamedPaths): string[] {
  const named = namedPaths({ [member]: data[member] })
  return named.length > 0 ? [...named, ...others] : none
}

/** The visible paths: all of a step that decides; of other steps, those that lead somewhere, or the first. */
export function shownPaths(step: Step, kinds: Kinds): string[] {
  const paths = pathsOf(step, kinds)
  if (paths.includes(DEFAULT_PATH)) {
    const taken = step.children.map(({ path = DEFAULT_PATH }) => path)
    return paths.filter((path, at) => taken.includes(path) || (at === 0 && taken.length === 0))
  }
  return paths
}

/** The path that leads to the next step when a step of this kind is inserted before it. */
export const firstPath = (data: Record<string, unknown>, type: string, kinds: Kinds): string | undefined =>
  pathsOf({ type, name: '', x: 0, y: 0, data, children: [] }, kinds)[0]

/** A key for a new step: its type and a number that is not taken. */
export function keyFor(graph: Graph, type: string): string {
  let number = 1
  while (`${type}_${number}` in graph) number += 1
  return `${type}_${number}`
}

/** Whether an exit is checked wherever users are, so that no step leads to it. */
const isCriterion = ({ type, data }: Step) => type === 'exit' && data.when !== undefined

/** Whether a step begins something: no other step leads to it. */
export const isRoot = (step: Step): boolean => step.type === 'entrance' || isCriterion(step)

/**
 * The steps to which a way may lead: not a step that begins something, not the step itself, and none that would close a loop without a
 * wait. The server refuses the others.
 */
export function targetsFor(graph: Graph, from: string, kinds: Kinds): string[] {
  const before = withoutWait(graph, from, kinds)
  return Object.keys(graph).filter((key) => key !== from && !isRoot(graph[key] as Step) && !before.has(key))
}

/** The steps from which users come to a step without a wait on the way, that step included, unless it waits itself. */
function withoutWait(graph: Graph, key: string, kinds: Kinds): Set<string> {
  const waits = (step: string) => kinds[graph[step]?.type ?? '']?.waits ?? false
  const found = new Set<string>()
  const open = waits(key) ? [] : [key]
  const ways = waysOf(graph)
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (found.has(at)) continue
    found.add(at)
    for (const { from, to } of ways) if (to === at && !waits(from)) open.push(from)
  }
  return found
}

/** The steps that no entrance leads to. */
export function unreached(graph: Graph): string[] {
  const reached = new Set<string>()
  const open = Object.keys(graph).filter((key) => isRoot(graph[key] as Step))
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (reached.has(key)) continue
    reached.add(key)
    open.push(...(graph[key]?.children ?? []).map(({ external_id }) => external_id))
  }
  return Object.keys(graph).filter((key) => !reached.has(key))
}

const changed = (graph: Graph, key: string, change: (step: Step) => Step): Graph => {
  const step = graph[key]
  return step === undefined ? graph : { ...graph, [key]: change(step) }
}

function connected(graph: Graph, { from, path }: Place, to: string | null): Graph {
  if (to !== null && (!(to in graph) || to === from)) return graph
  return changed(graph, from, (step) => {
    const at = step.children.findIndex((child) => (child.path ?? DEFAULT_PATH) === path)
    if (to === null) return { ...step, children: step.children.filter((_, index) => index !== at) }
    const child = { external_id: to, path }
    return { ...step, children: at === -1 ? [...step.children, child] : step.children.with(at, child) }
  })
}

type Insert = Extract<Command, { do: 'insert' }>

function inserted(graph: Graph, { key, type, data = {}, at, path }: Insert): Graph {
  if (key in graph || (at !== undefined && !(at.from in graph))) return graph
  const next = at && targetOf(graph, at)
  const beside = at ? graph[at.from] : Object.values(graph).at(-1)
  const children = next !== undefined && path !== undefined ? [{ external_id: next, path }] : []
  const step = { type, name: '', x: beside?.x ?? 0, y: beside ? beside.y + STEP_HEIGHT : 0, data, children }
  return at ? connected({ ...graph, [key]: step }, at, key) : { ...graph, [key]: step }
}

function pasted(graph: Graph, { steps, at, first, last }: Extract<Command, { do: 'paste' }>): Graph {
  if (Object.keys(steps).some((key) => key in graph) || (at !== undefined && !(at.from in graph))) return graph
  const all = { ...graph, ...steps }
  if (at === undefined || first === undefined) return all
  const next = targetOf(graph, at)
  const placed = connected(all, at, first)
  return next === undefined || last === undefined ? placed : connected(placed, last, next)
}

function removed(graph: Graph, key: string): Graph {
  const step = graph[key]
  if (step === undefined) return graph
  const next = step.children.find(({ external_id }) => external_id !== key)?.external_id
  const { [key]: _, ...others } = graph
  return Object.fromEntries(Object.entries(others).map(([from, other]) => [from, { ...other, children: relinked(from, other, key, next) }]))
}

/** The children of a step when `key` is gone and `next` takes its place. A step does not lead to itself. */
const relinked = (from: string, { children }: Step, key: string, next: string | undefined): Child[] =>
  children.flatMap((child) => {
    if (child.external_id !== key) return [child]
    return next === undefined || next === from ? [] : [{ ...child, external_id: next }]
  })

function moved(graph: Graph, { key, to, path }: Extract<Command, { do: 'move' }>): Graph {
  const step = graph[key]
  if (step === undefined || to.from === key || targetOf(graph, to) === key || isRoot(step)) return graph
  const rest = removed(graph, key)
  const next = targetOf(rest, to)
  const first = step.children.find(({ external_id }) => external_id !== key)
  // Its other ways stay; the first one is where the step that it was moved before follows.
  const others = step.children.filter((child) => child !== first && child.external_id !== key)
  const follows = { external_id: next as string, path: first?.path ?? path }
  const children = next === undefined ? others : [follows, ...others]
  return connected({ ...rest, [key]: { ...step, children } }, to, key)
}

/** The children under the names that their paths have in new settings. */
function renamedChildren({ data, children }: Step, next: Record<string, unknown>): Child[] {
  const [before, after] = [namedPaths(data), namedPaths(next)]
  const isRenamed = before.length === after.length
  return children.flatMap((child) => {
    const at = before.indexOf(child.path ?? DEFAULT_PATH)
    if (at === -1 || after.includes(before[at] as string)) return [child]
    return isRenamed ? [{ ...child, path: after[at] as string }] : []
  })
}

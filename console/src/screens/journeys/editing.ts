import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type Autosave, ifVersion, useAutosave, versionOf } from '../../parts/autosave.ts'
import { keyOf, useRead } from '../../parts/data.ts'
import { isSame } from '../../parts/merge.ts'
import { useSession } from '../../session/index.ts'
import { copiesKey, keepInBrowser } from '../../session/keep.ts'
import { useApi, useMay, useProject } from '../../session/project.tsx'
import { copyOf, keptFor, keptOf, pasteOf } from './model/copied.ts'
import { type Command, firstPath, type Graph, keyFor, type Place, pathsOf, type Step, targetOf } from './model/graph.ts'
import { begin, give, type History, redo, undo } from './model/history.ts'
import { neighbours, numbersOf, outlineOf, type Row } from './model/outline.ts'
import { JOURNEY, type Journey, type Meta, STEPS, VERSIONS } from './search.ts'
import { useWords, type Words } from './steps/words.ts'

/** The graph that is edited, and everything by which canvas and outline show and change it. */
export type Editing = {
  meta: Meta
  graph: Graph
  rows: Row[]
  /** The number of each step in the outline. */
  numbers: ReadonlyMap<string, number>
  words: (step: Step) => Words
  paths: (step: Step) => string[]
  mayWrite: boolean
  /** The journey is live without ever having been published: its steps go live when they are saved, which a button does. */
  isBornLive: boolean
  /** Whether there is something to publish. */
  hasDraft: boolean
  autosave: Autosave<Graph>
  give: (command: Command) => void
  /** Adds a step of a kind into a way, or at the beginning. Returns its key. */
  add: (type: string, at: Place | undefined) => string
  move: (key: string, to: 'up' | 'down') => void
  /** Keeps copies of steps in this browser, to be pasted into a journey of the project. Returns whether there was room for them. */
  copy: (keys: ReadonlySet<string>) => boolean
  hasCopies: () => boolean
  /** Pastes the copied steps into a way, or at the beginning. Those of another journey come without their secrets. */
  paste: (at: Place | undefined) => Pasted
  /** Inserts copies of steps behind the last of them. */
  duplicate: (keys: ReadonlySet<string>) => boolean
  undo: (() => void) | undefined
  redo: (() => void) | undefined
}

type Pasted = 'pasted' | 'without-secrets' | 'no-place'

/** A step without what the server counts for it. */
const plain = ({ type, name, x, y, data, children }: Step): Step => ({ type, name, x, y, data, children })

/** The steps as they are edited and written. */
const graphOf = (steps: Readonly<Record<string, object>>): Graph =>
  Object.fromEntries(Object.entries(steps).map(([key, step]) => [key, plain(step as Step)]))

const storedOf = (steps: Readonly<Record<string, object>>) => ({ value: graphOf(steps), version: versionOf(steps) })

const isBornLive = ({ status, live_version }: Journey): boolean => status === 'live' && live_version === undefined

/** The draft of a journey, saved as it changes. */
function useDraft(journey: Journey, steps: Readonly<Record<string, object>>, isLocked: boolean): Autosave<Graph> {
  const { id } = journey
  const api = useApi()
  const project = useProject()
  const client = useQueryClient()
  const own = useRef(graphOf(steps))
  const reload = useCallback(async () => storedOf(await api.get(STEPS, { path: { journeyId: id } })), [api, id])
  const save = useCallback(
    async (graph: Graph, version: string | null) => {
      const saved = await api.put(STEPS, { path: { journeyId: id }, body: graph as never, headers: ifVersion(version) })
      own.current = graphOf(saved)
      client.setQueryData(keyOf(project.id, STEPS, { path: { journeyId: id } }), saved)
      void client.invalidateQueries({ queryKey: keyOf(project.id, VERSIONS) })
      void client.invalidateQueries({ queryKey: keyOf(project.id, JOURNEY) })
      return storedOf(saved)
    },
    [api, id, client, project.id],
  )
  const autosave = useAutosave({
    key: `${project.id}.journey.${id}`,
    stored: graphOf(steps),
    save,
    reload,
    isLocked,
    isByHand: isBornLive(journey),
  })
  const { readAgain } = autosave
  // Other steps than those that were saved here, such as of an earlier version that was published again.
  useEffect(() => {
    const now = graphOf(steps)
    if (isSame(now, own.current)) return
    own.current = now
    void readAgain()
  }, [steps, readAgain])
  return autosave
}

/** The way into which a new step is added after another step: the first way out of that step. */
export function afterStep({ graph, paths }: Pick<Editing, 'graph' | 'paths'>, key: string): Place | undefined {
  const step = graph[key]
  const path = step && (step.children[0]?.path ?? paths(step)[0])
  return path === undefined ? undefined : { from: key, path }
}

/** Settings that a new step begins with: those of the example where it has no ways out without them. */
function firstSettings(type: string, isRoot: boolean, meta: Meta): Record<string, unknown> {
  const kind = meta.steps[type]
  if (type === 'exit' && isRoot) return { when: [{}] }
  return kind && kind.paths.length > 0 && firstPath({}, type, meta.steps) === undefined ? kind.example : {}
}

/** Edits the draft of a journey. */
export function useEditing(journey: Journey, meta: Meta, steps: Readonly<Record<string, object>>, isLocked: boolean): Editing {
  const copies = copiesKey(useSession().member.id, useProject().id)
  const mayWrite = useMay(journey.status === 'draft' ? 'editor' : 'publisher') && !isLocked
  const autosave = useDraft(journey, steps, isLocked)
  const [history, setHistory] = useState(() => begin(autosave.draft))
  // What another member has changed meanwhile comes into the draft.
  if (autosave.draft !== history.now && JSON.stringify(autosave.draft) !== JSON.stringify(history.now)) setHistory(begin(autosave.draft))
  const words = useWords(meta)
  const { data: newest } = useRead(VERSIONS, { path: { journeyId: journey.id }, query: { limit: 1 } })
  const { now: graph } = history
  const rows = useMemo(() => outlineOf(graph, meta.steps), [graph, meta])
  const numbers = useMemo(() => numbersOf(rows), [rows])
  const to = (next: History) => {
    if (!mayWrite || next.now === graph) return
    setHistory(next)
    autosave.change(next.now)
  }
  const command = (given: Command) => to(give(history, given))
  const paths = (step: Step) => pathsOf(step, meta.steps)
  const insert = (copied: Graph, at: Place | undefined) => {
    const pasted = pasteOf(graph, copied, meta.steps, at)
    if (pasted) command(pasted)
    return pasted !== undefined
  }
  return {
    meta,
    graph,
    rows,
    numbers,
    words,
    paths,
    mayWrite,
    isBornLive: isBornLive(journey),
    hasDraft: newest?.results[0]?.status === 'draft',
    autosave,
    give: command,
    add: (type, at) => {
      const key = keyFor(graph, type)
      const data = firstSettings(type, at === undefined, meta)
      const path = firstPath(data, type, meta.steps)
      command({ do: 'insert', key, type, data, ...(at && { at }), ...(path !== undefined && { path }) })
      return key
    },
    move: (key, direction) => {
      const place = neighbours(graph, rows, key, meta.steps)[direction]
      const step = graph[key]
      if (!place || !step) return
      const path = firstPath(step.data, step.type, meta.steps)
      if (path !== undefined || targetOf(graph, place) === undefined) command({ do: 'move', key, to: place, path: path ?? 'default' })
    },
    copy: (keys) => keepInBrowser(copies, keptOf(journey.id, copyOf(graph, keys, rows))),
    hasCopies: () => localStorage.getItem(copies) !== null,
    paste: (at) => {
      const text = localStorage.getItem(copies)
      if (text === null) return 'no-place'
      const { steps, lacksSecrets } = keptFor(journey.id, text)
      if (!insert(steps, at)) return 'no-place'
      return lacksSecrets ? 'without-secrets' : 'pasted'
    },
    duplicate: (keys) => {
      const copied = copyOf(graph, keys, rows)
      const last = Object.keys(copied).at(-1)
      return insert(copied, last === undefined ? undefined : afterStep({ graph, paths }, last))
    },
    undo: mayWrite && history.at > 0 ? () => to(undo(history)) : undefined,
    redo: mayWrite && history.at < history.commands.length ? () => to(redo(history)) : undefined,
  }
}

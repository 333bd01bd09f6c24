/**
 * One connection to the stream of a project for all that the page watches. It is open while something is watched and the page is seen,
 * because a browser opens few connections to a server. While it is not, screens read again by themselves.
 */
import { eventsIn, type LiveEvent } from './events.ts'

const RETRY_FIRST_MS = 1000
const RETRY_MAX_MS = 30_000
/** Screens begin and end together, so that their topics are changed together. */
const GATHERED_MS = 20
/** The server sends a heartbeat every 20 seconds. If two are missing, the connection is lost, although it is not closed. */
export const SILENCE_MS = 45_000
/** As many as the server takes. Further topics are read again by the screens. */
const TOPICS_MAX = 20

type OnState = (state: unknown) => void

export type Outside = {
  /** Opens the stream of these topics. Rejects without a connection. */
  open(topics: string[], signal: AbortSignal): Promise<{ status: number; text: AsyncIterable<string> }>
  wait(ms: number, signal: AbortSignal): Promise<void>
  isSeen(): boolean
}

export type Connection = {
  /** Calls back with the state of a topic now and whenever it has changed, until the returned function is called. */
  watch(topic: string, onState: OnState): () => void
  /** Whether changes of the topic arrive. */
  isLive(topic: string): boolean
  /** Calls back when topics became live or are no longer. */
  onChange(listener: () => void): () => void
  /** To be called when the page is seen, or no longer. */
  refresh(): void
  /** Opens again, also where it was refused: to be called when the member has signed in again. */
  reopen(): void
}

/** Creates a connection. It opens with the first topic. */
export function createConnection(outside: Outside): Connection {
  const watchers = new Map<string, Set<OnState>>()
  const states = new Map<string, unknown>()
  const listeners = new Set<() => void>()
  let live: ReadonlySet<string> = new Set()
  let wanted = ''
  let running = new AbortController()

  const become = (topics: string[]) => {
    live = new Set(topics)
    for (const listener of listeners) listener()
  }
  const topicsNow = () => (outside.isSeen() ? [...watchers.keys()].toSorted().slice(0, TOPICS_MAX) : [])

  const give = ({ event, data }: LiveEvent) => {
    const { topic, state } = data as { topic?: string; state?: unknown }
    if (event === 'expired' || topic === undefined) return
    states.set(topic, state)
    for (const onState of watchers.get(topic) ?? []) onState(state)
  }

  async function keepOpen(topics: string[], signal: AbortSignal): Promise<void> {
    await outside.wait(GATHERED_MS, signal)
    for (let failures = 0; !signal.aborted; failures++) {
      const wasOpen = await readOnce(topics, signal).catch(() => false)
      if (signal.aborted) return
      become([])
      if (wasOpen === 'refused') return
      if (wasOpen) failures = 0
      await outside.wait(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** failures), signal)
    }
  }

  async function readOnce(topics: string[], signal: AbortSignal): Promise<boolean | 'refused'> {
    const lost = new AbortController()
    const { status, text } = await outside.open(topics, AbortSignal.any([signal, lost.signal]))
    if (status >= 400 && status < 500 && status !== 429) return 'refused'
    if (status !== 200) return false
    become(topics)
    for await (const event of eventsOf(outside, text)) if (!signal.aborted) give(event)
    lost.abort()
    return true
  }

  const refresh = () => {
    const topics = topicsNow()
    if (topics.join() === wanted) return
    wanted = topics.join()
    running.abort()
    running = new AbortController()
    if (topics.length > 0) void keepOpen(topics, running.signal)
    else become([])
  }

  return {
    watch(topic, onState) {
      const known = watchers.get(topic) ?? new Set()
      watchers.set(topic, known.add(onState))
      if (states.has(topic)) onState(states.get(topic))
      refresh()
      return () => {
        known.delete(onState)
        if (known.size > 0 || watchers.get(topic) !== known) return
        watchers.delete(topic)
        states.delete(topic)
        refresh()
      }
    },
    isLive: (topic) => live.has(topic),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    refresh,
    reopen() {
      wanted = ''
      refresh()
    },
  }
}

/** The events of a stream, until it ends or nothing comes for too long. */
async function* eventsOf(outside: Outside, text: AsyncIterable<string>): AsyncGenerator<LiveEvent> {
  const parts = text[Symbol.asyncIterator]()
  for (let rest = ''; ; ) {
    const came = new AbortController()
    const silence = outside.wait(SILENCE_MS, came.signal).then(() => null)
    const part = await Promise.race([parts.next(), silence]).finally(() => came.abort())
    if (part === null || part.done) return
    const found = eventsIn(rest + part.value)
    rest = found.rest
    yield* found.events
  }
}

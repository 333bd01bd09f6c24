/**
 * What the streams of this process watch. For each project there is one look at a time, however many streams watch, and none while none does. A
 * state is sent when it has changed; a stream that is slow gets the latest state of each topic, so that nothing accumulates.
 */
import type { Db } from '../../../infra/postgres/db.ts'
import { asSystem, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import type { TopicKind } from './topics/topic.ts'

const LOOK_EVERY_MS = 1000
const RETRY_MAX_MS = 15_000

/** A topic: its kind and an object, or 0 for the project. */
export type Topic = { kind: string; id: number }

/** The state of a topic; null if its object does not exist. */
export type State = Topic & { state: object | null }

export type Watcher = Disposable & {
  /** The states that are new to this watcher, once there are some; none after this time, or when the signal aborts. */
  next(waitMs: number, signal: AbortSignal): Promise<State[]>
}

export type Hub = { watch(ctx: ProjectCtx, topics: Topic[]): Watcher }

type Listener = { topics: Map<string, Topic>; fresh: Map<string, State>; notified: AbortController }
type Project = { listeners: Set<Listener>; seen: Map<string, { json: string; state: State }>; alarm: AbortController; isLooking: boolean }

const keyOf = ({ kind, id }: Topic) => `${kind}:${id}`

/** Creates a hub for these kinds of topic. Each database has watchers of its own. */
export function createHub(kinds: Record<string, TopicKind>): Hub {
  const databases = new WeakMap<Db, Map<ProjectId, Project>>()

  return {
    watch(ctx, topics) {
      const projects = databases.get(ctx.db) ?? new Map<ProjectId, Project>()
      databases.set(ctx.db, projects)
      const project = projects.get(ctx.projectId) ?? {
        listeners: new Set(),
        seen: new Map(),
        alarm: new AbortController(),
        isLooking: false,
      }
      projects.set(ctx.projectId, project)
      const listener: Listener = {
        topics: new Map(topics.map((topic) => [keyOf(topic), topic])),
        fresh: new Map(),
        notified: new AbortController(),
      }
      for (const key of listener.topics.keys()) {
        const known = project.seen.get(key)
        if (known) listener.fresh.set(key, known.state)
      }
      project.listeners.add(listener)
      // What is not known yet is looked at now.
      if (listener.fresh.size < listener.topics.size) project.alarm.abort()
      if (!project.isLooking) void keepLooking(asSystem(ctx, ctx.projectId, ctx.project), project, () => projects.delete(ctx.projectId))
      return {
        next: (waitMs, signal) => nextOf(ctx, listener, waitMs, signal),
        [Symbol.dispose]() {
          project.listeners.delete(listener)
          if (project.listeners.size === 0) project.alarm.abort()
        },
      }
    },
  }

  async function keepLooking(ctx: ProjectCtx, project: Project, forget: () => void): Promise<void> {
    project.isLooking = true
    let failures = 0
    while (project.listeners.size > 0) {
      project.alarm = new AbortController()
      try {
        await look(ctx, project)
        failures = 0
      } catch (err) {
        failures++
        ctx.log.warn({ err, project_id: ctx.projectId }, 'what streams watch could not be read and will be retried')
      }
      await ctx.clock.sleep(Math.min(RETRY_MAX_MS, LOOK_EVERY_MS * 2 ** failures), project.alarm.signal)
    }
    forget()
  }

  async function look(ctx: ProjectCtx, project: Project): Promise<void> {
    const watched = new Map([...project.listeners].flatMap(({ topics }) => [...topics]))
    for (const key of project.seen.keys()) if (!watched.has(key)) project.seen.delete(key)
    const found = await Promise.all(
      [...Map.groupBy(watched.values(), ({ kind }) => kind)].map(async ([kind, topics]) => {
        const states = await (kinds[kind] as TopicKind).look(
          ctx,
          topics.map(({ id }) => id),
        )
        return topics.map((topic): State => ({ ...topic, state: states.get(topic.id) ?? null }))
      }),
    )
    for (const state of found.flat()) tell(project, state)
  }
}

function tell({ listeners, seen }: Project, state: State): void {
  const key = keyOf(state)
  const json = JSON.stringify(state.state)
  const isNew = seen.get(key)?.json !== json
  if (isNew) seen.set(key, { json, state })
  if (!isNew) return
  for (const { topics, fresh, notified } of listeners) {
    if (!topics.has(key)) continue
    fresh.set(key, state)
    notified.abort()
  }
}

async function nextOf({ clock }: ProjectCtx, listener: Listener, waitMs: number, signal: AbortSignal): Promise<State[]> {
  listener.notified = new AbortController()
  if (listener.fresh.size === 0) await clock.sleep(waitMs, AbortSignal.any([signal, listener.notified.signal]))
  const states = [...listener.fresh.values()]
  listener.fresh.clear()
  return states
}

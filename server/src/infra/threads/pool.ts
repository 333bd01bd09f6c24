/**
 * Worker threads for work whose cost the caller decides: templates, MJML, HTML, CSV. The event loop stays free whatever it costs. A thread
 * works for a short time; projects alternate, and small jobs of several share a message to the thread. An item that exceeds a limit costs
 * its thread, which is replaced.
 */
import { availableParallelism } from 'node:os'
import type { Clock } from '../../lib/clock.ts'
import { ApiError } from '../../lib/errors.ts'
import { createFairQueue } from '../../lib/fair-queue.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { type PackedBytes, shareBytes } from './packed.ts'
import type { PartReply, Task } from './task.ts'
import { type Limit, startThread, type Thread } from './thread.ts'

/**
 * What came of an item; `packed` has what it packed. `exceeded` completes a sentence. The items after several that exceeded a limit are
 * skipped.
 */
export type Outcome<O> = { value: O; packed?: PackedBytes } | { exceeded: string } | { skipped: true }

/** The project that a task runs for. */
type Client = { projectId: ProjectId; caller: { kind: string } }

export type Threads = AsyncDisposable & {
  /** Runs a task for each item. Rejects if a task throws, which is a bug. Throws 429. */
  map<S, I, O>(client: Client, task: Task<S, I, O>, shared: S, items: readonly I[]): Promise<Outcome<O>[]>
  /** Runs a task for one item. Throws 429. */
  run<I, O>(client: Client, task: Task<null, I, O>, item: I): Promise<Exclude<Outcome<O>, { skipped: true }>>
  /**
   * Starts the threads that have had no work yet, and on request has them load what is large; otherwise it is loaded when it is first used.
   * Waits first, because a start has more urgent work.
   */
  warmUp(loadsLarge: boolean): Promise<void>
}

export type ThreadsOptions = {
  /** The module that a thread runs. */
  entry: URL
  /** How many; 0 is one less than there are processors, and at least one. */
  count: number
  secretsKeys: readonly string[]
  metrics: ThreadMetrics
  /** The system’s, because it times threads. */
  clock: Clock
  /** The processor time of an item, for tests: a second. */
  itemMaxMs?: number
}

export type ThreadMetrics = {
  tasksWaiting(count: number): void
  taskWaited(elapsedMs: number): void
  taskDone(task: string, done: number, exceeded: number): void
  threadStopped(limit: Limit): void
}

const EXCEEDED: Record<Limit, string> = {
  time: 'it takes more than a second of processor time',
  memory: 'it needs more than 512 MB of memory',
}
/** Requests of a project that may wait. Jobs limit themselves. */
const WAITING_REQUESTS_MAX = 100
const ITEM_MAX_MS = 1000
const WARM_UP_AFTER_MS = 10_000
/** When so many items of a job have cost a thread each, the others are skipped. */
const STOPS_MAX = 3

type Job = {
  task: string
  shared: unknown
  items: readonly unknown[]
  /** By item; those without one are still to be done. */
  outcomes: (Outcome<unknown> | undefined)[]
  stops: number
  /** Its time was up before, or one of its items was stopped: it gets a thread for itself. */
  isLong: boolean
  queuedAt: number
  answer: PromiseWithResolvers<Outcome<unknown>[]>
}

/** A job that a thread works at, with the indexes of the items that it is to do. */
type Part = { key: ProjectId; job: Job; pending: number[] }

/** So many items are sent to a thread at a time, if they are of several jobs. */
const ORDER_ITEMS_MAX = 100

export const createThreads = (options: ThreadsOptions): Threads => new ThreadPool(options)

class ThreadPool implements Threads {
  readonly #options: ThreadsOptions
  readonly #max: number
  readonly #queue = createFairQueue<ProjectId, Job>()
  readonly #idle = new Set<Thread>()
  readonly #all = new Set<Thread>()
  #isWarm = false
  readonly #closed = new AbortController()

  constructor(options: ThreadsOptions) {
    this.#options = options
    this.#max = options.count > 0 ? options.count : Math.max(1, availableParallelism() - 1)
  }

  async map<S, I, O>({ projectId, caller }: Client, { name }: Task<S, I, O>, shared: S, items: readonly I[]): Promise<Outcome<O>[]> {
    if (this.#isClosed) throw closed()
    if (items.length === 0) return []
    if (caller.kind !== 'system' && this.#queue.waitingOf(projectId) >= WAITING_REQUESTS_MAX) throw tooMany()
    const answer = Promise.withResolvers<Outcome<unknown>[]>()
    this.#queue.push(projectId, { task: name, shared, items, outcomes: [], stops: 0, isLong: false, queuedAt: performance.now(), answer })
    this.#dispatch()
    return (await answer.promise) as Outcome<O>[]
  }

  async run<I, O>(client: Client, task: Task<null, I, O>, item: I): Promise<Exclude<Outcome<O>, { skipped: true }>> {
    const [outcome] = await this.map(client, task, null, [item])
    if (!outcome || 'skipped' in outcome) throw new Error('A single item is never skipped.')
    return outcome
  }

  async warmUp(loadsLarge: boolean): Promise<void> {
    await this.#options.clock.sleep(WARM_UP_AFTER_MS, this.#closed.signal)
    if (this.#isClosed) return
    this.#isWarm = true
    while (this.#all.size < this.#max) this.#idle.add(this.#start(loadsLarge))
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    for (let next = this.#queue.take(); next; next = this.#queue.take()) next.job.answer.reject(closed())
    await Promise.all([...this.#all].map((thread) => thread.stop()))
  }

  /** A thread that replaces another one does not warm up, because work may wait for it. */
  #start(warmsUp = false): Thread {
    const { entry, secretsKeys, clock, itemMaxMs = ITEM_MAX_MS } = this.#options
    const onEnd = (wasStopped: boolean) => {
      this.#all.delete(thread)
      this.#idle.delete(thread)
      // One that ended by itself may do so again: it is replaced when there is work.
      if (wasStopped && this.#isWarm && !this.#isClosed) this.#idle.add(this.#start())
      this.#dispatch()
    }
    const thread = startThread(entry, { secretsKeys, warmsUp }, { itemMaxMs, clock, onEnd })
    this.#all.add(thread)
    return thread
  }

  #dispatch(): void {
    while (!this.#isClosed && (this.#idle.size > 0 || this.#all.size < this.#max)) {
      const parts = this.#takeParts()
      if (parts.length === 0) break
      const [thread = this.#start()] = this.#idle
      this.#idle.delete(thread)
      void this.#serve(thread, parts)
    }
    this.#options.metrics.tasksWaiting(this.#queue.size)
  }

  /** The next jobs for a thread: its share of those that wait, if they are small. */
  #takeParts(): Part[] {
    const parts: Part[] = []
    let items = 0
    for (let share = Math.ceil(this.#queue.size / this.#max); share > 0; share--) {
      const next = this.#queue.take()
      if (!next) break
      const { key, job } = next
      if (job.isLong && parts.length > 0) {
        this.#queue.untake(key, job)
        break
      }
      const pending = job.items.flatMap((_, index) => (job.outcomes[index] ? [] : [index]))
      items += pending.length
      parts.push({ key, job, pending })
      if (job.isLong || items >= ORDER_ITEMS_MAX) break
    }
    return parts
  }

  async #serve(thread: Thread, parts: Part[]): Promise<void> {
    const { metrics } = this.#options
    const now = performance.now()
    for (const { job } of parts) metrics.taskWaited(now - job.queuedAt)
    try {
      const outcome = await thread.run(
        parts.map(({ job: { task, shared, items }, pending }) => ({ task, shared, items: pending.map((index) => items[index]) })),
      )
      if ('exceeded' in outcome) metrics.threadStopped(outcome.exceeded)
      const packed = 'parts' in outcome && outcome.packed ? shareBytes(outcome.packed, parts.length) : []
      let first = 0
      for (const [at, part] of parts.entries()) {
        if ('parts' in outcome) this.#record(part, packed[at], outcome.parts[at])
        else this.#recordStop(part, outcome.stoppedAt - first, outcome.exceeded)
        first += part.pending.length
      }
    } catch (error) {
      for (const { job } of parts) job.answer.reject(error)
    }
    if (this.#all.has(thread)) this.#idle.add(thread)
    for (const { key } of parts) this.#queue.done(key)
    this.#dispatch()
  }

  /** Records what was done of a part. The rest of it waits again. */
  #record({ key, job, pending }: Part, packed: PackedBytes | undefined, reply: PartReply = { results: [] }): void {
    if ('failed' in reply) {
      job.answer.reject(Object.assign(new Error(reply.failed.message), { stack: reply.failed.stack }))
      return
    }
    this.#options.metrics.taskDone(job.task, reply.results.length, 0)
    for (const [at, value] of reply.results.entries()) job.outcomes[pending[at] as number] = { value, ...(packed && { packed }) }
    // The first of several parts has used the time of those after it.
    job.isLong ||= reply.results.length > 0 && reply.results.length < pending.length
    this.#answer(key, job)
  }

  /** Records that the thread was stopped at an item, which may be one of another part. */
  #recordStop({ key, job, pending }: Part, stoppedAt: number, limit: Limit): void {
    const index = pending[stoppedAt]
    if (index !== undefined) {
      job.stops++
      job.isLong = true
      job.outcomes[index] = { exceeded: EXCEEDED[limit] }
      this.#options.metrics.taskDone(job.task, 0, 1)
    }
    this.#answer(key, job)
  }

  #answer(key: ProjectId, job: Job): void {
    if (isOver(job)) job.answer.resolve(job.items.map((_, index) => job.outcomes[index] ?? { skipped: true }))
    else this.#queue.push(key, { ...job, queuedAt: performance.now() })
  }
}

const closed = () => new Error('The worker threads are closed.')

function isOver({ items, outcomes, stops }: Job): boolean {
  return stops >= STOPS_MAX || items.every((_, index) => outcomes[index])
}

const tooMany = () =>
  new ApiError('rate_limited', 'Too many templates and files of this project are being processed. Retry after 1 second.', {
    headers: { 'retry-after': '1' },
  })

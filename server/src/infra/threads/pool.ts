/**
 * Worker threads for work whose cost the caller decides: templates, MJML, HTML, CSV. The event loop stays free whatever it costs. A thread
 * works for one project at a time and for a short time; projects alternate. An item that exceeds a limit costs its thread, which is replaced.
 */
import { availableParallelism } from 'node:os'
import type { Clock } from '../../lib/clock.ts'
import { ApiError } from '../../lib/errors.ts'
import { createFairQueue } from '../../lib/fair-queue.ts'
import type { ProjectId } from '../../lib/ids.ts'
import type { Task } from './task.ts'
import { type Limit, type OrderOutcome, startThread, type Thread } from './thread.ts'

/** What came of an item. `exceeded` completes a sentence. The items after several that exceeded a limit are skipped. */
export type Outcome<O> = { value: O } | { exceeded: string } | { skipped: true }

/** The project that a task runs for. */
type Client = { projectId: ProjectId; caller: { kind: string } }

export type Threads = AsyncDisposable & {
  /** Runs a task for each item. Rejects if a task throws, which is a bug. Throws 429. */
  map<S, I, O>(client: Client, task: Task<S, I, O>, shared: S, items: readonly I[]): Promise<Outcome<O>[]>
  /** Runs a task for one item. Throws 429. */
  run<I, O>(client: Client, task: Task<null, I, O>, item: I): Promise<Exclude<Outcome<O>, { skipped: true }>>
  /** Starts the threads that have had no work yet, and has them load what is large. Waits first, because a start has more urgent work. */
  warmUp(): Promise<void>
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
  queuedAt: number
  answer: PromiseWithResolvers<Outcome<unknown>[]>
}

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
    this.#queue.push(projectId, { task: name, shared, items, outcomes: [], stops: 0, queuedAt: performance.now(), answer })
    this.#dispatch()
    return (await answer.promise) as Outcome<O>[]
  }

  async run<I, O>(client: Client, task: Task<null, I, O>, item: I): Promise<Exclude<Outcome<O>, { skipped: true }>> {
    const [outcome] = await this.map(client, task, null, [item])
    if (!outcome || 'skipped' in outcome) throw new Error('A single item is never skipped.')
    return outcome
  }

  async warmUp(): Promise<void> {
    await this.#options.clock.sleep(WARM_UP_AFTER_MS, this.#closed.signal)
    if (this.#isClosed) return
    this.#isWarm = true
    while (this.#all.size < this.#max) this.#idle.add(this.#start(true))
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
    const { entry, secretsKeys, clock } = this.#options
    const thread = startThread(entry, { secretsKeys, warmsUp }, clock, (wasStopped) => {
      this.#all.delete(thread)
      this.#idle.delete(thread)
      // One that ended by itself may do so again: it is replaced when there is work.
      if (wasStopped && this.#isWarm && !this.#isClosed) this.#idle.add(this.#start())
      this.#dispatch()
    })
    this.#all.add(thread)
    return thread
  }

  #dispatch(): void {
    while (!this.#isClosed && (this.#idle.size > 0 || this.#all.size < this.#max)) {
      const next = this.#queue.take()
      if (!next) break
      const [thread = this.#start()] = this.#idle
      this.#idle.delete(thread)
      void this.#serve(thread, next.key, next.job)
    }
    this.#options.metrics.tasksWaiting(this.#queue.size)
  }

  async #serve(thread: Thread, key: ProjectId, job: Job): Promise<void> {
    const pending = job.items.flatMap((_, index) => (job.outcomes[index] ? [] : [index]))
    const { metrics } = this.#options
    metrics.taskWaited(performance.now() - job.queuedAt)
    try {
      const outcome = await thread.run({ task: job.task, shared: job.shared, items: pending.map((index) => job.items[index]) })
      if ('exceeded' in outcome) metrics.threadStopped(outcome.exceeded)
      metrics.taskDone(job.task, 'results' in outcome ? outcome.results.length : 0, 'exceeded' in outcome ? 1 : 0)
      record(job, pending, outcome)
      if (isOver(job)) job.answer.resolve(job.items.map((_, index) => job.outcomes[index] ?? { skipped: true }))
      else this.#queue.push(key, { ...job, queuedAt: performance.now() })
    } catch (error) {
      job.answer.reject(error)
    }
    if (this.#all.has(thread)) this.#idle.add(thread)
    this.#queue.done(key)
    this.#dispatch()
  }
}

const closed = () => new Error('The worker threads are closed.')

/** `indexes` are those of the items of the order, in the job. */
function record(job: Job, indexes: number[], outcome: OrderOutcome): void {
  if ('results' in outcome) {
    for (const [at, value] of outcome.results.entries()) job.outcomes[indexes[at] as number] = { value }
    return
  }
  job.stops++
  job.outcomes[indexes[outcome.stoppedAt] as number] = { exceeded: EXCEEDED[outcome.exceeded] }
}

function isOver({ items, outcomes, stops }: Job): boolean {
  return stops >= STOPS_MAX || items.every((_, index) => outcomes[index])
}

const tooMany = () =>
  new ApiError('rate_limited', 'Too many templates and files of this project are being read. Retry after 1 second.', {
    headers: { 'retry-after': '1' },
  })

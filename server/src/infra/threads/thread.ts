/** A worker thread as its pool sees it. It is stopped when one item takes too much of its processor time. */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'
import { NO_ITEM, type Order, type Reply, STATE, type ThreadData } from './task.ts'

const WATCH_MS = 50
/** A thread that does not even say how much time it used is inside one long call, such as a regular expression or a sort. */
const SILENCE_MAX_MS = 10_000
const MEMORY_MAX_BYTES = 512 * 1024 ** 2
/** The engine’s own limit ends the process now and then instead of the thread, so that it is far above ours. */
const HEAP_MAX_MB = 2048
/** A larger one makes an idle thread larger, and rendering no faster. */
const YOUNG_HEAP_MAX_MB = 16

export type ThreadOptions = {
  /** The processor time of an item. */
  itemMaxMs: number
  clock: Clock
  /** Called when the thread ends, whether for a limit or by itself. */
  onEnd(wasStopped: boolean): void
}

/** Which limit an item exceeded. */
export type Limit = 'time' | 'memory'

/** What came of an order: what was done of its parts, or the item at which the thread was stopped, counted over all parts. */
export type OrderOutcome = Reply | { stoppedAt: number; exceeded: Limit }

export type Thread = {
  /** Does an order. Only one at a time. Rejects if the thread ends by itself. */
  run(order: Order): Promise<OrderOutcome>
  /** Ends it. An order that it is doing is rejected. */
  stop(): Promise<void>
}

/** Starts a thread. */
export const startThread = (entry: URL, data: Omit<ThreadData, 'state'>, options: ThreadOptions): Thread =>
  new WorkerThread(entry, data, options)

class WorkerThread implements Thread {
  readonly #worker: Worker
  readonly #clock: Clock
  readonly #itemMaxUs: number
  readonly #progress: Float64Array
  #order: PromiseWithResolvers<OrderOutcome> | null = null
  #isWatched = false
  #exceeded: Limit | null = null
  #crash = new Error('A worker thread ended.')

  constructor(entry: URL, data: Omit<ThreadData, 'state'>, { itemMaxMs, clock, onEnd }: ThreadOptions) {
    const state = new SharedArrayBuffer(STATE.length * Float64Array.BYTES_PER_ELEMENT)
    this.#clock = clock
    this.#itemMaxUs = itemMaxMs * 1000
    this.#progress = new Float64Array(state).fill(NO_ITEM)
    this.#worker = new Worker(entry, {
      workerData: { ...data, state } satisfies ThreadData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MAX_MB },
    })
    // Only an order keeps the process running.
    this.#worker.unref()
    this.#worker.on('message', (reply: Reply) => this.#finish(reply))
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#exceeded ??= 'memory'
      else this.#crash = error
    })
    this.#worker.on('exit', () => {
      const stoppedAt = Math.max(0, this.#progress[STATE.item] ?? 0)
      this.#finish(this.#exceeded ? { stoppedAt, exceeded: this.#exceeded } : this.#crash)
      onEnd(this.#exceeded !== null)
    })
  }

  run(order: Order): Promise<OrderOutcome> {
    this.#order = Promise.withResolvers<OrderOutcome>()
    this.#worker.ref()
    this.#worker.postMessage(order)
    void this.#watch()
    return this.#order.promise
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }

  #finish(outcome: OrderOutcome | Error): void {
    const order = this.#order
    this.#order = null
    this.#worker.unref()
    if (outcome instanceof Error) order?.reject(outcome)
    else order?.resolve(outcome)
  }

  async #watch(): Promise<void> {
    if (this.#isWatched) return
    this.#isWatched = true
    let exceeded: Limit | null = null
    while (this.#order && exceeded === null) {
      await this.#clock.sleep(WATCH_MS)
      exceeded = await this.#limitExceeded()
    }
    this.#isWatched = false
    if (!this.#order) return
    this.#exceeded = exceeded
    await this.#worker.terminate()
  }

  /** Its own processor time counts, so that what else the machine does changes nothing. */
  async #limitExceeded(): Promise<Limit | null> {
    const item = this.#progress[STATE.item]
    if (item === NO_ITEM) return null
    const answered = new AbortController()
    const used = await Promise.race([this.#usage(), this.#clock.sleep(SILENCE_MAX_MS, answered.signal)])
    answered.abort('answered')
    if (item !== this.#progress[STATE.item]) return null
    if (used === undefined) return 'time'
    if (used === null) return null
    if (used.bytes > MEMORY_MAX_BYTES) return 'memory'
    return used.cpuUs - (this.#progress[STATE.cpuAtStart] ?? 0) > this.#itemMaxUs ? 'time' : null
  }

  /** Null while the thread starts or ends. */
  async #usage(): Promise<{ cpuUs: number; bytes: number } | null> {
    try {
      const [{ user, system }, heap] = await Promise.all([this.#worker.cpuUsage(), this.#worker.getHeapStatistics()])
      return { cpuUs: user + system, bytes: heap.used_heap_size + heap.external_memory }
    } catch {
      return null
    }
  }
}

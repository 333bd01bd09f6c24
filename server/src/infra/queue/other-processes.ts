/**
 * Wake-ups between the processes on one database, by NOTIFY. NOTIFY takes a lock of the whole database server when it commits, so few are
 * sent: many wake-ups share one, a process that does the work itself sends none, and neither does one that is alone.
 */
import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { Instant } from '../../lib/shapes.ts'
import { sql } from '../postgres/db.ts'
import { openListener } from '../postgres/listener.ts'
import type { Ctx, JobName } from '../runtime/ctx.ts'
import type { Jobs } from './jobs.ts'

const CHANNEL = 'carillon_jobs'
/** The names of the listening connections begin with this. */
const LISTENING = 'carillon listen'
/** Those of processes with jobs begin with this. */
const WORKING = `${LISTENING} jobs`
/** A process without jobs of its own sends at most one notification in this time. */
const SEND_EVERY_MS = 20
/** A process with jobs asks others for help with a job that is still busy after this time. */
const HELP_AFTER_MS = 100
/** For this long a process that found no other one sends nothing. One that starts meanwhile says so. */
const ALONE_FOR_MS = 10_000
const ECHO_TIMEOUT_MS = 5000
/** How often jobs look for work while no notifications arrive. */
const POLL_UNHEARD_MS = 1000

type Infra = Pick<Ctx, 'db' | 'clock' | 'log' | 'config'>

export type OtherProcesses = AsyncDisposable & {
  /** Wakes a job in other processes, if it would wait in this one. Returns at once; the notification follows within milliseconds. */
  wake(job: JobName): void
  /** How long jobs that wait to be woken sleep at most. */
  pollMs(): number
}

/**
 * Connects this process to others. `url` is a direct connection to the database; `jobs` are those of this process, once they run. `isWorker`
 * says whether it has some.
 */
export function openOtherProcesses(ctx: Infra, url: string, jobs: () => Jobs | null, isWorker: boolean): OtherProcesses {
  const { db, clock, log, config } = ctx
  const id = randomUUID()
  const name = `${isWorker ? WORKING : LISTENING} ${id}`
  const stop = new AbortController()
  let echo = Promise.withResolvers<void>()
  const listener = openListener({
    clock,
    url,
    name,
    channel: CHANNEL,
    onMessage(text) {
      const [from, ...woken] = text.split(' ')
      if (from === id) return echo.resolve()
      notifier.meet()
      for (const name of woken) jobs()?.wake({ name })
    },
    async onConnected() {
      echo = Promise.withResolvers()
      // Tells the others that this process is there, and shows that notifications arrive.
      await db.run(sql`select pg_notify(${CHANNEL}, ${id})`)
      await Promise.race([echo.promise, noEcho()])
      jobs()?.wakeAll()
    },
    // Those that sleep until the next wake-up look for work more often now.
    onLost: () => jobs()?.wakeAll(),
    onFailure: (err) => log.warn({ err }, 'no notifications from the database; jobs look for work every second until they arrive'),
  })
  const notifier = createNotifier(ctx, { id, name }, jobs, listener.isConnected)

  async function noEcho(): Promise<void> {
    await clock.sleep(ECHO_TIMEOUT_MS, stop.signal)
    if (!stop.signal.aborted)
      throw new Error('A notification was sent but did not arrive. DATABASE_DIRECT_URL must be a direct connection.')
  }

  return {
    wake: ({ name }) => notifier.add(name),
    pollMs: () => Math.min(config.JOB_POLL_S * 1000, listener.isConnected() ? Number.POSITIVE_INFINITY : POLL_UNHEARD_MS),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await notifier[Symbol.asyncDispose]()
      await listener[Symbol.asyncDispose]()
    },
  }
}

const ProcessRow = Type.Object({ connected_at: Instant })

/** Since when each process on the database listens for notifications, the longest first. */
export const connectedProcesses = ({ db }: Pick<Ctx, 'db'>) =>
  db.many(
    ProcessRow,
    sql`select backend_start as connected_at from pg_stat_activity
        where datname = current_database() and application_name like ${`${LISTENING} %`} and backend_start is not null
        order by 1`,
  )

const Workers = Type.Integer()

/** How many processes on the database have jobs. One whose listening connection is lost is not counted. */
export const countWorkers = ({ db }: Pick<Ctx, 'db'>): Promise<number> =>
  db.value(
    Workers,
    sql`select count(*) from pg_stat_activity where datname = current_database() and application_name like ${`${WORKING} %`}`,
  )

type Notifier = AsyncDisposable & {
  /** Adds a job to the next notification. */
  add(name: string): void
  /** There is another process. */
  meet(): void
}

/** Sends the notifications of this process, one after the other. */
function createNotifier(
  { db, clock, log }: Infra,
  { id, name }: { id: string; name: string },
  jobs: () => Jobs | null,
  canHear: () => boolean,
): Notifier {
  const stop = new AbortController()
  const waiting = new Set<string>()
  let aloneAtMs = Number.NEGATIVE_INFINITY
  let sentAtMs = 0
  let sending: Promise<void> | null = null

  /** After a clock that was set back it looks again. */
  const isAlone = (nowMs: number) => nowMs >= aloneAtMs && nowMs < aloneAtMs + ALONE_FOR_MS

  // Nor does a wait become longer by such a clock.
  async function sendAll(): Promise<void> {
    while (waiting.size > 0) {
      const waitMs = jobs() ? HELP_AFTER_MS : Math.min(SEND_EVERY_MS, sentAtMs + SEND_EVERY_MS - clock.now().getTime())
      if (waitMs > 0) await clock.sleep(waitMs, stop.signal)
      await send()
    }
    sending = null
  }

  async function send(): Promise<void> {
    const own = jobs()
    const names = [...waiting].filter((name) => !own || own.isBusy({ name }))
    waiting.clear()
    const nowMs = clock.now().getTime()
    if (names.length === 0 || (canHear() && isAlone(nowMs))) return
    sentAtMs = nowMs
    try {
      const heard = await db.run(
        sql`select pg_notify(${CHANNEL}, ${[id, ...names].join(' ')}) from pg_stat_activity
            where datname = current_database() and application_name like ${`${LISTENING} %`} and application_name <> ${name}
            limit 1`,
      )
      if (heard === 0) aloneAtMs = nowMs
    } catch (error) {
      log.warn({ err: error }, 'other processes could not be woken; they look for work by themselves')
    }
  }

  return {
    add(name) {
      waiting.add(name)
      sending ??= sendAll()
    },
    meet() {
      aloneAtMs = Number.NEGATIVE_INFINITY
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await sending
    },
  }
}

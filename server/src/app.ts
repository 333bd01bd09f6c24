/** The composition root: opens the parts of a process in order, and closes them in reverse order. */
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { apiDescription } from './api-description/index.ts'
import { authenticator } from './authenticator.ts'
import { bootstrap, type Credentials, ownerUrl, requireWritable, storedCredentials, storedOwnerUrl } from './bootstrap.ts'
import { consoleFiles, consolePage } from './console-site/files.ts'
import { consoleSite, previewPage } from './console-site/pages.ts'
import { docsPages } from './docs-site/docs.ts'
import { addBuiltFiles, addNoncePage } from './infra/http/built-files.ts'
import { addOperations, answersOf, type Operations } from './infra/http/operations.ts'
import { openOpsListener } from './infra/http/ops-listener.ts'
import type { RequestHeaders } from './infra/http/public-page.ts'
import { createHttpServer } from './infra/http/server.ts'
import { addStaticPages } from './infra/http/static-pages.ts'
import { loadOrCreateAuthority } from './infra/outgoing/dev-authority.ts'
import { storedPolicies } from './infra/outgoing/dns/stored-policies.ts'
import { openMail } from './infra/outgoing/mail.ts'
import { createSafeFetch } from './infra/outgoing/safe-fetch.ts'
import { createSmtpRelays } from './infra/outgoing/smtp-relays.ts'
import { connectionProblem } from './infra/postgres/connection-problem.ts'
import { type Database, openDatabase } from './infra/postgres/db.ts'
import { keepEmbeddedPostgres } from './infra/postgres/keep-embedded-postgres.ts'
import { migrate } from './infra/postgres/migrate.ts'
import { openReplica } from './infra/postgres/replica.ts'
import { type Jobs, startJobs } from './infra/queue/jobs.ts'
import { openAppender } from './infra/queue/log/open-appender.ts'
import { type OtherProcesses, openOtherProcesses } from './infra/queue/other-processes.ts'
import { systemClock } from './infra/runtime/clock.ts'
import type { Config } from './infra/runtime/config.ts'
import type { Ctx, JobName } from './infra/runtime/ctx.ts'
import { withDevelopmentSecrets } from './infra/runtime/development-secrets.ts'
import { createEventLoopLag } from './infra/runtime/event-loop-lag.ts'
import { createLog, type Log } from './infra/runtime/log.ts'
import { createMetrics } from './infra/runtime/metrics.ts'
import { openTracing } from './infra/runtime/open-tracing.ts'
import { createSecrets } from './infra/runtime/secrets.ts'
import { watchClock } from './infra/runtime/watch-clock.ts'
import { createThreads, type Threads } from './infra/threads/pool.ts'
import type { Clock } from './lib/clock.ts'
import { egressPolicy } from './lib/egress.ts'
import { VERSION } from './lib/versions.ts'
import { listenProblem } from './listen-problem.ts'
import { openMailListeners } from './mail-listeners.ts'
import { recordWrite } from './modules/audit/index.ts'
import { isForCustomDomain } from './modules/domains/index.ts'
import { requireEventMonths } from './modules/events/index.ts'
import { createInboxStreams, type InboxStreams } from './modules/inbox/index.ts'
import { storesMjml } from './modules/templates/index.ts'
import { openAcceptedLog } from './open-accepted-log.ts'
import { allPages, allRoutes, openApiLog, openEngagementBuffer } from './routes.ts'
import { allJobs, queueDepths } from './workers.ts'

export type Role = 'all' | 'api' | 'worker'

export type App = AsyncDisposable & {
  /** The URL of the API; absent for a worker. */
  url?: string
  /** The URL of the endpoints for operators; absent without OPS_PORT. */
  operationsUrl?: string
  /** Only on the first start. */
  credentials?: Credentials & { path: string; shown(): Promise<void> }
  /** The link that creates the owner of the console, in a file too; absent once there is one, and for a worker. */
  owner?: { url: string; path: string }
  databaseUrl: string
}

/** The user agent of webhook deliveries. The version is that of the delivery format, not of the release (D-WH-2). */
const WEBHOOK_USER_AGENT = 'Carillon-Webhooks/1.0'
const TASK_THREAD = new URL('./task-thread.ts', import.meta.url)
const API_CONNECTIONS = 20
/** More than the ten that batches of the queue can have at a time, because a batch may need another one for the rate of a balancer. */
const WORKER_CONNECTIONS = 12

/** Starts a process with this role. Resolves when it is ready. */
export async function startApp(given: Config, role: Role, clock: Clock = systemClock): Promise<App> {
  await using opening = new AsyncDisposableStack()
  // Before anything else, because another process that starts at the same time shows the credentials that it creates.
  const stored = storedCredentials(given.DATA_DIR)
  const unshown = await stored.unshown()
  const { ctx: withoutLog, url, started } = await openMigrated(given, clock, opening)
  const ctx = { ...withoutLog, ...(await openAcceptedLog(withoutLog.config, started, opening)) }
  const { config, log } = ctx
  void ctx.threads.warmUp(await storesMjml(ctx))
  const { db: workerDb } = role === 'api' ? ctx : { db: opening.use(openPool(ctx, url, 'worker', WORKER_CONNECTIONS)) }
  const operations: Operations = {
    ctx,
    queues: () => queueDepths(ctx),
    connections: () => connectionsOf([...new Set([ctx.db, workerDb]), ...(ctx.replica ? [ctx.replica] : [])]),
    lag: createEventLoopLag(),
  }
  const operationsUrl = await listenForOperators(operations, role, started, opening)
  const first = (await bootstrap(ctx, stored.write)) ?? unshown
  const credentials = first && { ...first, path: stored.path, shown: stored.markShown }
  await requireEventMonths(ctx)
  opening.use(watchClock(ctx))
  const others = opening.use(openOtherProcesses(ctx, directUrl(config, url), () => started.jobs, role !== 'api'))
  started.others = others
  if (role !== 'api') started.jobs = opening.use(startJobs({ ...ctx, db: workerDb }, allJobs(started.listening, ctx), others.pollMs))
  const listening = role === 'worker' ? null : await listen(ctx, started, operations, opening)
  const owner = listening && (await inviteOwner(ctx))
  log.info({ role, ...(operationsUrl && { operations: operationsUrl }) }, 'the process is ready')
  const closing = opening.move()
  return {
    ...(listening && { url: listening }),
    ...(operationsUrl && { operationsUrl }),
    ...(owner && { owner }),
    ...(credentials && { credentials }),
    databaseUrl: url,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** In production the link is in a file only, because standard output is a log that others can read. */
async function inviteOwner(ctx: Ctx): Promise<App['owner'] | null> {
  const stored = storedOwnerUrl(ctx.config.DATA_DIR)
  const url = await ownerUrl(ctx)
  if (url === null) {
    await stored.remove()
    return null
  }
  if (ctx.config.production) await stored.write(url)
  return { url, path: stored.path }
}

/** Values that are known only when all parts are running. */
type Started = { address: string; isServing: boolean; jobs: Jobs | null; others: OtherProcesses | null; listening: InboxStreams }

/** Opens OPS_PORT, if it is set: before the process is ready, and until its jobs have ended (D-OPS-1). */
async function listenForOperators(
  operations: Operations,
  role: Role,
  started: Started,
  opening: AsyncDisposableStack,
): Promise<string | undefined> {
  const { config, log } = operations.ctx
  const { OPS_HOST: host, OPS_PORT: port } = config
  if (port === undefined) return undefined
  const checks = () => ({
    ...(role !== 'worker' && { api: started.isServing ? 'ok' : 'stopped' }),
    ...(role !== 'api' && { jobs: started.jobs?.isRunning() ? 'ok' : 'stopped' }),
  })
  const answers = answersOf(operations, { isOpen: true, checks, isReady: () => Object.values(checks()).every((found) => found === 'ok') })
  const listener = await openOpsListener(answers, { host, port, log }).catch((error) => {
    throw listenProblem(error, { host, port, setting: 'OPS_PORT' })
  })
  return addressOf(host, opening.use(listener).port)
}

const connectionsOf = (pools: Pick<Database, 'connections'>[]) =>
  pools
    .map((pool) => pool.connections())
    .reduce((sum, pool) => ({ total: sum.total + pool.total, idle: sum.idle + pool.idle, waiting: sum.waiting + pool.waiting }))

/** Opens a context with a migrated database, for one command of the command line. */
export async function openForCommand(given: Config): Promise<AsyncDisposable & { ctx: Ctx }> {
  await using opening = new AsyncDisposableStack()
  const { ctx } = await openMigrated(given, systemClock, opening)
  const closing = opening.move()
  return { ctx, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

async function openMigrated(given: Config, clock: Clock, opening: AsyncDisposableStack) {
  await requireWritable(given.DATA_DIR)
  const config = await withDevelopmentSecrets(given)
  const log = createLog(config.LOG_LEVEL)
  const url = await database(config, log, opening)
  const direct = directUrl(config, url)
  await migrate(direct, log).catch((error) => {
    throw config.DATABASE_URL ? connectionProblem(error, direct) : error
  })
  const started: Started = {
    address: config.BASE_URL ?? addressOf(config.HOST, config.PORT),
    isServing: false,
    jobs: null,
    others: null,
    listening: createInboxStreams(),
  }
  return { ctx: await open(config, clock, log, url, started, opening), url, started }
}

async function database(config: Config, log: Log, opening: AsyncDisposableStack): Promise<string> {
  if (config.DATABASE_URL) return config.DATABASE_URL
  return opening.use(await keepEmbeddedPostgres({ dataDir: resolve(config.DATA_DIR), log }, systemClock)).url
}

/** Notifications and locks of sessions need connections without a pooler. */
const directUrl = ({ DATABASE_URL, DATABASE_DIRECT_URL }: Config, url: string): string => (DATABASE_URL && DATABASE_DIRECT_URL) || url

async function open(
  config: Config,
  clock: Clock,
  log: Log,
  url: string,
  started: Started,
  opening: AsyncDisposableStack,
): Promise<Ctx & { db: Database; threads: Threads }> {
  const metrics = createMetrics(VERSION)
  const ca = config.production ? [] : [(await loadOrCreateAuthority(resolve(config.DATA_DIR), systemClock.now())).cert]
  const fetch = opening.use(createSafeFetch({ policy: egressPolicy([...config.EGRESS_ALLOW_CIDRS]), ca, userAgent: WEBHOOK_USER_AGENT }))
  const db = opening.use(openPool({ config, log, metrics }, url, 'api', API_CONNECTIONS))
  const reads = config.DATABASE_READ_URL && openPool({ config, log, metrics }, config.DATABASE_READ_URL, 'reads', API_CONNECTIONS)
  const tracing = await openTracing(config)
  if (tracing) opening.use(tracing)
  return {
    db,
    ...(reads && { replica: opening.use(openReplica(reads, clock)) }),
    config,
    clock,
    log,
    metrics,
    ...(tracing && { tracing }),
    fetch,
    secrets: createSecrets(config.SECRETS_KEY),
    threads: opening.use(
      createThreads({ entry: TASK_THREAD, count: config.WORKER_THREADS, secretsKeys: config.SECRETS_KEY, metrics, clock: systemClock }),
    ),
    smtp: opening.use(createSmtpRelays({ policy: egressPolicy([...config.EGRESS_ALLOW_CIDRS]), ca })),
    mail: opening.use(
      openMail({
        config,
        clock,
        random: Math.random,
        ca,
        baseUrl: started.address,
        store: storedPolicies(db),
        onError: (error, problem) => log.warn({ err: error }, problem),
        isLoopbackOnly: config.NODE_ENV === 'test',
      }),
    ),
    baseUrl: () => started.address,
    wake: (job: JobName) => {
      started.jobs?.wake(job)
      started.others?.wake(job)
    },
  }
}

const openPool = (
  { config, log, metrics }: Pick<Ctx, 'config' | 'log' | 'metrics'>,
  url: string,
  name: string,
  connectionsMax: number,
): Database =>
  openDatabase({
    url,
    connectionsMax,
    name,
    onStatement: metrics.statement,
    plansEachTime: name === 'worker',
    isReplica: name === 'reads',
    clock: systemClock,
    pooled: directUrl(config, url) !== url,
    unnamed: !config.DATABASE_PREPARE,
    onIdleError: (error) => log.warn({ err: error }, 'an idle database connection was lost'),
  })

async function listen(
  ctx: Ctx & { db: Database },
  started: Started,
  operations: Operations,
  opening: AsyncDisposableStack,
): Promise<string> {
  const { config, baseUrl } = ctx
  const engagementBuffer = opening.use(openEngagementBuffer(ctx))
  const { put: logRequest } = opening.use(openApiLog(ctx))
  const routes = allRoutes({ appender: openAppender(ctx), listening: started.listening })
  const { lag } = operations
  const app = createHttpServer({ ctx, routes, lag, pages: allPages({ engagementBuffer }), authenticator, recordWrite, logRequest, baseUrl })
  const document = () => apiDescription({ routes, version: VERSION, baseUrl: baseUrl() })
  const isServed = async (headers: RequestHeaders) => !(await isForCustomDomain(ctx, headers))
  const consoleHtml = consolePage()
  addStaticPages(app, [...docsPages({ version: VERSION, document, baseUrl, hasConsole: consoleHtml !== null }), previewPage], isServed)
  addBuiltFiles(app, consoleFiles(), isServed)
  if (consoleHtml !== null) addNoncePage(app, consoleSite(consoleHtml), isServed)
  const draining = addOperations(app, operations)
  await app.listen({ host: config.HOST, port: config.PORT }).catch((error) => {
    throw listenProblem(error, { host: config.HOST, port: config.PORT, setting: 'PORT' })
  })
  started.isServing = true
  opening.defer(async () => {
    started.isServing = false
    draining()
    await app.close()
  })
  opening.use(await openMailListeners(ctx, authenticator.authenticate))
  const url = addressOf(config.HOST, (app.server.address() as AddressInfo).port)
  if (config.BASE_URL === undefined) started.address = url
  return url
}

/** The URL at which this machine reaches a server that listens there. */
function addressOf(host: string, port: number): string {
  const named = host.includes(':') ? `[${host}]` : host
  return `http://${named === '0.0.0.0' ? '127.0.0.1' : named}:${port}`
}

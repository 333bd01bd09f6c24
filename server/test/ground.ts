/**
 * The server of a world, with its connections and the database of this process. Starting one takes longer than most tests, so worlds reuse
 * them. Each test file begins with an empty database.
 */
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { expect, inject } from 'vitest'
import { authenticator } from '../src/authenticator.ts'
import { repliesOf } from '../src/infra/http/openapi/replies.ts'
import { addOperations } from '../src/infra/http/operations.ts'
import type { Route } from '../src/infra/http/route.ts'
import { createHttpServer } from '../src/infra/http/server.ts'
import { openLog } from '../src/infra/log/open-log.ts'
import { loadOrCreateAuthority } from '../src/infra/outgoing/dev-authority.ts'
import { storedPolicies } from '../src/infra/outgoing/dns/stored-policies.ts'
import { openMail } from '../src/infra/outgoing/mail.ts'
import { createSafeFetch, type SafeFetch, type SafeRequest } from '../src/infra/outgoing/safe-fetch.ts'
import { createSmtpRelays } from '../src/infra/outgoing/smtp-relays.ts'
import { type Database, openDatabase } from '../src/infra/postgres/db.ts'
import { openReplica } from '../src/infra/postgres/replica.ts'
import { openAppender } from '../src/infra/queue/log/open-appender.ts'
import { systemClock } from '../src/infra/runtime/clock.ts'
import { type Config, readConfig } from '../src/infra/runtime/config.ts'
import type { Ctx } from '../src/infra/runtime/ctx.ts'
import { createLog } from '../src/infra/runtime/log.ts'
import { createMetrics } from '../src/infra/runtime/metrics.ts'
import { openTracing } from '../src/infra/runtime/open-tracing.ts'
import { createSecrets } from '../src/infra/runtime/secrets.ts'
import { createThreads, type Threads } from '../src/infra/threads/pool.ts'
import type { Clock } from '../src/lib/clock.ts'
import { egressPolicy } from '../src/lib/egress.ts'
import { matches } from '../src/lib/validate.ts'
import { recordWrite } from '../src/modules/audit/index.ts'
import { createInboxStreams } from '../src/modules/inbox/index.ts'
import type { EngagementBuffer } from '../src/modules/tracking/index.ts'
import { allPages, allRoutes, openEngagementBuffer } from '../src/routes.ts'
import { openConnections, takeConnections } from './connections.ts'
import { withDatabase } from './database.ts'
import { type WakeCheck, wakeCheckOf } from './wake-check.ts'

export type GroundOptions = {
  /** Environment variables with settings. */
  env?: Record<string, string>
  log?: { write(line: string): void }
  /** The lag of the event loop in milliseconds, instead of the real one. */
  lag?: () => number
  /** The processor time of a template or file in a thread, instead of a second. */
  itemMaxMs?: number
  /** Leads to the database by another URL, such as that of a pooler. */
  through?: (databaseUrl: string) => Promise<string>
  /** How many connections to the database the server has, instead of 12. */
  connectionsMax?: number
  /** Share neither the server nor its connections: for tests that break them, or that count from zero. */
  own?: true
}

export type FetchMembers = Partial<Pick<SafeFetch, 'policy' | 'request'>>

export type Ground = AsyncDisposable & {
  ctx: Ctx
  db: Database
  app: FastifyInstance
  databaseUrl: string
  wakeCheck: WakeCheck
  /** Starts to serve a world: uses its clock, a new HTTP client and a new engagement buffer. */
  begin(clock: Clock): void
  /** Replaces members of the HTTP client until the next world begins. */
  replaceFetch(members: FetchMembers): void
  engagementBuffer: EngagementBuffer
}

/** That of the bundle, which starts in a third of the time: threads that are stopped start anew. Without a bundle, the source. */
const { CARILLON_TEST_SERVER } = process.env
const TASK_THREAD = CARILLON_TEST_SERVER
  ? new URL('task-thread.js', pathToFileURL(CARILLON_TEST_SERVER))
  : new URL('../src/task-thread.ts', import.meta.url)

/** Grounds that no world uses. Tests rarely have more than two worlds at a time. */
const idle: Ground[] = []
const IDLE_MAX = 2

/** The number of open worlds on the database of this process. */
let worlds = 0

/** Returns a ground for a world. Without options, it may be one that another world has used. */
export async function takeGround(options: GroundOptions | undefined, clock: Clock): Promise<Ground> {
  const databaseUrl = await ownDatabase()
  const ground = (options ? undefined : idle.pop()) ?? (await openGround(databaseUrl, options ?? {}))
  ground.begin(clock)
  worlds++
  return ground
}

/** Gives back a ground. With `isReusable`, another world can use it. */
export async function leaveGround(ground: Ground, isReusable: boolean): Promise<void> {
  await ground.engagementBuffer[Symbol.asyncDispose]()
  const isCurrent = ground.databaseUrl === (await own)
  if (isCurrent) worlds--
  if (isReusable && isCurrent && idle.length < IDLE_MAX && !ground.app.server.listening) idle.push(ground)
  else await ground[Symbol.asyncDispose]()
}

let databases = 0
let own: Promise<string> | undefined
let ownFile: string | undefined

/** The database of this process. It is cloned from the template once, and emptied at the start of each test file. */
async function ownDatabase(): Promise<string> {
  const { testPath } = expect.getState()
  if (own && testPath !== ownFile) {
    // A world that was not closed may still write, so this database is no longer used.
    if (worlds > 0) {
      worlds = 0
      own = undefined
      for (const ground of idle.splice(0)) await ground[Symbol.asyncDispose]()
    } else await empty(await own)
  }
  ownFile = testPath
  own ??= cloneTemplate().then(withNewIds).then(noteTables)
  return own
}

const IDS_PER_DATABASE = 1_000_000
let firstId = 0

/** Caches of this process may hold the ids of an earlier database, so each has ids of its own. */
async function withNewIds(databaseUrl: string): Promise<string> {
  if (firstId > 0) {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(`select setval(format('public.%I', sequencename)::regclass, $1) from pg_sequences where schemaname = 'public'`, [
      firstId,
    ])
    await client.end()
  }
  firstId += IDS_PER_DATABASE
  return databaseUrl
}

/** Creates a migrated database, for tests that start servers. */
export const cloneTemplate = (): Promise<string> =>
  // Copying files is not written to the WAL, and takes half as long.
  createDatabase(`template ${inject('templateName')} strategy file_copy`)

/** Creates a database without tables. */
export async function createDatabase(like = ''): Promise<string> {
  const name = `test_${process.pid}_${++databases}_${Math.floor(performance.timeOrigin + performance.now())}`
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  await admin.query(`create database ${name} ${like}`)
  await admin.end()
  return withDatabase(inject('databaseUrl'), name)
}

/**
 * Deletes the rows of the tables that ever had some, and drops the tables that tests have created. Others take no part: to open a table costs more
 * than to delete the rows of most.
 */
const EMPTIES = `
  select string_agg(format(case when oid::int8 > $1 and not relispartition then 'drop table %I cascade' else 'delete from %I' end, relname), ';') as statements
  from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'
    and (pg_relation_size(oid) > 0 or oid::int8 > $1 and not relispartition)`

/** The newest table of the database of this process, when it was cloned. */
let newestTable = 0

async function noteTables(databaseUrl: string): Promise<string> {
  const connection = await connectionFor(databaseUrl)
  const { rows } = await connection.query<{ newest: number }>('select max(oid)::int8::float8 as newest from pg_class')
  newestTable = rows[0]?.newest ?? 0
  return databaseUrl
}

let emptying: { url: string; pool: pg.Pool } | undefined

/** A connection that is kept: each new one would open every table for the first time. */
async function connectionFor(url: string): Promise<pg.Pool> {
  if (emptying?.url !== url) {
    await emptying?.pool.end()
    emptying = { url, pool: new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true }) }
    emptying.pool.on('error', () => undefined)
  }
  return emptying.pool
}

/** Deletes all rows, and tables of tests. Sequences continue, so that a cached id never belongs to another row. */
async function empty(databaseUrl: string): Promise<void> {
  const connection = await connectionFor(databaseUrl)
  const { rows } = await connection.query<{ statements: string | null }>(EMPTIES, [newestTable])
  const statements = rows[0]?.statements
  if (statements) await connection.query(`begin; set local session_replication_role = replica; ${statements}; commit`)
}

async function openGround(
  databaseUrl: string,
  { env = {}, log, lag = () => 0, itemMaxMs, connectionsMax, own, through }: GroundOptions,
): Promise<Ground> {
  const config = testConfig(env)
  const baseUrl = config.BASE_URL ?? 'http://carillon.test'
  const closing = new AsyncDisposableStack()
  const metrics = createMetrics('test')
  const { cert } = await loadOrCreateAuthority(inject('authorityDir'), new Date())
  const policy = () => egressPolicy([...config.EGRESS_ALLOW_CIDRS])
  const mayShare = !own && connectionsMax === undefined && !through
  const url = through ? await through(databaseUrl) : databaseUrl
  const { db } = closing.use(mayShare ? takeConnections(url, metrics.statement) : openConnections(url, metrics.statement, connectionsMax))
  const reads =
    config.DATABASE_READ_URL && openDatabase({ url: config.DATABASE_READ_URL, connectionsMax: 4, name: 'reads', checkRows: true })
  const tracing = await openTracing(config)
  if (tracing) closing.use(tracing)
  const acceptedLog = await openLog(config, systemClock)
  if (acceptedLog) closing.use(acceptedLog)
  const newFetch = () => createSafeFetch({ policy: policy(), ca: [cert], userAgent: 'Carillon-Webhooks/1.0' })
  let fetch = newFetch()
  let replaced: FetchMembers = {}
  closing.defer(() => fetch[Symbol.asyncDispose]())
  let clock: Clock
  const wakeCheck = wakeCheckOf(databaseUrl)
  const worldClock = Object.freeze<Clock>({
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    skewMs: 0,
    isShared: true,
  })
  // Frozen, because the next world uses the same objects: what one test wrote to them would fail another.
  const ctx: Ctx = Object.freeze({
    config,
    clock: worldClock,
    metrics,
    ...(tracing && { tracing }),
    fetch: Object.freeze({
      get policy() {
        return replaced.policy ?? fetch.policy
      },
      request: (request: SafeRequest) => (replaced.request ?? fetch.request)(request),
      [Symbol.asyncDispose]: () => fetch[Symbol.asyncDispose](),
    }),
    db,
    ...(acceptedLog && { acceptedLog }),
    ...(reads && { replica: closing.use(openReplica(reads, worldClock)) }),
    log: createLog(log ? 'info' : 'silent', log),
    secrets: createSecrets(config.SECRETS_KEY),
    threads: threadsOf(config, metrics, itemMaxMs),
    smtp: closing.use(createSmtpRelays({ policy: policy(), ca: [cert] })),
    mail: closing.use(
      openMail({
        config,
        clock: worldClock,
        random: () => 0,
        ca: [cert],
        baseUrl,
        store: storedPolicies(db),
        onError: (error) => {
          throw error
        },
        isLoopbackOnly: true,
      }),
    ),
    baseUrl: () => baseUrl,
    wake: wakeCheck.wake,
  })
  let buffer: EngagementBuffer
  const engagementBuffer: EngagementBuffer = {
    put: (...engagement) => buffer.put(...engagement),
    flush: () => buffer.flush(),
    [Symbol.asyncDispose]: () => buffer[Symbol.asyncDispose](),
  }
  const app = createHttpServer({
    ctx,
    routes: allRoutes({ appender: openAppender(ctx), listening: createInboxStreams() }),
    pages: allPages({ engagementBuffer }),
    authenticator,
    recordWrite,
    baseUrl: () => baseUrl,
    lag,
    onReply: checkReply,
  })
  addOperations(app, { ctx, queues: async () => undefined, connections: db.connections, lag })
  closing.defer(() => app.close())
  return {
    ctx,
    db,
    app,
    databaseUrl,
    wakeCheck,
    begin(given) {
      clock = given
      // The connections of the previous world are not reused.
      void fetch[Symbol.asyncDispose]()
      fetch = newFetch()
      replaced = {}
      buffer = openEngagementBuffer(ctx)
    },
    replaceFetch(members) {
      replaced = { ...replaced, ...members }
    },
    engagementBuffer,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const threads = new Map<string, Threads>()

/** Grounds share threads, because starting one takes longer than most tests. They end with the process. */
function threadsOf({ SECRETS_KEY }: Config, metrics: Ctx['metrics'], itemMaxMs: number | undefined): Threads {
  const name = `${SECRETS_KEY.join()} ${itemMaxMs}`
  const known =
    threads.get(name) ??
    createThreads({ entry: TASK_THREAD, count: 1, secretsKeys: SECRETS_KEY, metrics, clock: systemClock, ...(itemMaxMs && { itemMaxMs }) })
  threads.set(name, known)
  return known
}

const testConfig = (env: Record<string, string>): Config =>
  readConfig({
    SECRETS_KEY: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    SESSION_JWT_KEYS: 'test:a-secret-that-is-only-for-tests-0123456789',
    RATE_READ: '0',
    RATE_WRITE: '0',
    RATE_USER: '0',
    RATE_PAGE: '0',
    RATE_ALL_PER_MIN: '0',
    RATE_EXT: '0',
    RATE_EGRESS_PER_MIN: '0',
    RATE_PUBLISHABLE: '0',
    RATE_AUTH_FAIL_PER_MIN: '0',
    RATE_SIGN_IN_PER_MIN: '0',
    // The least that Argon2 takes: what a hash costs is not what tests are about.
    PASSWORD_HASH_KIB: '8',
    // No name server listens here, so that no query leaves the machine.
    DNS_SERVERS: '127.0.0.1:1',
    // On a busy machine a receiver may take long.
    WEBHOOK_TIMEOUT_MS: '20000',
    ...env,
  })

const statuses = new Map<Route, number[]>()
const replyChecks = new Map<Route, (value: unknown) => string | null>()

/** Every reply in every test is checked against the statuses and the schema that document it. */
function checkReply(route: Route, status: number, body: unknown): void {
  const documented = statuses.get(route) ?? Object.keys(repliesOf(route, undefined)).map(Number)
  statuses.set(route, documented)
  if (!documented.includes(status)) throw new Error(`${route.method} ${route.path} sent the undocumented status ${status}.`)
  if (!route.reply || status >= 400) return
  const check = replyChecks.get(route) ?? matches(route.reply)
  replyChecks.set(route, check)
  const problem = check(body)
  if (problem) throw new Error(`${route.method} ${route.path} sent an undocumented reply: ${problem}`)
}

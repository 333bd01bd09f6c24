/**
 * What worlds stand on: a server with its connections, on a database that is this process's own. To build one costs more than
 * most tests do, so that worlds take it over from each other. A test file begins with an empty database.
 */
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { expect, inject } from 'vitest'
import { authenticator } from '../src/authenticator.ts'
import { addOperations } from '../src/infra/http/operations.ts'
import type { Route } from '../src/infra/http/route.ts'
import { createHttpServer } from '../src/infra/http/server.ts'
import { loadOrCreateAuthority } from '../src/infra/outgoing/dev-authority.ts'
import { createSafeFetch } from '../src/infra/outgoing/safe-fetch.ts'
import { createSmtpRelays } from '../src/infra/outgoing/smtp-relays.ts'
import { type Database, openDatabase } from '../src/infra/postgres/db.ts'
import { createAppender } from '../src/infra/queue/queue.ts'
import { type Config, readConfig } from '../src/infra/runtime/config.ts'
import type { Ctx } from '../src/infra/runtime/ctx.ts'
import { createLog } from '../src/infra/runtime/log.ts'
import { createMetrics } from '../src/infra/runtime/metrics.ts'
import { createSecrets } from '../src/infra/runtime/secrets.ts'
import type { Clock } from '../src/lib/clock.ts'
import { egressPolicy } from '../src/lib/egress.ts'
import { matches } from '../src/lib/validate.ts'
import { createInboxStreams } from '../src/modules/inbox/index.ts'
import type { EngagementBuffer } from '../src/modules/tracking/index.ts'
import { allPages, allRoutes, openEngagementBuffer } from '../src/routes.ts'
import { withDatabase } from './database.ts'

export type GroundOptions = {
  /** Settings as the environment would give them. */
  env?: Record<string, string>
  log?: { write(line: string): void }
  /** For tests that break the server or its connections, or count from nothing what it did. */
  own?: true
}

export type Ground = AsyncDisposable & {
  ctx: Ctx
  db: Database
  app: FastifyInstance
  databaseUrl: string
  /** Begins with a world: the time is that of its clock, and the engagement buffer is new. */
  begin(clock: Clock): void
  engagementBuffer: EngagementBuffer
}

/** Grounds that no world stands on; more than two worlds at a time are rare. */
const idle: Ground[] = []
const IDLE_MAX = 2

/** How many worlds are open in this process. */
let worlds = 0

/** A ground for one world. Without options it may be one that another world left. */
export async function takeGround(options: GroundOptions | undefined, clock: Clock): Promise<Ground> {
  const databaseUrl = await ownDatabase()
  const ground = (options ? undefined : idle.pop()) ?? (await openGround(databaseUrl, options ?? {}))
  ground.begin(clock)
  worlds++
  return ground
}

/** Takes a ground back; `isReusable` says that the next world may stand on it. */
export async function leaveGround(ground: Ground, isReusable: boolean): Promise<void> {
  worlds--
  await ground.engagementBuffer[Symbol.asyncDispose]()
  const isCurrent = ground.databaseUrl === (await own)
  if (isReusable && isCurrent && idle.length < IDLE_MAX && !ground.app.server.listening) idle.push(ground)
  else await ground[Symbol.asyncDispose]()
}

let databases = 0
let own: Promise<string> | undefined
let ownFile: string | undefined

/** The database of this process, cloned from the template the first time it is asked for, and empty when a test file begins. */
async function ownDatabase(): Promise<string> {
  const { testPath } = expect.getState()
  if (own && testPath !== ownFile) {
    // A world that was never closed may go on writing: leave the database to it.
    if (worlds > 0) {
      worlds = 0
      own = undefined
      for (const ground of idle.splice(0)) await ground[Symbol.asyncDispose]()
    } else await empty(await own)
  }
  ownFile = testPath
  own ??= cloneTemplate()
  return own
}

/** A migrated database of its own, for tests that start whole servers. */
export const cloneTemplate = (): Promise<string> =>
  // These copies need no log, and without it they take half as long.
  createDatabase(`template ${inject('templateName')} strategy file_copy`)

/** A database of its own, without a table. */
export async function createDatabase(like = ''): Promise<string> {
  const name = `test_${process.pid}_${++databases}_${Math.floor(performance.timeOrigin + performance.now())}`
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  await admin.query(`create database ${name} ${like}`)
  await admin.end()
  return withDatabase(inject('databaseUrl'), name)
}

const TABLES = `select string_agg(format('delete from %I', relname), ';') as statements from pg_class
  where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'`

/** Deletes every row. Numbers go on where they were, so that what was remembered of a row by its id is of no other. */
async function empty(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query(TABLES)
  await client.query(`begin; set local session_replication_role = replica; ${rows[0].statements}; commit`)
  await client.end()
}

async function openGround(databaseUrl: string, { env = {}, log }: GroundOptions): Promise<Ground> {
  const config = testConfig(env)
  const closing = new AsyncDisposableStack()
  const metrics = createMetrics('test')
  const { cert } = await loadOrCreateAuthority(inject('authorityDir'), new Date())
  const policy = () => egressPolicy([...config.EGRESS_ALLOW_CIDRS])
  const db = closing.use(
    openDatabase({ url: databaseUrl, connectionsMax: 12, name: 'test', checkRows: true, onStatement: metrics.statement }),
  )
  const newFetch = () => createSafeFetch({ policy: policy(), ca: [cert], userAgent: 'Carillon-Webhooks/1.0' })
  let fetch = newFetch()
  closing.defer(() => fetch[Symbol.asyncDispose]())
  let clock: Clock
  const ctx: Ctx = {
    config,
    clock: { now: () => clock.now(), sleep: (ms, signal) => clock.sleep(ms, signal) },
    metrics,
    fetch: { policy: policy(), request: (request) => fetch.request(request), [Symbol.asyncDispose]: () => fetch[Symbol.asyncDispose]() },
    db,
    log: createLog(log ? 'info' : 'silent', log),
    secrets: createSecrets(config.SECRETS_KEY),
    smtp: closing.use(createSmtpRelays({ policy: policy(), ca: [cert] })),
    baseUrl: () => 'http://carillon.test',
    wake: () => undefined,
  }
  let visits: EngagementBuffer
  const engagementBuffer: EngagementBuffer = {
    put: (...visit) => visits.put(...visit),
    flush: () => visits.flush(),
    [Symbol.asyncDispose]: () => visits[Symbol.asyncDispose](),
  }
  const app = createHttpServer({
    ctx,
    routes: allRoutes({ appender: createAppender(db, () => undefined), listening: createInboxStreams() }),
    pages: allPages({ engagementBuffer }),
    authenticator,
    baseUrl: () => 'http://carillon.test',
    onReply: checkReply,
  })
  addOperations(app, { ctx, queues: async () => undefined, connections: db.connections })
  closing.defer(() => app.close())
  return {
    ctx,
    db,
    app,
    databaseUrl,
    begin(given) {
      clock = given
      // Connections to the receivers of the world before are of no use to this one.
      void fetch[Symbol.asyncDispose]()
      fetch = newFetch()
      visits = openEngagementBuffer(ctx)
    },
    engagementBuffer,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
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
    RATE_AUTH_FAIL_PER_MIN: '0',
    ...env,
  })

const replyChecks = new Map<Route, (value: unknown) => string | null>()

/** Every reply in every test is checked against the schema that documents it. */
function checkReply(route: Route, status: number, body: unknown): void {
  if (!route.reply || status >= 400) return
  const check = replyChecks.get(route) ?? matches(route.reply)
  replyChecks.set(route, check)
  const problem = check(body)
  if (problem) throw new Error(`${route.method} ${route.path} answers other than it documents: ${problem}`)
}

/**
 * A whole small world for a test: one call gives a project with its keys, a clock that only moves when told,
 * and the server in between, on a database that belongs to this test file.
 */
import type { FastifyInstance, InjectOptions } from 'fastify'
import pg from 'pg'
import { inject } from 'vitest'
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
import { asSystem, type Ctx, type ProjectCtx } from '../src/infra/runtime/ctx.ts'
import { createLog } from '../src/infra/runtime/log.ts'
import { createMetrics } from '../src/infra/runtime/metrics.ts'
import { createSecrets } from '../src/infra/runtime/secrets.ts'
import { egressPolicy } from '../src/lib/egress.ts'
import type { OrganisationId, ProjectId } from '../src/lib/ids.ts'
import { matches } from '../src/lib/validate.ts'
import { LATEST_VERSION } from '../src/lib/versions.ts'
import { createEventMonths } from '../src/modules/events/index.ts'
import { createInboxStreams } from '../src/modules/inbox/index.ts'
import { generateKey, saveKey } from '../src/modules/keys/index.ts'
import { insertOrganisation } from '../src/modules/projects/index.ts'
import type { EngagementBuffer } from '../src/modules/tracking/index.ts'
import { allPages, allRoutes, openEngagementBuffer } from '../src/routes.ts'
import { createProjectIn } from '../src/verbs.ts'
import { allJobs } from '../src/workers.ts'
import { withDatabase } from './database.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { createTestClock, type TestClock } from './test-clock.ts'

export type Keys = Record<'secret' | 'publisher' | 'editor' | 'support' | 'smtpproxy' | 'public' | 'organisation' | 'member', string>

export type Reply = { status: number; body: any; text: string; headers: Record<string, string> }
export type RequestOptions = { key?: string | null; headers?: Record<string, string | string[]>; raw?: string | Buffer }

/** A project and how to talk to it. */
export type Tenant = {
  projectId: ProjectId
  organisationId: OrganisationId
  keys: Keys
  /** A context of this project, acting as the system. */
  ctx: ProjectCtx
}

export type World = Tenant &
  AsyncDisposable & {
    clock: TestClock
    db: Database
    app: FastifyInstance
    databaseUrl: string
    request(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Reply>
    get(path: string, options?: RequestOptions): Promise<Reply>
    post(path: string, body?: unknown, options?: RequestOptions): Promise<Reply>
    put(path: string, body?: unknown, options?: RequestOptions): Promise<Reply>
    patch(path: string, body?: unknown, options?: RequestOptions): Promise<Reply>
    delete(path: string, options?: RequestOptions): Promise<Reply>
    /** Posts a form to a utility endpoint. */
    form(path: string, fields: Record<string, string> | string, options?: RequestOptions): Promise<Reply>
    advance(by: string | number): void
    /** Runs every job, or those of these names, until none finds anything to do. */
    drain(...names: string[]): Promise<void>
    /** Saves users by external id, with addresses made from their names. */
    users(...names: string[]): Promise<void>
    /** A user token for the header X-Service-User-Token. */
    token(externalId: string): Promise<string>
    receiver(): Promise<Receiver>
    /** A project of a foreign organisation in the same database. */
    other(): Promise<Tenant>
  }

let databases = 0
let own: Promise<string> | undefined

/** The database of this test file, cloned from the template the first time it is asked for. */
function ownDatabase(): Promise<string> {
  own ??= cloneTemplate()
  return own
}

/** A migrated database of its own, for tests that start whole servers. */
export async function cloneTemplate(): Promise<string> {
  const name = `test_${process.pid}_${++databases}_${Math.floor(performance.timeOrigin + performance.now())}`
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  // Nobody needs the log of these copies, and without it they take half as long.
  await admin.query(`create database ${name} template ${inject('templateName')} strategy file_copy`)
  await admin.end()
  return withDatabase(inject('databaseUrl'), name)
}

export type WorldOptions = {
  /** Settings as the environment would give them. */
  env?: Record<string, string>
  log?: { write(line: string): void }
}

/** Opens a world. Use it with `await using`. */
export async function world({ env = {}, log }: WorldOptions = {}): Promise<World> {
  const databaseUrl = await ownDatabase()
  const config = testConfig(env)
  const clock = createTestClock()
  const closing = new AsyncDisposableStack()
  const metrics = createMetrics('test')
  const { cert } = await loadOrCreateAuthority(inject('authorityDir'), new Date())
  const fetch = closing.use(
    createSafeFetch({ policy: egressPolicy([...config.EGRESS_ALLOW_CIDRS]), ca: [cert], userAgent: 'Carillon-Webhooks/1.0' }),
  )
  const db = closing.use(openDatabase({ url: databaseUrl, connectionsMax: 12, name: 'test', checkRows: true, metrics }))
  const ctx: Ctx = {
    config,
    clock,
    metrics,
    fetch,
    db,
    log: createLog(log ? 'info' : 'silent', log),
    secrets: createSecrets(config.SECRETS_KEY),
    smtp: closing.use(createSmtpRelays({ policy: egressPolicy([...config.EGRESS_ALLOW_CIDRS]), ca: [cert] })),
    baseUrl: () => 'http://carillon.test',
    wake: () => undefined,
  }
  await createEventMonths(ctx)
  const recorder = closing.use(openEngagementBuffer(ctx))
  const app = createHttpServer({
    ctx,
    routes: allRoutes({ appender: createAppender(db, () => undefined), listening: createInboxStreams() }),
    pages: allPages({ recorder }),
    authenticator,
    baseUrl: () => 'http://carillon.test',
    onReply: checkReply,
  })
  addOperations(app, { ctx, queues: async () => undefined, connections: db.connections })
  closing.defer(() => app.close())
  const home = await tenant(ctx)
  return {
    ...home,
    ...talk(app, home, closing),
    clock,
    db,
    app,
    databaseUrl,
    advance: clock.advance,
    drain: (...names) => drain(ctx, recorder, names),
    other: () => tenant(ctx),
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

async function tenant(ctx: Ctx): Promise<Tenant> {
  const organisationId = await insertOrganisation(ctx, 'Test', LATEST_VERSION)
  const project = await createProjectIn(ctx, organisationId, { name: 'Test', locale: 'en-AU', timezone: 'Australia/Sydney' })

  const key = async (prefix: 'sk_' | 'pk_' | 'ok_', scope: 'secret' | 'public' | 'organisation', role: string) => {
    const value = generateKey(prefix, ctx.secrets.random)
    await saveKey(ctx, value, {
      organisationId,
      projectId: scope === 'organisation' ? null : project.id,
      scope,
      role,
      name: role,
      description: null,
      isSystemKey: false,
    })
    return value
  }
  const keys: Keys = {
    secret: await key('sk_', 'secret', 'admin'),
    publisher: await key('sk_', 'secret', 'publisher'),
    editor: await key('sk_', 'secret', 'editor'),
    smtpproxy: await key('sk_', 'secret', 'smtpproxy'),
    support: await key('sk_', 'secret', 'support'),
    public: await key('pk_', 'public', 'support'),
    organisation: await key('ok_', 'organisation', 'owner'),
    member: await key('ok_', 'organisation', 'member'),
  }
  return { projectId: project.id, organisationId, keys, ctx: asSystem(ctx, project.id, project) }
}

function talk(app: FastifyInstance, { keys }: Tenant, closing: AsyncDisposableStack) {
  const request = async (
    method: string,
    path: string,
    body?: unknown,
    { key = keys.secret, headers = {}, raw }: RequestOptions = {},
  ): Promise<Reply> => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const options = {
      method,
      url: path,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    }
    const reply = await app.inject(options as InjectOptions)
    const isJson = String(reply.headers['content-type'] ?? '').startsWith('application/json')
    return {
      status: reply.statusCode,
      body: isJson && reply.payload !== '' ? JSON.parse(reply.payload) : undefined,
      text: reply.payload,
      headers: reply.headers as Record<string, string>,
    }
  }
  const post = (path: string, body?: unknown, options?: RequestOptions) => request('POST', path, body, options)
  return {
    request,
    get: (path: string, options?: RequestOptions) => request('GET', path, undefined, options),
    post,
    put: (path: string, body?: unknown, options?: RequestOptions) => request('PUT', path, body, options),
    patch: (path: string, body?: unknown, options?: RequestOptions) => request('PATCH', path, body, options),
    delete: (path: string, options?: RequestOptions) => request('DELETE', path, undefined, options),
    form: (path: string, fields: Record<string, string> | string, { headers, ...options }: RequestOptions = {}) =>
      request('POST', path, undefined, {
        ...options,
        raw: String(new URLSearchParams(fields)),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
    users: async (...names: string[]) => {
      const { body } = await post(
        '/api/client/users/batch',
        names.map((name) => ({ external_id: name, email: `${name}@example.com` })),
      )
      if (body.failed !== 0) throw new Error(`Users were not saved: ${JSON.stringify(body)}`)
    },
    token: async (externalId: string) => (await post(`/api/client/users/${encodeURIComponent(externalId)}/sessions`)).body.token as string,
    receiver: async () => closing.use(await openReceiver()),
  }
}

const ROUNDS_MAX = 10_000

async function drain(ctx: Ctx, recorder: EngagementBuffer, names: string[]): Promise<void> {
  const { signal } = new AbortController()
  const jobs = allJobs(createInboxStreams()).filter(({ name }) => names.length === 0 || names.includes(name))
  for (let round = 0; round < ROUNDS_MAX; round++) {
    let done = 0
    await recorder.flush()
    for (const job of jobs) done += await job.run(ctx, signal)
    if (done === 0) return
  }
  throw new Error('The jobs never come to rest.')
}

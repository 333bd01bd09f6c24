/** Everything that a test needs: a project with its keys, a server, and a clock that only moves when the test moves it. */
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Database, TxDb } from '../src/infra/postgres/db.ts'
import { type Job, runToEnd } from '../src/infra/queue/jobs.ts'
import { asSystem, type Ctx, type ProjectCtx } from '../src/infra/runtime/ctx.ts'
import type { OrganisationId, ProjectId } from '../src/lib/ids.ts'
import { HOUR_MS } from '../src/lib/times.ts'
import { LATEST_VERSION } from '../src/lib/versions.ts'
import { createEventMonths } from '../src/modules/events/index.ts'
import { createInboxStreams } from '../src/modules/inbox/index.ts'
import { generateKey, saveKey } from '../src/modules/keys/index.ts'
import { insertOrganisation } from '../src/modules/projects/index.ts'
import { createProjectIn } from '../src/verbs.ts'
import { allJobs } from '../src/workers.ts'
import { type FetchMembers, type Ground, type GroundOptions, leaveGround, takeGround } from './ground.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { createTestClock, type TestClock } from './test-clock.ts'

export type Keys = Record<keyof typeof KEYS, string>

export type Reply = { status: number; body: any; text: string; headers: Record<string, string> }
export type RequestOptions = { key?: string | null; headers?: Record<string, string | string[]>; raw?: string | Buffer }

/** A project with its keys. */
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
    /** Runs all jobs, or those with these names, until none of them has anything to do. */
    drain(...names: string[]): Promise<void>
    /** Saves users with these external ids and email addresses derived from them. */
    users(...names: string[]): Promise<void>
    /** A user token for the header X-Service-User-Token. */
    token(externalId: string): Promise<string>
    receiver(): Promise<Receiver>
    /** Replaces members of the HTTP client of this world. */
    replaceFetch(members: FetchMembers): void
    /** Creates a project of another organisation in the same database. */
    other(): Promise<Tenant>
  }

/** Opens a world. Use it with `await using`. With options, it has its own server, which is closed with it. */
export async function world(options?: GroundOptions): Promise<World> {
  const clock = createTestClock()
  const closing = new AsyncDisposableStack()
  const ground = await takeGround(options, clock)
  closing.defer(() => leaveGround(ground, options === undefined))
  const { ctx, db, app, databaseUrl } = ground
  ground.wakeCheck.restart()
  await createEventMonths(ctx)
  const home = await tenant(ctx)
  const jobs = allJobs(createInboxStreams(), ctx)
  let drains = 0
  return {
    ...home,
    ...createClient(app, home, closing),
    clock,
    db,
    app,
    databaseUrl,
    advance: clock.advance,
    replaceFetch: ground.replaceFetch,
    drain: (...names) =>
      names.length > 0
        ? drain(
            ground,
            jobs.filter(({ name }) => names.includes(name)),
            () => false,
          )
        : drain(ground, jobs, drains++ % CHECKED_DRAINS === 0 ? isHourly : (job) => isHourly(job) || job.idleMs === undefined),
    other: () => tenant(ctx),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const KEYS = {
  secret: { prefix: 'sk_', scope: 'secret', role: 'admin' },
  publisher: { prefix: 'sk_', scope: 'secret', role: 'publisher' },
  editor: { prefix: 'sk_', scope: 'secret', role: 'editor' },
  smtpproxy: { prefix: 'sk_', scope: 'secret', role: 'smtpproxy' },
  support: { prefix: 'sk_', scope: 'secret', role: 'support' },
  public: { prefix: 'pk_', scope: 'public', role: 'support' },
  organisation: { prefix: 'ok_', scope: 'organisation', role: 'owner' },
  member: { prefix: 'ok_', scope: 'organisation', role: 'member' },
} as const

async function tenant(ctx: Ctx): Promise<Tenant> {
  const organisationId = await insertOrganisation(ctx, 'Test', LATEST_VERSION)
  const project = await createProjectIn(ctx, organisationId, { name: 'Test', locale: 'en-AU', timezone: 'Australia/Sydney' })

  const keys = Object.fromEntries(Object.entries(KEYS).map(([name, { prefix }]) => [name, generateKey(prefix, ctx.secrets.random)])) as Keys
  // Sent at once: every test waits for this.
  const save = (db: TxDb) =>
    Promise.all(
      Object.entries(KEYS).map(([name, { scope, role }]) =>
        saveKey({ ...ctx, db }, keys[name as keyof Keys], {
          organisationId,
          projectId: scope === 'organisation' ? null : project.id,
          scope,
          role,
          name: role,
          description: null,
          isSystemKey: false,
        }),
      ),
    )
  await ctx.db.transaction(save, { pipelined: true })
  return { projectId: project.id, organisationId, keys, ctx: asSystem(ctx, project.id, project) }
}

function createClient(app: FastifyInstance, { keys }: Tenant, closing: AsyncDisposableStack) {
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

/** The first drain of a world, and one in so many, run jobs that nothing has woken too. */
const CHECKED_DRAINS = 4

/** Jobs that clean up every hour run when they are due. */
const isHourly = ({ idleMs = 0 }: Job): boolean => idleMs >= HOUR_MS

/**
 * The first round runs all jobs but those that may rest and sleep; later rounds leave out all that sleep, as a server would. A job that
 * sleeps and is run all the same must find no work (`wake-check.ts`), so that leaving it out changes nothing but the time that it takes.
 */
async function drain({ ctx, engagementBuffer, wakeCheck }: Ground, jobs: Job[], mayRest: (job: Job) => boolean): Promise<void> {
  const { signal } = new AbortController()
  using _ = wakeCheck.begin()
  for (let round = 0; round < ROUNDS_MAX; round++) {
    let done = 0
    await engagementBuffer.flush()
    for (const job of jobs) {
      if ((round > 0 || mayRest(job)) && wakeCheck.isAsleep(ctx, job)) continue
      done += await wakeCheck.run(ctx, job, () => runToEnd(job, ctx, signal))
    }
    if (done === 0) return
  }
  throw new Error('The jobs never finish.')
}

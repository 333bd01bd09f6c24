/**
 * A PostgreSQL of our own, for those who bring none: real binaries, data under the data directory, one server per data
 * directory however many processes ask for it. The process that started it owns it and stops it; others are guests. When
 * the owner was killed, the next to come adopts the server with all its warm pages.
 */
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import type { Access, ClusterDirectory, Owner } from './embedded-postgres-cluster.ts'
import {
  createCluster,
  DATABASE_NAME,
  directoryArgument,
  disownPidFile,
  giveCluster,
  hasCluster,
  openLog,
  openPlace,
  readAccess,
  readPidFile,
  saveAccess,
} from './embedded-postgres-cluster.ts'
import type { ProcessMark } from './embedded-postgres-processes.ts'
import { hasEnded, isAlive, locked, markOf, ownMark, POLL_MS, programOf, worksIn } from './embedded-postgres-processes.ts'
import type { RunAs } from './embedded-postgres-programs.ts'
import { chooseRunAs, findPostgresPackage, homesOfCopies, POSTGRES_ENVIRONMENT, preparePrograms } from './embedded-postgres-programs.ts'

export type EmbeddedPostgres = {
  /** `postgres://…` of a superuser, who is the owner of the database. */
  url: string
  /** The server was running when we came. */
  adopted: boolean
  /** Is the server process there? */
  running(): boolean
  [Symbol.asyncDispose](): Promise<void>
}

export type EmbeddedPostgresOptions = {
  /** Made if missing. */
  dataDir: string
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
  /** False gives up the safety of the data for speed: for tests only. */
  durable?: boolean
  /** Server settings that add to ours or replace them. A server that is adopted keeps those it has. */
  settings?: Record<string, string>
}

/** A server process and the port it answers on. */
type Server = { mark: ProcessMark; port: number }

/** One call of `startEmbeddedPostgres`: where to, with which key, by whom and what for. */
type Visit = { place: ClusterDirectory; access: Access; self: Owner; options: EmbeddedPostgresOptions }

// Recovery after a crash may have several gigabytes of log to replay.
const READY_WAIT_MS = 600_000
const STOP_WAIT_MS = 20_000
const CONNECT_TIMEOUT_MS = 10_000
const PORT_TRIES_MAX = 10
const ORPHAN_TRIES_MAX = 200

/** The database that every cluster has from the beginning. */
const MAINTENANCE_DATABASE = 'postgres'

const VOLATILE = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }

/** Few large checkpoints, no standby, little memory when idle, and no values of rows in the log. */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  wal_compression: 'off',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  autovacuum: 'on',
  jit: 'off',
  random_page_cost: '1.1',
  effective_io_concurrency: '200',
  // `worker` costs more processes, and `io_uring` a build that has it.
  io_method: 'sync',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_error_verbosity: 'terse',
}

/** Starts the PostgreSQL of `dataDir`, or joins the one that runs, and has the database ready. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const place = openPlace(options.dataDir)
  return locked(place.lock, async () => {
    const source = findPostgresPackage()
    const exists = hasCluster(place, source.version)
    const access = readAccess(place) ?? { password: randomBytes(24).toString('base64url') }
    const visit: Visit = { place, access, self: { ...ownMark(), token: randomUUID() }, options }
    const running = exists ? await findRunning(visit) : undefined
    if (running) return adopt(visit, running)

    const runAs = chooseRunAs(place.cluster)
    const programs = await preparePrograms(source, runAs, homesOfCopies(place.dataDir))
    if (exists) await giveCluster(place, runAs)
    else {
      saveAccess(place, access)
      await createCluster(place, programs, access, runAs, options.durable !== false)
    }
    return launch(visit, join(programs, 'bin', 'postgres'), runAs)
  })
}

/** The server that runs on this data, once it is ready; undefined when there is none, whatever `postmaster.pid` says. */
async function findRunning({ place, access }: Visit): Promise<Server | undefined> {
  for (let waitedMs = 0; waitedMs < READY_WAIT_MS; waitedMs += POLL_MS) {
    const file = readPidFile(place)
    const mark = file && markOf(file.pid)
    if (!mark || programOf(file.pid) !== 'postgres') return undefined
    const isOurs = worksIn(file.pid, place.cluster)
    if (isOurs === false) return undefined
    if (file.status === 'ready') {
      const refusal = await refusalOf(urlOf(access, file.port, MAINTENANCE_DATABASE))
      if (refusal === undefined) return { mark, port: file.port }
      if (!isOurs && ['ECONNREFUSED', '28P01'].includes(refusal.code ?? '')) return undefined
      throw new Error(`PostgreSQL runs on ${place.cluster} (process ${file.pid}) and refuses us: stop it. ${refusal.message}`)
    }
    await pause(POLL_MS)
  }
  throw new Error(`The PostgreSQL that runs on ${place.cluster} does not become ready: look at ${place.log}.`)
}

/** Takes over a server whose owner is dead; is the guest of one whose owner lives. */
async function adopt(visit: Visit, server: Server): Promise<EmbeddedPostgres> {
  const { place, access, self, options } = visit
  const guest = access.owner !== undefined && isAlive(access.owner)
  if (!guest) saveAccess(place, { ...access, port: server.port, owner: self })
  await ensureDatabase(access, server.port)
  options.log.info({ pid: server.mark.pid, port: server.port, guest }, 'embedded PostgreSQL adopted')
  return inHand(visit, server, true)
}

async function launch(visit: Visit, program: string, runAs: RunAs): Promise<EmbeddedPostgres> {
  const { place, access, self, options } = visit
  disownPidFile(place)
  const settings = { ...SETTINGS, ...(options.durable === false && VOLATILE), ...options.settings }
  const server = await startSomewhere((port) => startOn(port, place, program, runAs, settings), access.port)
  saveAccess(place, { ...access, port: server.port, owner: self })
  const postgres = inHand(visit, server, false)
  try {
    await ensureDatabase(access, server.port)
  } catch (error) {
    await postgres[Symbol.asyncDispose]()
    throw error
  }
  options.log.info({ pid: server.mark.pid, port: server.port }, 'embedded PostgreSQL started')
  return postgres
}

/** What the caller holds. To dispose of it stops the server, unless another process that lives answers for that. */
function inHand({ place, access, self, options }: Visit, server: Server, adopted: boolean): EmbeddedPostgres {
  return {
    url: urlOf(access, server.port),
    adopted,
    running: () => isAlive(server.mark),
    async [Symbol.asyncDispose]() {
      const owner = readAccess(place)?.owner
      if (owner && owner.token !== self.token && isAlive(owner)) return
      await stop(server.mark, options.log)
    },
  }
}

/** Tries the port of the last time, then others while it is taken. */
async function startSomewhere(start: (port: number) => Promise<Server | string>, lastPort: number | undefined): Promise<Server> {
  let port = lastPort ?? (await freePort())
  let portTries = 1
  for (let orphanTries = 0; ; ) {
    const outcome = await start(port)
    if (typeof outcome !== 'string') return outcome
    if (outcome.includes('could not bind') && portTries++ < PORT_TRIES_MAX) {
      port = await freePort()
    } else if (outcome.includes('is still in use') && orphanTries++ < ORPHAN_TRIES_MAX) {
      // The children of a killed server write until they notice; PostgreSQL does not start beside them.
      await pause(POLL_MS)
    } else {
      throw new Error(`The embedded PostgreSQL did not start:\n${outcome}`)
    }
  }
}

/** Starts the server and waits until it takes connections. A text is the last of the log of one that ended instead. */
async function startOn(
  port: number,
  place: ClusterDirectory,
  program: string,
  runAs: RunAs,
  settings: Record<string, string>,
): Promise<Server | string> {
  using log = openLog(place)
  const parameters = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // A session of its own: Ctrl-C in a terminal goes to all of the terminal's processes, and ours has to drain first.
  const child = spawn(program, ['-D', directoryArgument(place.cluster, runAs), ...parameters], {
    ...runAs,
    cwd: place.cluster,
    detached: true,
    env: POSTGRES_ENVIRONMENT,
    stdio: ['ignore', log.descriptor, log.descriptor],
  })
  await once(child, 'spawn')
  child.unref()
  for (let waitedMs = 0; waitedMs < READY_WAIT_MS; waitedMs += POLL_MS) {
    const file = readPidFile(place)
    const mark = markOf(child.pid ?? 0)
    if (!mark) return log.lastLines()
    if (file?.pid === mark.pid && file.status === 'ready') return { mark, port }
    await pause(POLL_MS)
  }
  child.kill('SIGQUIT')
  return log.lastLines()
}

/** Fast shutdown: open transactions are rolled back, and what is committed is checkpointed. */
async function stop(mark: ProcessMark, log: EmbeddedPostgresOptions['log']): Promise<void> {
  if (!isAlive(mark)) return
  process.kill(mark.pid, 'SIGINT')
  if (await hasEnded(mark, STOP_WAIT_MS)) return
  log.warn({ pid: mark.pid }, 'embedded PostgreSQL does not stop and is killed')
  process.kill(mark.pid, 'SIGKILL')
  await hasEnded(mark, STOP_WAIT_MS)
}

const urlOf = (access: Access, port: number, database = DATABASE_NAME) =>
  `postgres://${DATABASE_NAME}:${access.password}@127.0.0.1:${port}/${database}`

async function ensureDatabase(access: Access, port: number): Promise<void> {
  const refusal = await refusalOf(urlOf(access, port))
  if (refusal === undefined) return
  if (refusal.code !== '3D000') throw refusal
  const client = await connect(urlOf(access, port, MAINTENANCE_DATABASE))
  try {
    await client.query(`create database ${DATABASE_NAME}`)
  } finally {
    await client.end()
  }
}

/** Why the server lets nobody in at `url`; undefined when it does. */
async function refusalOf(url: string): Promise<(Error & { code?: string }) | undefined> {
  try {
    const client = await connect(url)
    await client.end()
    return undefined
  } catch (error) {
    return error as Error & { code?: string }
  }
}

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  // A server that goes away is reported by the query that meets it.
  client.on('error', () => {})
  await client.connect()
  return client
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  await once(listener, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('The port that the system gave us has no number.')
  return address.port
}

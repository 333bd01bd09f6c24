/**
 * The embedded PostgreSQL, used without DATABASE_URL: a real server with its data in the data directory. Each data directory has
 * one server, which several processes can share. The process that started it owns it; others are guests. An owner that ends hands it over to
 * a guest, and the last process stops it. If the owner was killed, the next process adopts the running server.
 */
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import type { Access, ClusterPaths, Owner } from './embedded-postgres-cluster.ts'
import {
  chownCluster,
  createCluster,
  DATABASE_NAME,
  directoryArgument,
  hasCluster,
  openDataDirectory,
  openLog,
  readAccess,
  readPidFile,
  removeSockets,
  replacePid,
  saveAccess,
  socketName,
} from './embedded-postgres-cluster.ts'
import { memoryBytes, memorySettings } from './embedded-postgres-memory.ts'
import type { ProcessIdentity } from './embedded-postgres-processes.ts'
import { hasEnded, identify, identifySelf, isAlive, locked, POLL_MS, programOf, worksIn } from './embedded-postgres-processes.ts'
import type { RunAs } from './embedded-postgres-programs.ts'
import { chooseRunAs, copyLocations, findPostgresPackage, POSTGRES_ENVIRONMENT, preparePrograms } from './embedded-postgres-programs.ts'
import { entered, leave } from './embedded-postgres-users.ts'

export type EmbeddedPostgres = {
  /** `postgres://…` with a superuser, who owns the database; with `?host=` and the directory of its Unix socket. */
  url: string
  /** The server was running before. */
  adopted: boolean
  /** Is the server process running? */
  running(): boolean
  [Symbol.asyncDispose](): Promise<void>
}

export type EmbeddedPostgresOptions = {
  /** Created if missing. */
  dataDir: string
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void }
  /** False risks the data for speed; for tests only. */
  durable?: boolean
  /** Server settings in addition to ours, or instead of them. An adopted server keeps its settings. */
  settings?: Record<string, string>
}

/** A server process and its port. */
type Server = { identity: ProcessIdentity; port: number }

/** The state of one call of `startEmbeddedPostgres`. */
type StartContext = { paths: ClusterPaths; access: Access; self: Owner; options: EmbeddedPostgresOptions }

// Recovery after a crash may have to replay several gigabytes of WAL.
const READY_WAIT_MS = 600_000
const STOP_WAIT_MS = 20_000
const CONNECT_TIMEOUT_MS = 10_000
const PORT_TRIES_MAX = 10
const ORPHAN_TRIES_MAX = 200

/** The kernel accepts 107 on Linux, and 103 on macOS. */
const SOCKET_PATH_BYTES_MAX = 100

/** A database that every cluster has. */
const MAINTENANCE_DATABASE = 'postgres'

/** Risks the data for speed. */
export const VOLATILE = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }

/** Few large checkpoints, no replication, and no row values in the log. */
export const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  // In the data itself: only its owner can enter it, and a relative path is never too long.
  unix_socket_directories: '.',
  max_connections: '100',
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
  // `worker` needs more processes, and `io_uring` a build that supports it.
  io_method: 'sync',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_error_verbosity: 'terse',
}

/** Starts the PostgreSQL of `dataDir`, or uses the one that is running, and creates the database if it is missing. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const paths = openDataDirectory(options.dataDir)
  return locked(paths.lock, async () => {
    const source = findPostgresPackage()
    const exists = hasCluster(paths, source.version)
    const access = readAccess(paths) ?? { password: randomBytes(24).toString('base64url') }
    const start: StartContext = { paths, access, self: { ...identifySelf(), token: randomUUID() }, options }
    const running = exists ? await findRunning(start) : undefined
    if (running) return adopt(start, running)

    const runAs = chooseRunAs(paths.cluster)
    const programs = await preparePrograms(source, runAs, copyLocations(paths.dataDir))
    if (exists) await chownCluster(paths, runAs)
    else {
      saveAccess(paths, access)
      await createCluster(paths, programs, access, runAs, options.durable !== false)
    }
    return launch(start, join(programs, 'bin', 'postgres'), runAs)
  })
}

/** Waits for the server that uses this data to be ready. Undefined if there is none; `postmaster.pid` may be stale. */
async function findRunning({ paths, access }: StartContext): Promise<Server | undefined> {
  for (let waitedMs = 0; waitedMs < READY_WAIT_MS; waitedMs += POLL_MS) {
    const file = readPidFile(paths)
    const identity = file && identify(file.pid)
    if (!identity || programOf(file.pid) !== 'postgres') return undefined
    const isOurs = worksIn(file.pid, paths.cluster)
    if (isOurs === false) return undefined
    if (file.status === 'ready') {
      const refusal = await tryConnect(urlOf(paths, access, file.port, MAINTENANCE_DATABASE))
      if (refusal === undefined) return { identity, port: file.port }
      if (!isOurs && ['ECONNREFUSED', '28P01'].includes(refusal.code ?? '')) return undefined
      throw new Error(
        `A PostgreSQL for ${paths.cluster} is running (process ${file.pid}) and refuses connections. Stop it. ${refusal.message}`,
      )
    }
    await pause(POLL_MS)
  }
  throw new Error(`The PostgreSQL for ${paths.cluster} is running but did not become ready. See ${paths.log}.`)
}

/** Uses a running server, and becomes its owner if the owner is dead. */
async function adopt(start: StartContext, server: Server): Promise<EmbeddedPostgres> {
  const { paths, access, self, options } = start
  const used = entered({ ...access, port: server.port }, self)
  const guest = used.owner !== self
  await ensureDatabase(paths, access, server.port)
  saveAccess(paths, used)
  options.log.info({ pid: server.identity.pid, port: server.port, guest }, 'embedded PostgreSQL adopted')
  return toEmbeddedPostgres(start, server, true)
}

async function launch(start: StartContext, program: string, runAs: RunAs): Promise<EmbeddedPostgres> {
  const { paths, access, self, options } = start
  replacePid(paths)
  removeSockets(paths)
  const settings = { ...SETTINGS, ...memorySettings(memoryBytes()), ...(options.durable === false && VOLATILE), ...options.settings }
  const server = await startOnFreePort((port) => startOn(port, paths, program, runAs, settings), access.port)
  saveAccess(paths, { ...access, port: server.port, owner: self, guests: [] })
  const postgres = toEmbeddedPostgres(start, server, false)
  try {
    await ensureDatabase(paths, access, server.port)
  } catch (error) {
    await stop(server.identity, options.log)
    throw error
  }
  options.log.info({ pid: server.identity.pid, port: server.port }, 'embedded PostgreSQL started')
  return postgres
}

/** Disposing of the result stops the server, unless another running process uses it. */
function toEmbeddedPostgres({ paths, access, self, options }: StartContext, server: Server, adopted: boolean): EmbeddedPostgres {
  return {
    url: urlOf(paths, access, server.port),
    adopted,
    running: () => isAlive(server.identity),
    async [Symbol.asyncDispose]() {
      // Under a lock that a process holds which starts the server again, maybe for minutes.
      if (isAlive(server.identity)) await leave(paths, self, () => stop(server.identity, options.log))
    },
  }
}

/** Tries the last port first, and others if it is taken. */
async function startOnFreePort(start: (port: number) => Promise<Server | string>, lastPort: number | undefined): Promise<Server> {
  let port = lastPort ?? (await freePort())
  let portTries = 1
  for (let orphanTries = 0; ; ) {
    const outcome = await start(port)
    if (typeof outcome !== 'string') return outcome
    if (outcome.includes('could not bind') && portTries++ < PORT_TRIES_MAX) {
      port = await freePort()
    } else if (outcome.includes('is still in use') && orphanTries++ < ORPHAN_TRIES_MAX) {
      // PostgreSQL does not start while children of a killed server can still write.
      await pause(POLL_MS)
    } else {
      throw new Error(`The embedded PostgreSQL did not start:\n${outcome}`)
    }
  }
}

/** Starts the server and waits until it accepts connections. If it fails, returns the last lines of its log. */
async function startOn(
  port: number,
  paths: ClusterPaths,
  program: string,
  runAs: RunAs,
  settings: Record<string, string>,
): Promise<Server | string> {
  using log = openLog(paths)
  const parameters = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // Detached, because Ctrl-C in a terminal signals all of its processes, and this server must shut down first.
  const child = spawn(program, ['-D', directoryArgument(paths.cluster, runAs), ...parameters], {
    ...runAs,
    cwd: paths.cluster,
    detached: true,
    env: POSTGRES_ENVIRONMENT,
    stdio: ['ignore', log.descriptor, log.descriptor],
  })
  await once(child, 'spawn')
  child.unref()
  for (let waitedMs = 0; waitedMs < READY_WAIT_MS; waitedMs += POLL_MS) {
    const file = readPidFile(paths)
    const identity = identify(child.pid ?? 0)
    if (!identity) return log.lastLines()
    if (file?.pid === identity.pid && file.status === 'ready') return { identity, port }
    await pause(POLL_MS)
  }
  child.kill('SIGQUIT')
  return log.lastLines()
}

/** A fast shutdown: rolls back open transactions and writes a checkpoint. */
async function stop(identity: ProcessIdentity, log: EmbeddedPostgresOptions['log']): Promise<void> {
  if (!isAlive(identity)) return
  process.kill(identity.pid, 'SIGINT')
  if (await hasEnded(identity, STOP_WAIT_MS)) return
  log.warn({ pid: identity.pid }, 'embedded PostgreSQL did not stop and is killed')
  process.kill(identity.pid, 'SIGKILL')
  await hasEnded(identity, STOP_WAIT_MS)
}

/** Over the Unix socket of the server, where there is one: its round trips take about two thirds of those over loopback. */
function urlOf(paths: ClusterPaths, access: Access, port: number, database = DATABASE_NAME): string {
  const url = `postgres://${DATABASE_NAME}:${access.password}@127.0.0.1:${port}/${database}`
  const socket = join(paths.cluster, socketName(port))
  const isUsable = Buffer.byteLength(socket) <= SOCKET_PATH_BYTES_MAX && existsSync(socket)
  return isUsable ? `${url}?host=${encodeURIComponent(paths.cluster)}` : url
}

async function ensureDatabase(paths: ClusterPaths, access: Access, port: number): Promise<void> {
  const refusal = await tryConnect(urlOf(paths, access, port))
  if (refusal === undefined) return
  if (refusal.code !== '3D000') throw refusal
  const client = await connect(urlOf(paths, access, port, MAINTENANCE_DATABASE))
  try {
    await client.query(`create database ${DATABASE_NAME}`)
  } finally {
    await client.end()
  }
}

/** Tries to connect. Returns the error, if any. */
async function tryConnect(url: string): Promise<(Error & { code?: string }) | undefined> {
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
  // If the connection is lost, the next query reports it.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** A port on loopback that is free now. */
export async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  await once(listener, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('The system assigned no port.')
  return address.port
}

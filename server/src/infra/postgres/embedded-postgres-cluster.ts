/** The files of the cluster: its data, the password, the pid file and the log. */
import { execFile } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { chown, lchown, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ProcessIdentity } from './embedded-postgres-processes.ts'
import { POSTGRES_ENVIRONMENT, type RunAs } from './embedded-postgres-programs.ts'

/** The name of the database and of its superuser. */
export const DATABASE_NAME = 'carillon'

const LOG_BYTES_MAX = 10 * 1024 * 1024
const LOG_LINES_SHOWN = 12

/** The paths of one data directory, without symbolic links. */
export type ClusterPaths = { dataDir: string; cluster: string; access: string; log: string; lock: string }

/** `postgres.json`: the password and port, the process that is to stop PostgreSQL, and others that use it. */
export type Access = { password: string; port?: number; owner?: Owner; guests?: Owner[] }
export type Owner = ProcessIdentity & { token: string }

/** The content of `postmaster.pid`, which a running server writes. `status` is `starting`, `ready`, `stopping` or empty. */
export type PidFile = { pid: number; port: number; status: string }

/** Creates the data directory, readable only by its owner. */
export function openDataDirectory(dataDir: string): ClusterPaths {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const real = realpathSync(dataDir)
  const within = (name: string) => join(real, name)
  return {
    dataDir: real,
    cluster: within('postgres'),
    access: within('postgres.json'),
    log: within('postgres.log'),
    lock: within('postgres.lock'),
  }
}

/** The content of `postgres.json`; undefined before the first start. */
export function readAccess(paths: ClusterPaths): Access | undefined {
  return existsSync(paths.access) ? (JSON.parse(readFileSync(paths.access, 'utf8')) as Access) : undefined
}

/** Writes `postgres.json` atomically and flushes it, because without the password the cluster cannot be used. */
export function saveAccess(paths: ClusterPaths, access: Access): void {
  const draft = `${paths.access}.new`
  writeFileSync(draft, `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(draft, paths.access)
}

/**
 * Creates the cluster in a temporary directory and renames it, so that an incomplete one is never used. Text is UTF-8, ordered by
 * code point on every platform.
 */
export async function createCluster(paths: ClusterPaths, programs: string, access: Access, runAs: RunAs, durable: boolean) {
  await removeDrafts(paths)
  // A new name each time, because an initdb whose parent was killed may still be writing to the last one.
  const draft = await mkdtemp(`${paths.cluster}.new-`)
  const cluster = join(draft, 'cluster')
  const password = join(draft, 'password')
  await mkdir(cluster, { mode: 0o700 })
  await writeFile(password, access.password, { mode: 0o600 })
  if (runAs.uid !== undefined && runAs.gid !== undefined) {
    for (const path of [draft, cluster, password]) await chown(path, runAs.uid, runAs.gid)
  }
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const login = [`--username=${DATABASE_NAME}`, '--auth=scram-sha-256', '--pwfile=../password']
  const parameters = ['-D', directoryArgument(cluster, runAs), ...locale, ...login, ...(durable ? [] : ['--no-sync'])]
  const options = { ...runAs, cwd: cluster, env: POSTGRES_ENVIRONMENT }
  await promisify(execFile)(join(programs, 'bin', 'initdb'), parameters, options).catch(({ stdout, stderr }) => {
    throw new Error(`PostgreSQL could not create its data in ${paths.cluster}:\n${lastLines(`${stdout}${stderr}`)}`)
  })
  await rename(cluster, paths.cluster)
  await removeDrafts(paths)
}

async function removeDrafts(paths: ClusterPaths): Promise<void> {
  const drafts = readdirSync(paths.dataDir).filter((name) => name.startsWith('postgres.new-'))
  for (const draft of drafts) await rm(join(paths.dataDir, draft), { recursive: true, force: true, maxRetries: 10 })
}

/**
 * The path of the data for the programs. Another user may not have access to the parent directories, so the programs use their
 * working directory, which `spawn` enters before it gives up root.
 */
export const directoryArgument = (cluster: string, runAs: RunAs) =>
  runAs.uid !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : cluster

/** Is there a cluster? Throws if it cannot be opened, because of another version or a missing password. */
export function hasCluster(paths: ClusterPaths, version: string): boolean {
  if (!existsSync(paths.cluster) || readdirSync(paths.cluster).length === 0) return false
  const major = version.split('.')[0]
  const marker = join(paths.cluster, 'PG_VERSION')
  const found = existsSync(marker) ? readFileSync(marker, 'utf8').trim() : undefined
  if (found === undefined) throw new Error(`${paths.cluster} contains no PostgreSQL data. Move it away and start again.`)
  if (found !== major) {
    throw new Error(
      `The data in ${paths.cluster} belongs to PostgreSQL ${found}, but the bundled version is ${major}. Dump and restore it.`,
    )
  }
  if (!existsSync(paths.access)) throw new Error(`${paths.access}, which contains the password, is missing. Restore it from a backup.`)
  return true
}

/** Changes the owner of the data if root copied or restored it, because PostgreSQL only opens data of its own user. */
export async function chownCluster(paths: ClusterPaths, { uid, gid }: RunAs): Promise<void> {
  if (uid === undefined || gid === undefined || statSync(paths.cluster).uid === uid) return
  const inside = readdirSync(paths.cluster, { recursive: true, encoding: 'utf8' }).map((path) => join(paths.cluster, path))
  // The directory is last, because its owner shows that all files are done.
  for (const path of [...inside, paths.cluster]) await lchown(path, uid, gid)
}

/** Undefined if there is none, or it is empty. */
export function readPidFile(paths: ClusterPaths): PidFile | undefined {
  const file = join(paths.cluster, 'postmaster.pid')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const pid = Number(lines[0])
  return pid > 0 ? { pid, port: Number(lines[3]), status: lines[7]?.trim() ?? '' } : undefined
}

/**
 * Replaces the process id, which may belong to another program by now, with ours, which PostgreSQL regards as stale in its parent.
 * The file is not removed, because PostgreSQL uses it to detect children of the dead server that still write to the data.
 */
export function replacePid(paths: ClusterPaths): void {
  const file = join(paths.cluster, 'postmaster.pid')
  if (!readPidFile(paths)) {
    rmSync(file, { force: true })
    return
  }
  const [, ...rest] = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, [process.pid, ...rest].join('\n'))
}

/** The Unix socket of the server in the directory of its data. */
export const socketName = (port: number) => `.s.PGSQL.${port}`

/**
 * Deletes the sockets of a killed server. PostgreSQL refuses to start on the same port while the process id in the lock of the socket
 * exists: another process may have it by now, or the parent of the killed one has not reaped it.
 */
export function removeSockets(paths: ClusterPaths): void {
  const sockets = readdirSync(paths.cluster).filter((name) => name.startsWith('.s.PGSQL.'))
  for (const name of sockets) rmSync(join(paths.cluster, name), { force: true })
}

/** Opens the log for appending. `lastLines` reads the last lines that were written since. */
export function openLog(paths: ClusterPaths) {
  if ((statSync(paths.log, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX) renameSync(paths.log, `${paths.log}.1`)
  const descriptor = openSync(paths.log, 'a', 0o600)
  const start = fstatSync(descriptor).size
  return {
    descriptor,
    lastLines: () => lastLines(readFileSync(paths.log).subarray(start).toString()),
    [Symbol.dispose]: () => closeSync(descriptor),
  }
}

const lastLines = (text: string) => text.trim().split('\n').slice(-LOG_LINES_SHOWN).join('\n')

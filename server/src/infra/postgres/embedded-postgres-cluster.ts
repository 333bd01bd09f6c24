/** The cluster on disk and the files beside it: how to get in, what PostgreSQL says of itself, and its log. */
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
import type { ProcessMark } from './embedded-postgres-processes.ts'
import { POSTGRES_ENVIRONMENT, type RunAs } from './embedded-postgres-programs.ts'

/** The superuser, and the name of the database. */
export const DATABASE_NAME = 'carillon'

const LOG_BYTES_MAX = 10 * 1024 * 1024
const LOG_LINES_SHOWN = 12

/** The paths of one data directory, without symbolic links. */
export type ClusterDirectory = { dataDir: string; cluster: string; access: string; log: string; lock: string }

/** `postgres.json`: how to get in, and which process answers for stopping PostgreSQL. */
export type Access = { password: string; port?: number; owner?: Owner }
export type Owner = ProcessMark & { token: string }

/** What a running server writes to `postmaster.pid`. `status` is `starting`, `ready`, `stopping` or empty. */
export type PidFile = { pid: number; port: number; status: string }

/** Makes the data directory, which only its owner may enter. */
export function openPlace(dataDir: string): ClusterDirectory {
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

/** Undefined before the first start. */
export function readAccess(place: ClusterDirectory): Access | undefined {
  return existsSync(place.access) ? (JSON.parse(readFileSync(place.access, 'utf8')) as Access) : undefined
}

/** On disk, whole, before it returns: without the password the cluster is closed to us. */
export function saveAccess(place: ClusterDirectory, access: Access): void {
  const draft = `${place.access}.new`
  writeFileSync(draft, `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(draft, place.access)
}

/**
 * Makes the cluster beside its final name and renames it, so that a half-made one is never mistaken for data. Text is
 * UTF-8, ordered by code point in every version of every platform.
 */
export async function createCluster(place: ClusterDirectory, programs: string, access: Access, runAs: RunAs, durable: boolean) {
  await removeDrafts(place)
  // A new name each time: an initdb whose parent was killed may still be writing to its own.
  const draft = await mkdtemp(`${place.cluster}.new-`)
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
    throw new Error(`PostgreSQL could not create its data in ${place.cluster}:\n${lastLines(`${stdout}${stderr}`)}`)
  })
  await rename(cluster, place.cluster)
  await removeDrafts(place)
}

async function removeDrafts(place: ClusterDirectory): Promise<void> {
  const drafts = readdirSync(place.dataDir).filter((name) => name.startsWith('postgres.new-'))
  for (const draft of drafts) await rm(join(place.dataDir, draft), { recursive: true, force: true, maxRetries: 10 })
}

/**
 * How the programs are told where the data is. Another user may not be able to walk there, so that user is put into the
 * directory (spawn enters it before it gives up root) and finds the data under its own feet.
 */
export const directoryArgument = (cluster: string, runAs: RunAs) =>
  runAs.uid !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : cluster

/** Whether there is a cluster. Throws when there is one that these programs or this data directory cannot open. */
export function hasCluster(place: ClusterDirectory, version: string): boolean {
  if (!existsSync(place.cluster) || readdirSync(place.cluster).length === 0) return false
  const major = version.split('.')[0]
  const marker = join(place.cluster, 'PG_VERSION')
  const found = existsSync(marker) ? readFileSync(marker, 'utf8').trim() : undefined
  if (found === undefined) throw new Error(`${place.cluster} holds no PostgreSQL data: move it away and start again.`)
  if (found !== major) {
    throw new Error(`The data in ${place.cluster} is of PostgreSQL ${found} and the bundled one is ${major}: dump and restore it.`)
  }
  if (!existsSync(place.access)) throw new Error(`${place.access} is missing, and with it the password: restore it from a backup.`)
  return true
}

/** Data that root copied or restored belongs to root, and PostgreSQL opens only what is its user’s own. */
export async function giveCluster(place: ClusterDirectory, { uid, gid }: RunAs): Promise<void> {
  if (uid === undefined || gid === undefined || statSync(place.cluster).uid === uid) return
  const inside = readdirSync(place.cluster, { recursive: true, encoding: 'utf8' }).map((path) => join(place.cluster, path))
  // The directory itself goes last: it is what says that all of them are done.
  for (const path of [...inside, place.cluster]) await lchown(path, uid, gid)
}

/** Undefined when there is none, or it says nothing. */
export function readPidFile(place: ClusterDirectory): PidFile | undefined {
  const file = join(place.cluster, 'postmaster.pid')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const pid = Number(lines[0])
  return pid > 0 ? { pid, port: Number(lines[3]), status: lines[7]?.trim() ?? '' } : undefined
}

/**
 * Puts our number, which a child of ours takes for stale, in place of one that may by now be another program’s. The file
 * is not removed, because PostgreSQL reads from it whether children of the dead server still write to the data.
 */
export function disownPidFile(place: ClusterDirectory): void {
  const file = join(place.cluster, 'postmaster.pid')
  if (!readPidFile(place)) {
    rmSync(file, { force: true })
    return
  }
  const [, ...rest] = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, [process.pid, ...rest].join('\n'))
}

/** Opens the log to append to it: its descriptor, and a way to read the last of what was written since. */
export function openLog(place: ClusterDirectory) {
  if ((statSync(place.log, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX) renameSync(place.log, `${place.log}.1`)
  const descriptor = openSync(place.log, 'a', 0o600)
  const start = fstatSync(descriptor).size
  return {
    descriptor,
    lastLines: () => lastLines(readFileSync(place.log).subarray(start).toString()),
    [Symbol.dispose]: () => closeSync(descriptor),
  }
}

const lastLines = (text: string) => text.trim().split('\n').slice(-LOG_LINES_SHOWN).join('\n')

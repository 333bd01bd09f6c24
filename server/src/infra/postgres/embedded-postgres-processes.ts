/**
 * Identifies processes of this machine. A process id is not enough, because ids are reused (always, in a container that restarts).
 * Reads `/proc` on Linux and runs `ps` on macOS.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** The id and start time of a process, which together are unique. The time is opaque text. */
export type ProcessIdentity = { pid: number; started: string }

export const POLL_MS = 25

const LOCK_WAIT_MS = 600_000

/** Returns undefined if reading fails, because the process has ended or cannot be inspected. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const ps = (pid: number, column: string) =>
  execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** Identifies the running process `pid`. Undefined if there is none; a zombie counts as dead. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (process.platform !== 'linux') {
    const state = attempt(() => ps(pid, 'state'))
    const started = state && !state.startsWith('Z') ? attempt(() => ps(pid, 'lstart')) : undefined
    return started ? { pid, started } : undefined
  }
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (!stat) return undefined
  // The name in parentheses can contain anything, so fields are counted from its end. The first is the state, the twentieth the
  // start in ticks since boot.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return { pid, started: `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}` }
}

/** Is this process still running? */
export const isAlive = (identity: ProcessIdentity) => identify(identity.pid)?.started === identity.started

/** Identifies the current process. */
export function identifySelf(): ProcessIdentity {
  const identity = identify(process.pid)
  if (!identity) throw new Error('The process cannot find itself in `/proc` or `ps`. Mount `/proc`, or set DATABASE_URL.')
  return identity
}

/** The name of the program that process `pid` runs, such as `postgres`. */
export const programOf = (pid: number) =>
  attempt(() => (process.platform === 'linux' ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : basename(ps(pid, 'comm'))))

/** Is `directory` the working directory of process `pid`? Undefined if unknown (macOS, a container without ptrace). */
export function worksIn(pid: number, directory: string): boolean | undefined {
  const found = attempt(() => statSync(`/proc/${pid}/cwd`))
  const expected = statSync(directory)
  return found && found.dev === expected.dev && found.ino === expected.ino
}

/** Waits for a process to end. False if it is still running after `limitMs` milliseconds. */
export async function hasEnded(identity: ProcessIdentity, limitMs: number): Promise<boolean> {
  for (let waitedMs = 0; isAlive(identity); waitedMs += POLL_MS) {
    if (waitedMs >= limitMs) return false
    await pause(POLL_MS)
  }
  return true
}

/** Runs `work` under the lock `file`, which only one process can hold. The lock of a dead process is removed. */
export async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify(identifySelf()))
  try {
    for (let waitedMs = 0; !take(draft, file); waitedMs += POLL_MS) {
      if (waitedMs >= LOCK_WAIT_MS) throw new Error(`Another process holds ${file}. Stop that process and start again.`)
      await pause(POLL_MS)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** Tries to take the lock. A link is atomic, so a crash cannot leave an empty lock. */
function take(draft: string, file: string): boolean {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const holder = attempt(() => readFileSync(file, 'utf8'))
  if (holder !== undefined && !isAlive(JSON.parse(holder) as ProcessIdentity)) rmSync(file, { force: true })
  return false
}

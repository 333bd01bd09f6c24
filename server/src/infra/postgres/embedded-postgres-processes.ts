/**
 * Processes of this machine, as far as the embedded PostgreSQL needs to know them: a number is not enough, because
 * numbers come back (always, in a container that restarts). Linux answers from `/proc`, macOS from `ps`.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** A process and the moment it started, an opaque text, which together name it for good. */
export type ProcessMark = { pid: number; started: string }

export const POLL_MS = 25

const LOCK_WAIT_MS = 600_000

/** Runs one question about a process; undefined when the process is gone or does not let itself be asked. */
function ask<T>(question: () => T): T | undefined {
  try {
    return question()
  } catch {
    return undefined
  }
}

const ps = (pid: number, column: string) =>
  execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** The mark of the live process `pid`; undefined when there is none. A zombie counts as dead. */
export function markOf(pid: number): ProcessMark | undefined {
  if (process.platform !== 'linux') {
    const state = ask(() => ps(pid, 'state'))
    const started = state && !state.startsWith('Z') ? ask(() => ps(pid, 'lstart')) : undefined
    return started ? { pid, started } : undefined
  }
  const stat = ask(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (!stat) return undefined
  // The name in parentheses may hold anything, so fields are counted from its end: the state is the first, the start
  // in ticks since boot the twentieth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return { pid, started: `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}` }
}

/** Whether this very process still runs. */
export const isAlive = (mark: ProcessMark) => markOf(mark.pid)?.started === mark.started

/** The mark of the process that asks. */
export function ownMark(): ProcessMark {
  const mark = markOf(process.pid)
  if (!mark) throw new Error('The process cannot find itself in `/proc` or `ps`: mount `/proc`, or set DATABASE_URL.')
  return mark
}

/** The name of the program that process `pid` runs, such as `postgres`. */
export const programOf = (pid: number) =>
  ask(() => (process.platform === 'linux' ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : basename(ps(pid, 'comm'))))

/** Whether process `pid` works in `directory`; undefined where that cannot be seen (macOS, a container without ptrace). */
export function worksIn(pid: number, directory: string): boolean | undefined {
  const place = ask(() => statSync(`/proc/${pid}/cwd`))
  const expected = statSync(directory)
  return place && place.dev === expected.dev && place.ino === expected.ino
}

/** Waits for `mark` to end. False when it still runs after `limitMs` milliseconds. */
export async function hasEnded(mark: ProcessMark, limitMs: number): Promise<boolean> {
  for (let waitedMs = 0; isAlive(mark); waitedMs += POLL_MS) {
    if (waitedMs >= limitMs) return false
    await pause(POLL_MS)
  }
  return true
}

/** Runs `work` while no other process runs work under the same lock `file`. A dead holder's lock is taken over. */
export async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify(ownMark()))
  try {
    for (let waitedMs = 0; !take(draft, file); waitedMs += POLL_MS) {
      if (waitedMs >= LOCK_WAIT_MS) throw new Error(`Another process holds ${file}: stop it and start again.`)
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

/** A link appears whole or not at all, so that a crash cannot leave a lock that names nobody. */
function take(draft: string, file: string): boolean {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const holder = ask(() => readFileSync(file, 'utf8'))
  if (holder !== undefined && !isAlive(JSON.parse(holder) as ProcessMark)) rmSync(file, { force: true })
  return false
}

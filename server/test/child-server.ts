/** The server as a separate process, which a test can stop or kill at any time. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateKey } from '../src/modules/keys/index.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type ChildServer = AsyncDisposable & {
  /** The URL of the server. Empty for a worker. */
  url: string
  pid: number
  /** Sends a signal, and returns how the process ended. Sends nothing to a process that has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<{ code: number | null; signal: string | null }>
  /** The log so far. */
  log(): string
}

export type ChildOptions = { role?: 'all' | 'api' | 'worker'; dataDir: string; env?: Record<string, string> }

/** The environment that the server needs besides its settings. */
export const childEnvironment = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }

/** Generates a secret key, to be passed to servers as a bootstrap key. */
export const someSecretKey = (): string => generateKey('sk_', randomBytes)

/** The bundle of a test run (`server-bundle.ts`), or the sources. */
const entry = () => process.env.CARILLON_TEST_SERVER ?? fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Starts a server without rate limits, and waits until it is ready. */
export async function startChild({ role = 'all', dataDir, env = {} }: ChildOptions): Promise<ChildServer> {
  const child = spawn(process.execPath, [entry(), role], {
    env: { ...childEnvironment, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', RATE_READ: '0', RATE_WRITE: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  const output = collect(child)
  const end = (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal)
    return ended
  }
  // A worker has no URL, so its start is not awaited.
  const url =
    role === 'worker'
      ? ''
      : await Promise.race([
          output.until(/ready at (\S+);/),
          ended.then(() => Promise.reject(new Error(`The server ended before it was ready:\n${output.text()}`))),
        ])
  return {
    url,
    pid: child.pid as number,
    end,
    log: output.text,
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
    },
  }
}

function collect(child: ChildProcess) {
  let text = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text += chunk
      for (const listener of listeners) listener()
    })
  }
  const until = (pattern: RegExp) =>
    new Promise<string>((resolve) => {
      listeners.add(() => {
        const found = pattern.exec(text)?.[1]
        if (found !== undefined) resolve(found)
      })
    })
  return { text: () => text, until }
}

/** A directory that is deleted when it is disposed of. */
export async function temporaryDir(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(await temporaryFolder(), 'carillon-test-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** The URL of the embedded PostgreSQL of a data directory. */
export function embeddedUrl(dataDir: string): string {
  const { port, password } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))
  return `postgres://carillon:${password}@127.0.0.1:${port}/carillon?host=${encodeURIComponent(join(dataDir, 'postgres'))}`
}

/** The processes of the embedded PostgreSQL of a data directory: the postmaster and its children. */
export function postgresProcesses(dataDir: string): number[] {
  const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === postmaster)
  return [postmaster, ...children]
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    // The process has ended in the meantime.
    return undefined
  }
}

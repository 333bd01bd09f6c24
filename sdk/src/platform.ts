/** What a client takes from where it runs: the time, random values, and variables of the environment. */

export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** Runs a function once a time has passed. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void
}

/** Longer timers run at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, TIMER_MS_MAX))
    return () => clearTimeout(timer)
  },
}

/** Waits. Rejects with the reason of the signal if that ends the wait. */
export const sleep = (clock: Clock, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const end = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', end)
      resolve()
    })
    signal?.addEventListener('abort', end, { once: true })
  })

/** 128 random bits. Node 18 has no `crypto` without an option, and then `Math.random` must do. */
export function randomKey(): string {
  const bytes = new Uint8Array(16)
  if (globalThis.crypto) globalThis.crypto.getRandomValues(bytes)
  else for (const at of bytes.keys()) bytes[at] = Math.random() * 256
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

type Platform = {
  process?: { env?: Record<string, string | undefined> }
  window?: { document?: object }
  WorkerGlobalScope?: unknown
  navigator?: { userAgent?: string }
  location?: object
}

/** A variable of the environment; undefined where there is none, such as in a browser, and if it is empty. */
export function variable(name: string): string | undefined {
  const { process: own } = globalThis as Platform
  try {
    return own?.env?.[name] || undefined
  } catch {
    // Deno throws if the program may not read its environment.
    return undefined
  }
}

/** Whether this is a page, or a worker of one. Deno and edge runtimes have the globals of a worker too, but name themselves. */
export function isBrowser(): boolean {
  const { window, WorkerGlobalScope, navigator } = globalThis as Platform
  if (window?.document !== undefined) return true
  return WorkerGlobalScope !== undefined && navigator?.userAgent?.startsWith('Mozilla/') === true
}

/** Whether a path alone is an address: that of the page or the worker is completed. */
export const hasOrigin = (): boolean => (globalThis as Platform).location !== undefined

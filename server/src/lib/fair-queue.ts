/** A queue that serves keys, such as projects, in turn: those first that have the least at work. Pure. */

export type FairQueue<K, J> = {
  readonly size: number
  /** How many jobs of a key wait. */
  waitingOf(key: K): number
  push(key: K, job: J): void
  /** The next job to begin, or undefined. Call `done` when it is over. */
  take(): { key: K; job: J } | undefined
  done(key: K): void
  /** Puts back a job that was taken and not begun. It is the next one. */
  untake(key: K, job: J): void
}

/** `servedAt` is 0 until a job of the key was taken. */
type Line<J> = { waiting: J[]; running: number; servedAt: number }

/** At most `perKey` jobs of a key are at work at the same time. */
export function createFairQueue<K, J>(perKey = Number.POSITIVE_INFINITY): FairQueue<K, J> {
  const lines = new Map<K, Line<J>>()
  let size = 0
  let served = 0
  const lineOf = (key: K): Line<J> => {
    const line = lines.get(key) ?? { waiting: [], running: 0, servedAt: 0 }
    lines.set(key, line)
    return line
  }
  return {
    get size() {
      return size
    },
    waitingOf: (key) => lines.get(key)?.waiting.length ?? 0,
    push(key, job) {
      lineOf(key).waiting.push(job)
      size++
    },
    take() {
      let chosen: [K, Line<J>] | undefined
      for (const entry of lines) {
        const [, line] = entry
        if (line.waiting.length > 0 && line.running < perKey && (!chosen || precedes(line, chosen[1]))) chosen = entry
      }
      if (!chosen) return undefined
      const [key, line] = chosen
      line.running++
      line.servedAt = ++served
      size--
      return { key, job: line.waiting.shift() as J }
    },
    untake(key, job) {
      const line = lineOf(key)
      line.running--
      line.servedAt = 0
      line.waiting.unshift(job)
      size++
    },
    done(key) {
      const line = lineOf(key)
      line.running--
      if (line.running === 0 && line.waiting.length === 0) lines.delete(key)
    },
  }
}

const precedes = <J>(a: Line<J>, b: Line<J>) => a.running < b.running || (a.running === b.running && a.servedAt < b.servedAt)

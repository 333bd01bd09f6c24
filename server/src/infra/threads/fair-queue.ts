/** A queue that serves projects in turn, those first that have the least at work. Pure. */

export type FairQueue<K, J> = {
  readonly size: number
  /** How many jobs of a project wait. */
  waitingOf(key: K): number
  push(key: K, job: J): void
  /** The next job to begin, or undefined. Call `done` when it is over. */
  take(): { key: K; job: J } | undefined
  done(key: K): void
}

type Line<J> = { waiting: J[]; running: number }

export function createFairQueue<K, J>(): FairQueue<K, J> {
  // In the order in which they were served, longest ago first.
  const lines = new Map<K, Line<J>>()
  let size = 0
  const lineOf = (key: K): Line<J> => {
    const line = lines.get(key) ?? { waiting: [], running: 0 }
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
        if (line.waiting.length > 0 && (!chosen || line.running < chosen[1].running)) chosen = entry
        if (chosen && chosen[1].running === 0) break
      }
      if (!chosen) return undefined
      const [key, line] = chosen
      lines.delete(key)
      lines.set(key, line)
      line.running++
      size--
      return { key, job: line.waiting.shift() as J }
    },
    done(key) {
      const line = lineOf(key)
      line.running--
      if (line.running === 0 && line.waiting.length === 0) lines.delete(key)
    },
  }
}

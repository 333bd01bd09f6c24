/** A queue that serves keys, such as projects, in turn: those first that have the least at work. Pure. */
import TinyQueue from 'tinyqueue'

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

/** `servedAt` is 0 until a job of the key was taken. `place` is its entry in the heap, absent while no job of the key can begin. */
type Line<K, J> = { key: K; openedAt: number; waiting: J[]; running: number; servedAt: number; place?: Place<K, J> }

/** An entry of the heap: a key, and the values that order it. Older entries of the same key are stale. */
type Place<K, J> = { line: Line<K, J>; running: number; servedAt: number }

/** Places that no longer count are dropped when there are so many more of them than of keys. */
const STALE_MAX = 100

/** At most `perKey` jobs of a key are at work at the same time. With n keys waiting, a job costs O(log n). */
export function createFairQueue<K, J>(perKey = Number.POSITIVE_INFINITY): FairQueue<K, J> {
  const lines = new Map<K, Line<K, J>>()
  let places = new TinyQueue<Place<K, J>>([], compare)
  let size = 0
  let served = 0
  let opened = 0
  const lineOf = (key: K): Line<K, J> => {
    const known = lines.get(key)
    if (known) return known
    const line = { key, openedAt: ++opened, waiting: [], running: 0, servedAt: 0 }
    lines.set(key, line)
    return line
  }
  const counts = (place: Place<K, J>) => place.line.place === place
  /** Gives a line the place that its turn depends on now. */
  const enter = (line: Line<K, J>) => {
    delete line.place
    if (line.waiting.length === 0 || line.running >= perKey) return
    line.place = { line, running: line.running, servedAt: line.servedAt }
    places.push(line.place)
    if (places.length > 2 * lines.size + STALE_MAX) places = new TinyQueue(places.data.filter(counts), compare)
  }
  return {
    get size() {
      return size
    },
    waitingOf: (key) => lines.get(key)?.waiting.length ?? 0,
    push(key, job) {
      const line = lineOf(key)
      line.waiting.push(job)
      size++
      if (!line.place) enter(line)
    },
    take() {
      let place = places.pop()
      while (place && !counts(place)) place = places.pop()
      if (!place) return undefined
      const { line } = place
      const job = line.waiting.shift() as J
      line.running++
      line.servedAt = ++served
      size--
      enter(line)
      return { key: line.key, job }
    },
    untake(key, job) {
      const line = lineOf(key)
      line.running--
      line.servedAt = 0
      line.waiting.unshift(job)
      size++
      enter(line)
    },
    done(key) {
      const line = lineOf(key)
      line.running--
      if (line.running === 0 && line.waiting.length === 0) lines.delete(key)
      else enter(line)
    },
  }
}

/** Those with the least at work come first, of these the ones served longest ago, of those never served the ones that came first. */
const compare = <K, J>(a: Place<K, J>, b: Place<K, J>): number =>
  a.running - b.running || a.servedAt - b.servedAt || a.line.openedAt - b.line.openedAt

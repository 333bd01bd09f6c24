import { ApiError } from '../../lib/errors.ts'

const RETRY_AFTER_SECONDS = 5

/** Counts a stream until the signal aborts. Throws 429 if there are too many. */
export type OpenStream<K> = (of: K, signal: AbortSignal) => void

/** Limits the open streams of a process, in total and for each user, member or key, which `who` names in the error. */
export function createStreamLimits<K>({ max, maxOfEach, who }: { max: number; maxOfEach: number; who: string }): OpenStream<K> {
  const ofEach = new Map<K, number>()
  let all = 0
  return (of, signal) => {
    if (signal.aborted) return
    const own = ofEach.get(of) ?? 0
    if (own >= maxOfEach) throw tooMany(`${who} may have at most ${maxOfEach} streams open. Close one first.`)
    if (all >= max) throw tooMany(`Too many streams are open. Retry after ${RETRY_AFTER_SECONDS} seconds.`)
    ofEach.set(of, own + 1)
    all++
    const leave = () => {
      const left = (ofEach.get(of) ?? 1) - 1
      if (left === 0) ofEach.delete(of)
      else ofEach.set(of, left)
      all--
    }
    signal.addEventListener('abort', leave, { once: true })
  }
}

const tooMany = (message: string) => new ApiError('rate_limited', message, { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } })

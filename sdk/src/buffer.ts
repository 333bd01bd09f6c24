/** Events that are sent together. */
import type { components } from './api.ts'
import type { Client } from './client.ts'
import { CarillonError } from './error.ts'
import { type Clock, randomKey, systemClock } from './platform.ts'

export type EventInput = components['schemas']['EventInput']

/**
 * An event that was refused. It may have been stored all the same, if the reply of a try was lost. It has an `event_id`, so that it is stored
 * once if it is tracked again within 30 days, and a `created_at`, so that it counts from when it was tracked first.
 */
export type RefusedEvent = { event: EventInput; error: CarillonError }

export type BufferOptions = {
  /** Called with the events that were refused, after the retries of the client. It must not throw. */
  onRefused: (refused: RefusedEvent[]) => void
  /** For tests. */
  clock?: Clock
}

export type EventBuffer = {
  /** Takes an event, to be sent within a second. It gets a random `event_id` if it has none, and the time as `created_at`. */
  track(event: EventInput): void
  /** Sends what waits. Resolves once every event that was tracked before is stored, or was passed to `onRefused`. */
  flush(): Promise<void>
}

/** As many as a request may have. */
const EVENTS_MAX = 100
/** The server refuses more than 1 MiB, brackets and commas included. */
const BYTES_MAX = 1_000_000
const WAIT_MS = 1_000
/** While the server is away, no more are kept. */
const KEPT_MAX = 10_000

/**
 * Creates a buffer of events, which are sent in order: 100 at once, or those of a second. Call `flush` before the program ends. For
 * servers: what waits is lost when a page is left.
 */
export function bufferEvents(client: Client, { onRefused, clock = systemClock }: BufferOptions): EventBuffer {
  let waiting: EventInput[] = []
  let bytes = 0
  let kept = 0
  let cancel: (() => void) | undefined
  let sent: Promise<void> = Promise.resolve()

  const flush = (): Promise<void> => {
    cancel?.()
    cancel = undefined
    const batch = waiting
    waiting = []
    bytes = 0
    if (batch.length === 0) return sent
    const send = () =>
      sendAll(client, batch, onRefused).finally(() => {
        kept -= batch.length
      })
    // One after the other, also if `onRefused` threw.
    sent = sent.then(send, send)
    return sent
  }
  const track = (event: EventInput): void => {
    // A copy, because the caller may change the object.
    const own = JSON.parse(JSON.stringify(event)) as EventInput
    own.event_id ??= randomKey()
    own.created_at ??= new Date(clock.now()).toISOString()
    if (kept >= KEPT_MAX) {
      onRefused([{ event: own, error: tooMany() }])
      return
    }
    const length = new TextEncoder().encode(JSON.stringify(own)).length + 1
    if (bytes + length > BYTES_MAX) void flush()
    waiting.push(own)
    bytes += length
    kept++
    if (waiting.length >= EVENTS_MAX) void flush()
    else cancel ??= clock.after(WAIT_MS, () => void flush())
  }
  return { track, flush }
}

const tooMany = () =>
  new CarillonError({
    status: 0,
    body: null,
    requestId: null,
    code: 'buffer_full',
    message: `More than ${KEPT_MAX} events wait to be sent.`,
  })

/** Sends events. The server refuses a request as a whole, so it gets those again that are not at fault. */
async function sendAll(client: Client, batch: EventInput[], onRefused: BufferOptions['onRefused']): Promise<void> {
  try {
    await client.post('/api/client/events', { body: batch })
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error
    const refused = refusedBy(error, batch.length)
    const left = batch.filter((_, at) => !refused.has(at))
    onRefused(batch.flatMap((event, at) => (refused.has(at) ? { event, error } : [])))
    if (left.length > 0) await sendAll(client, left, onRefused)
  }
}

/** The indexes of the events that an error is about: those that its parameters name, such as `[3].name`, or else all. */
function refusedBy({ faults }: CarillonError, count: number): Set<number> {
  const indexes = faults
    .flatMap(({ param = '' }) => /^\[(\d+)\]/.exec(param)?.[1] ?? [])
    .map(Number)
    .filter((at) => at < count)
  return new Set(indexes.length > 0 ? indexes : Array.from({ length: count }, (_, at) => at))
}

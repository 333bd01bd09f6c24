/** Puts webhook events into the order in which they happened. Deliveries are made at the same time and arrive in any order. */
import type { Clock } from '../lib/clock.ts'

/** How long an event waits for those before it. */
export const HELD_MS = 300

/** An event as `carillon listen` received it. */
export type ReceivedEvent = { id: string; timestamp: string; body: string }

const isBefore = (a: ReceivedEvent, b: ReceivedEvent) => (a.timestamp === b.timestamp ? a.id < b.id : a.timestamp < b.timestamp)

/** Shows each event after those that happened before it and arrived within `HELD_MS`. Disposing shows the events that are still held. */
export function inOrder(show: (event: ReceivedEvent) => void, { sleep }: Pick<Clock, 'sleep'>) {
  const stopping = new AbortController()
  let waiting: ReceivedEvent[] = []
  let running: Promise<void> | undefined
  const run = async () => {
    while (waiting.length > 0) {
      const last = waiting.reduce((last, event) => (isBefore(last, event) ? event : last))
      await sleep(HELD_MS, stopping.signal)
      const due = stopping.signal.aborted ? waiting : waiting.filter((event) => !isBefore(last, event))
      waiting = waiting.filter((event) => !due.includes(event))
      for (const event of due.toSorted((a, b) => (isBefore(a, b) ? -1 : 1))) show(event)
    }
    running = undefined
  }
  return {
    add(event: ReceivedEvent): void {
      waiting.push(event)
      running ??= run()
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stopping.abort()
      await running
    },
  }
}

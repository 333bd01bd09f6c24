/** The connection to the stream of a project: one for all that is watched, and open again after it was lost. */
import { describe, expect, test } from 'vitest'
import { createConnection, SILENCE_MS } from '../src/parts/live/connection.ts'
import { eventsIn } from '../src/parts/live/events.ts'

test('events are read from a text in parts, without comments', () => {
  const whole = ':\n\nid: 1\nevent: sandbox\ndata: {"topic":"sandbox","state":{"latest_id":3}}\n\n'
  expect(eventsIn(`${whole}id: 2\nevent: sa`)).toEqual({
    events: [{ event: 'sandbox', data: { topic: 'sandbox', state: { latest_id: 3 } } }],
    rest: 'id: 2\nevent: sa',
  })
})

const turn = () => new Promise(setImmediate)
/** As many as it takes to open and to open again. */
const turns = async () => {
  for (let count = 0; count < 5; count++) await turn()
}

/** A server that answers when told. */
function stage() {
  const opened: { topics: string[]; signal: AbortSignal; push(text: string): void; end(): void }[] = []
  const waits: number[] = []
  const silences: (() => void)[] = []
  let status = 200
  let isSeen = true
  const connection = createConnection({
    async open(topics, signal) {
      const stream = new TransformStream<string, string>()
      const writer = stream.writable.getWriter()
      writer.closed.catch(() => undefined)
      opened.push({ topics, signal, push: (text) => void writer.write(text), end: () => void writer.close() })
      return { status, text: stream.readable as unknown as AsyncIterable<string> }
    },
    async wait(ms) {
      if (ms === SILENCE_MS) return new Promise((resolve) => silences.push(resolve))
      if (ms >= 1000) waits.push(ms)
      await turn()
    },
    isSeen: () => isSeen,
  })
  return {
    connection,
    opened,
    waits,
    /** Nothing has come for so long since the last part that was read. */
    beSilent: () => silences.at(-1)?.(),
    /** What the server answers from now on. */
    answer: (next: number) => {
      status = next
    },
    see: (seen: boolean) => {
      isSeen = seen
      connection.refresh()
    },
  }
}

const event = (topic: string, state: unknown) => `id: 1\nevent: x\ndata: ${JSON.stringify({ topic, state })}\n\n`

describe('a connection', () => {
  test('is one for all topics, gives each its state, and one that comes later what is known', async () => {
    const { connection, opened } = stage()
    const seen: unknown[][] = [[], [], []]
    connection.watch('campaign:1', (state) => seen[0]?.push(state))
    connection.watch('sandbox', (state) => seen[1]?.push(state))
    await turns()
    expect(opened.filter(({ signal }) => !signal.aborted).map(({ topics }) => topics)).toEqual([['campaign:1', 'sandbox']])
    expect([connection.isLive('sandbox'), connection.isLive('messages')]).toEqual([true, false])
    opened.at(-1)?.push(event('campaign:1', 'a') + event('sandbox', 'b').slice(0, 20))
    opened.at(-1)?.push(event('sandbox', 'b').slice(20))
    await turns()
    connection.watch('sandbox', (state) => seen[2]?.push(state))
    expect(seen).toEqual([['a'], ['b'], ['b']])
    expect(opened.filter(({ signal }) => !signal.aborted)).toHaveLength(1)
  })

  test('opens again after it was lost, and is not live meanwhile', async () => {
    const { connection, opened, waits } = stage()
    const changes: boolean[] = []
    connection.onChange(() => changes.push(connection.isLive('sandbox')))
    connection.watch('sandbox', () => undefined)
    await turns()
    opened.at(-1)?.end()
    await turns()
    expect(changes).toEqual([true, false, true])
    expect([opened.length, waits]).toEqual([2, [1000]])
  })

  test('waits longer after each failure', async () => {
    const { connection, answer, waits } = stage()
    answer(503)
    const leave = connection.watch('sandbox', () => undefined)
    for (let count = 0; count < 20; count++) await turn()
    leave()
    expect(waits.slice(0, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  })

  test('does not open again where it is refused', async () => {
    const { connection, answer, opened } = stage()
    answer(403)
    connection.watch('sandbox', () => undefined)
    await turns()
    expect([opened.length, connection.isLive('sandbox')]).toEqual([1, false])
  })

  test('is opened again when the session goes on', async () => {
    const { connection, answer, opened } = stage()
    answer(401)
    connection.watch('sandbox', () => undefined)
    await turns()
    answer(200)
    connection.reopen()
    await turns()
    expect([opened.length, connection.isLive('sandbox')]).toEqual([2, true])
  })

  test('is given up and opened again when not even heartbeats come', async () => {
    const { connection, opened, beSilent } = stage()
    const seen: unknown[] = []
    connection.watch('sandbox', (state) => seen.push(state))
    await turns()
    opened[0]?.push(':\n\n')
    await turns()
    expect([opened.length, connection.isLive('sandbox')]).toEqual([1, true])
    beSilent()
    await turns()
    expect([opened.length, opened[0]?.signal.aborted, connection.isLive('sandbox')]).toEqual([2, true, true])
    opened[1]?.push(event('sandbox', 'a'))
    await turns()
    expect(seen).toEqual(['a'])
  })

  test('is closed while the page is hidden, and when nothing is watched', async () => {
    const { connection, opened, see } = stage()
    const leave = connection.watch('sandbox', () => undefined)
    await turns()
    see(false)
    expect([opened[0]?.signal.aborted, connection.isLive('sandbox')]).toEqual([true, false])
    see(true)
    await turns()
    expect(connection.isLive('sandbox')).toBe(true)
    leave()
    expect([opened[1]?.signal.aborted, connection.isLive('sandbox')]).toEqual([true, false])
  })
})

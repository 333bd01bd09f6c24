import { expect, test } from 'vitest'
import { whileTimePasses } from '../../../test/failing-saves.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import { createLog } from './log.ts'
import { saveTogether } from './save-together.ts'

const AWAY = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const ITEMS = Array.from({ length: 20 }, (_, at) => at)

/** Saves over a database that refuses these, after it was away for some tries. */
function saves({ refused = [], away = 0 }: { refused?: number[]; away?: number }) {
  const clock = createTestClock()
  const saved: number[] = []
  let tries = 0
  const save = async (items: number[]) => {
    if (tries++ < away) throw AWAY
    if (items.some((item) => refused.includes(item))) throw new Error('refused')
    saved.push(...items)
  }
  const ctx = { clock, log: createLog('error', { write: () => undefined }) }
  const run = (stop?: AbortSignal) => whileTimePasses(clock, saveTogether(ctx, [...ITEMS], save, stop))
  return { run, saved, tries: () => tries }
}

test('results are saved by one statement', async () => {
  const { run, saved, tries } = saves({})
  expect([await run(), saved, tries()]).toEqual([[], ITEMS, 1])
})

test.each([[[0]], [[7]], [[19]], [[3, 4, 12]], [ITEMS]])('of results of which %j cannot be saved, all others are', async (refused) => {
  const { run, saved } = saves({ refused })
  expect((await run()).map(({ item }) => item)).toEqual(refused)
  expect(saved).toEqual(ITEMS.filter((item) => !refused.includes(item)))
})

test('while the database is away, results are kept', async () => {
  const { run, saved } = saves({ away: 10, refused: [5] })
  expect((await run()).map(({ item }) => item)).toEqual([5])
  expect(saved).toHaveLength(ITEMS.length - 1)
})

test('a server that stops does not wait for the database', async () => {
  const { run, saved, tries } = saves({ away: Number.POSITIVE_INFINITY })
  const stop = new AbortController()
  const running = run(stop.signal)
  await expect.poll(tries).toBeGreaterThan(2)
  stop.abort()
  expect((await running).map(({ error }) => error)).toEqual(ITEMS.map(() => AWAY))
  expect(saved).toEqual([])
})

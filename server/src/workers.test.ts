import { expect, test, vi } from 'vitest'
import { type World, world } from '../test/world.ts'
import { startJobs } from './infra/queue/jobs.ts'
import { createInboxStreams } from './modules/inbox/index.ts'
import { allJobs } from './workers.ts'

const SECONDS = 60
const POLL_MS = 20_000

/** How many statements the connections of a world have run. */
async function statements({ ctx }: World): Promise<number> {
  const { text } = await ctx.metrics.exposition()
  return Number(/^app_db_statement_duration_seconds_count (\d+)/m.exec(text)?.[1])
}

test('an idle server runs at most five statements a second', async () => {
  await using w = await world({ own: true })
  await w.users('ana')
  await w.drain()
  const jobs = allJobs(createInboxStreams())
  await using running = startJobs(w.ctx, jobs, () => POLL_MS)
  const asleep = () => vi.waitFor(() => expect(jobs.filter(running.isBusy)).toEqual([]), { timeout: 10_000, interval: 2 })
  await asleep()
  const before = await statements(w)
  for (let second = 0; second < SECONDS; second++) {
    w.advance('1 second')
    await asleep()
  }
  const ran = (await statements(w)) - before
  expect(ran).toBeGreaterThan(SECONDS)
  expect(ran).toBeLessThanOrEqual(5 * SECONDS)
})

import { expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import { systemClock } from './clock.ts'
import { createLog } from './log.ts'
import { checkClock } from './watch-clock.ts'

test.each([
  ['is behind', -2 * MINUTE_MS, 1],
  ['is ahead', 2 * MINUTE_MS, 1],
  ['agrees', 0, 0],
])('a clock that %s of the database is told to the operator, and no other', async (_, aheadMs, warnings) => {
  await using w = await world()
  const lines: string[] = []
  const clock = { ...w.ctx.clock, now: () => new Date(systemClock.now().getTime() + aheadMs) }
  const found = await checkClock({ ...w.ctx, clock, log: createLog('info', { write: (line) => lines.push(line) }) })
  expect([Math.sign(found), lines.filter((line) => line.includes('the clock of this machine differs')).length]).toEqual([
    Math.sign(aheadMs),
    warnings,
  ])
})

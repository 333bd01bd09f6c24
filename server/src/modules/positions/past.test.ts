import { expect, test } from 'vitest'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { createPastMonths, dropPastMonths } from './past.ts'

/** The user of each entrance that ended, which is the month in which it did. */
const months = async (w: World) =>
  (await select(w, 'select user_id::int from journey_past where project_id = $1 order by 1', [w.projectId])).map(({ user_id }) => user_id)

const end = (w: World, ...times: string[]) =>
  select(
    w,
    `insert into journey_past (project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at, ended_at,
                               outcome, reason, cause, answers, trail)
     select $1, to_char(at, 'YYYYMM')::int, 1, 1, 1, 1, 1, 0, at, at, at, 'exited', 'left', '', '{}', '[]' from unnest($2::timestamptz[]) as at`,
    [w.projectId, times],
  )

const drop = (w: World, days: number) => dropPastMonths({ ...w.ctx, config: { ...w.ctx.config, JOURNEY_HISTORY_DAYS: days } })

test('journeys that users have left are dropped by whole months, in a month that exists or not; with 0, they are kept for ever', async () => {
  await using w = await world()
  w.clock.set(new Date('2041-06-15'))
  await createPastMonths(w.ctx)
  await end(w, '1999-12-31', '2041-06-01', '2041-07-31')
  w.clock.set(new Date('2041-09-01'))
  for (const days of [0, 99_999]) expect([days, await drop(w, days)]).toEqual([days, 0])
  expect(await months(w)).toEqual([199912, 204106, 204107])
  await drop(w, 32)
  expect(await months(w)).toEqual([204107])
  await drop(w, 31)
  expect(await months(w)).toEqual([])
})

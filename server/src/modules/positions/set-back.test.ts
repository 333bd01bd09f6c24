import { expect, test } from 'vitest'
import { select } from '../../../test/select.ts'
import { world } from '../../../test/world.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { DAY_MS } from '../../lib/times.ts'
import { setBackJourneyUsers } from './queries.ts'

const JOURNEY = 1 as JourneyId

test('each user of a journey is read once, and what is dated in the future becomes the present', async () => {
  await using w = await world()
  const now = w.clock.now()
  const [ago, ahead] = [-DAY_MS, DAY_MS].map((ms) => new Date(now.getTime() + ms))
  const users: [number, object, (Date | undefined)?][] = [
    [1, { bought: ago, paid: ahead }, ago],
    [2, { bought: ago }, ago],
    [3, {}, ahead],
    [4, { bought: ahead }],
  ]
  for (const [user, goals, entered] of users) {
    await select(
      w,
      `insert into journey_users (project_id, user_id, journey_id, first_entered_at, last_entered_at, goals) values ($1, $2, $3, $4, $4, $5)`,
      [w.projectId, user, JOURNEY, entered ?? null, goals],
    )
  }
  const read = (after: number) => inTx(w.ctx, (ctx) => setBackJourneyUsers(ctx, JOURNEY, now, { after: after as UserId, limit: 3 }))
  expect([await read(0), await read(3), await read(4)]).toEqual([
    { users: 3, last: 3 },
    { users: 1, last: 4 },
    { users: 0, last: null },
  ])
  const [was, is] = [ago, now].map((at) => at?.toISOString())
  expect(await select(w, 'select last_entered_at, goals from journey_users where project_id = $1 order by user_id', [w.projectId])).toEqual(
    [
      { last_entered_at: ago, goals: { bought: was, paid: is } },
      { last_entered_at: ago, goals: { bought: was } },
      { last_entered_at: now, goals: {} },
      { last_entered_at: null, goals: { bought: is } },
    ],
  )
})

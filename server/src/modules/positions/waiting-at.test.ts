import { expect, test } from 'vitest'
import { explaining, type Reading, rolledBack } from '../../../test/explain.ts'
import { world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { waitingAt } from './inside.queries.ts'

const JOURNEY = 1 as JourneyId
const STEPS = 10
const ENTRANCES = 2000

test('the entrances of a journey are read once for all of its steps, and the earliest at each are returned', async () => {
  await using w = await world()
  const now = w.clock.now()
  await w.db.transaction(async (db) => {
    await db.run(sql`set local session_replication_role = replica`)
    await db.run(
      sql`insert into journey_steps (project_id, journey_id, id, external_id) overriding system value
          select ${w.projectId}, ${JOURNEY}, i, 's' || i from generate_series(1, ${STEPS}::int) as i`,
    )
    await db.run(
      sql`insert into journey_entrances (project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at, acted_at, slot, cause)
          select ${w.projectId}, i, i, ${JOURNEY}, 1 + i % ${STEPS}::int, 1, 1, 1, ${now}, ${now}::timestamptz - i * interval '1 second', ${now}, 's', 'c'
          from generate_series(1, ${ENTRANCES}::int) as i`,
    )
  })
  const places = Array.from({ length: STEPS }, (_, at) => ({ version: 1, external_id: `s${at + 1}` }))
  const readings: Reading[] = []
  await rolledBack(w.ctx, (ctx) => waitingAt(explaining(ctx, readings) as never, JOURNEY, places, 2))
  expect(readings.map(({ rows }) => rows)).toEqual([expect.toSatisfy((rows) => rows < 2 * ENTRANCES)])
  const found = await waitingAt(w.ctx, JOURNEY, [places[0], { version: 2, external_id: 's2' }] as typeof places, 2)
  expect(found.map(({ external_id, user_id }) => [external_id, user_id]).sort()).toEqual([
    ['s1', ENTRANCES - STEPS],
    ['s1', ENTRANCES],
  ])
})

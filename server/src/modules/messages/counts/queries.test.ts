import { expect, test } from 'vitest'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { foldRows } from './queries.ts'

const ROWS = 101

/** Counts of a campaign: as many rows, in so many variants. */
const insertCounts = (w: World, campaignId: number, variants: number) =>
  w.db.run(
    sql`insert into message_counts (project_id, campaign_id, variant, state, messages, opens, clicks)
        select ${w.projectId}, ${campaignId}, n % ${variants}::int, 'sent', 1, 0, 0 from generate_series(1, ${ROWS}) n`,
  )

test('campaigns of which nothing can be spared do not keep others from being added up', async () => {
  await using w = await world()
  for (const id of [1, 2, 3, 5, 6, 7]) await insertCounts(w, id, ROWS)
  await insertCounts(w, 4, 26)
  expect(await foldRows(w.ctx, ROWS - 1, 1)).toBe(ROWS - 26)
})

test('a campaign of which nothing can be spared keeps its rows', async () => {
  await using w = await world()
  const ids = () => select(w, 'select id from message_counts where project_id = $1 order by id', [w.projectId])
  await insertCounts(w, 1, ROWS)
  const before = await ids()
  expect(await foldRows(w.ctx, ROWS - 1, 20)).toBe(0)
  expect(await ids()).toEqual(before)
})

/** A batch that is divided among partitions keeps the events of one user together and in order, under any of their ids. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { run } from '../blasts.ts'
import { type World, world } from '../world.ts'

/** Together, these are well above `DIVIDED_FROM_ITEMS`. */
const REQUESTS = 8
const ITEMS = 100

const Plan = Type.Object({ partitions: Type.Unsafe<Buffer>({}) })

/** Keeps the plans of batches, which are deleted when a batch is done. `ofItems` reads the partition of each item. */
async function keepPlans(w: World): Promise<AsyncDisposable & { ofItems: () => Promise<number[]> }> {
  await w.db.run(sql`create table kept_plans (project_id bigint, partitions bytea)`)
  await w.db.run(
    sql`create function keep_plan() returns trigger language plpgsql
        as 'begin insert into kept_plans values (new.project_id, new.partitions); return new; end'`,
  )
  await w.db.run(sql`create trigger keep_plan after insert on queue_batches for each row execute function keep_plan()`)
  return {
    async ofItems() {
      const plans = await w.db.many(Plan, sql`select partitions from kept_plans where project_id = ${w.projectId}`)
      expect(plans, 'the batch was divided once').toHaveLength(1)
      return [...(plans[0]?.partitions ?? [])]
    },
    // Other tests read the tables of the same database.
    async [Symbol.asyncDispose]() {
      await w.db.run(sql`drop function keep_plan() cascade`)
      await w.db.run(sql`drop table kept_plans`)
    },
  }
}

/** The events of each user alternate between two ids. */
const IDS = {
  // Linked before the batch.
  kim: [{ external_id: 'kim' }, { anonymous_id: 'tablet' }],
  // Linked by an event in the middle of the batch.
  lee: [{ anonymous_id: 'phone' }, { external_id: 'lee' }],
}

test('events of one user under two ids are applied in one partition, in the order in which they were sent', async () => {
  await using w = await world()
  await using plans = await keepPlans(w)
  expect((await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'tablet' }])).body.failed).toBe(0)
  await w.drain('ingest.apply')
  // Batches are smaller while small projects have events.
  w.advance('3 seconds')
  const items = Array.from({ length: REQUESTS * ITEMS }, (_, at) => {
    const data = { n: at }
    const owner = at % 8 === 0 ? 'kim' : at % 8 === 4 ? 'lee' : null
    const ids = owner ? IDS[owner][(at >> 3) % 2] : { external_id: `other-${at % 97}` }
    const linked = at === (REQUESTS * ITEMS) / 2 + 4 ? { external_id: 'lee', anonymous_id: 'phone' } : ids
    return { name: 'step', ...linked, data, ...(owner && { user: { data: { last: at } } }), owner }
  })
  for (let from = 0; from < items.length; from += ITEMS) {
    const some = items.slice(from, from + ITEMS).map(({ owner: _, ...item }) => item)
    expect((await w.post('/api/client/events', some)).status).toBe(204)
  }
  await run(w, 'ingest.apply')
  const plan = await plans.ofItems()
  expect(plan).toHaveLength(items.length)
  expect(new Set(plan).size).toBeGreaterThan(1)
  for (const user of ['kim', 'lee'] as const) {
    const own = items.flatMap((item, at) => (item.owner === user ? [{ n: at, partition: plan[at] }] : []))
    expect(new Set(own.map(({ partition }) => partition)).size, user).toBe(1)
    const found = await w.get(`/api/client/users/${user}/events?name=step&limit=-1`)
    const applied = found.body.results.map(({ data }: { data: { n: number } }) => data.n)
    expect(applied.toReversed(), user).toEqual(own.map(({ n }) => n))
    expect((await w.get(`/api/client/users/${user}`)).body.data.last, user).toBe(own.at(-1)?.n)
  }
})

import { expect, test } from 'vitest'
import { besides } from '../../../../test/besides.ts'
import { world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { recordRefusal } from './refusals.ts'

const refused = { quota: 'submitted-messages-per-day', limit: 1, used: 0, from: 'shop@example.com', to: ['a@example.com', 'b@example.com'] }

test('the first refusals of a project, at the same time, have one event, and the next one counts them', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: ['queue.quota-exceeded'] })
  // What another process that refuses the first one has saved, and not committed.
  const first = sql`insert into quota_refusals (project_id, quota, refused, reported_at)
                    values (${w.projectId}, ${refused.quota}, 0, ${w.clock.now()})`
  await besides(w, first, () => inTx(w.ctx, (ctx) => recordRefusal(ctx, refused)))
  await w.drain()
  expect(receiver.requests).toEqual([])
  w.advance('1 minute')
  await inTx(w.ctx, (ctx) => recordRefusal(ctx, refused))
  await w.drain()
  expect(receiver.requests.map(({ json }) => (json as { data: object }).data)).toMatchObject([{ count: 2 }])
})

test('after the clock was set back, the next refusal has an event', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: ['queue.quota-exceeded'] })
  await inTx(w.ctx, (ctx) => recordRefusal(ctx, refused))
  w.clock.set(new Date(w.clock.now().getTime() - HOUR_MS))
  await inTx(w.ctx, (ctx) => recordRefusal(ctx, refused))
  await w.drain()
  expect(receiver.requests).toHaveLength(2)
})

/** The feed of what users do (D-MSG-6). */
import { expect, test } from 'vitest'
import { subscriptionTo } from '../../../test/blasts.ts'
import { type World, world } from '../../../test/world.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { recordEngagement } from '../messages/index.ts'

const ACTIVITY = '/api/client/activity'

async function poll(w: World, cursor?: string, limit = 100) {
  const reply = await w.get(`${ACTIVITY}?limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`, { key: w.keys.support })
  expect(reply.status, reply.text).toBe(200)
  return reply.body as { results: any[]; cursor: string }
}

/** A delivered message to Ana, which she opened and clicked in. */
async function clickedByAna(w: World) {
  const sent = await w.post('/api/client/messages', {
    subscription_id: await subscriptionTo(w),
    content: { from: 'app@example.com', subject: 'Hi', html: '<p>Hi</p>' },
    user: { external_id: 'ana', email: 'ana@example.com' },
  })
  await w.drain()
  const { id } = sent.body
  const at = w.clock.now()
  await inTx(w.ctx, (ctx) =>
    recordEngagement(ctx, [
      { messageId: id, what: 'opened', at },
      { messageId: id, what: 'clicked', at, url: 'https://example.com/' },
    ]),
  )
  await w.drain()
  return sent.body
}

test('has opens, clicks, opt-outs and changes of lists, from the first request on', async () => {
  await using w = await world()
  await clickedByAna(w)
  const first = await poll(w)
  expect(first.results).toEqual([])
  const message = await clickedByAna(w)
  const subscription_id = await subscriptionTo(w)
  await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state: 0 }])
  const list = (await w.post('/api/client/lists', { name: 'Static', type: 'static' })).body.id
  await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
  await w.post('/api/client/events', [{ name: 'email_opened', external_id: 'ana' }])
  await w.drain()
  const second = await poll(w, first.cursor)
  const { campaign_id } = (await w.get(`/api/client/messages/${message.id}`)).body
  expect(second.results).toMatchObject([
    { type: 'email_opened', user: { external_id: 'ana' }, message_id: message.id, campaign_id },
    { type: 'email_clicked', data: { url: 'https://example.com/' } },
    { type: 'unsubscribed', data: { subscription_id } },
    { type: 'list_entered', data: { list_id: list } },
  ])
  expect(await poll(w, second.cursor)).toEqual({ results: [], cursor: second.cursor })
  const [one, two] = [await poll(w, first.cursor, 3), await poll(w, (await poll(w, first.cursor, 3)).cursor, 3)]
  expect([...one.results, ...two.results]).toEqual(second.results)
})

test('passes nothing that is committed late', async () => {
  await using w = await world()
  const { cursor } = await poll(w)
  await w.users('ana')
  await w.drain()
  const list = async (name: string) => (await w.post('/api/client/lists', { name, type: 'static' })).body.id
  const lists = [await list('A'), await list('B'), await list('C')]
  const found: unknown[] = []
  let at = cursor
  await Promise.all(
    lists.map(async (id) => {
      await w.post(`/api/client/lists/${id}/users`, { external_ids: ['ana'] })
      // Gives positions to what is committed so far, while others are about to commit.
      await poll(w, at)
    }),
  )
  await w.drain()
  for (let page = await poll(w, at); page.results.length > 0; page = await poll(w, at)) {
    at = page.cursor
    found.push(...page.results.map(({ data }) => data.list_id))
  }
  expect(found.sort()).toEqual(lists.sort())
})

test('is of one project, ends with its user, and is deleted after 30 days', async () => {
  await using w = await world()
  await poll(w)
  await clickedByAna(w)
  const other = await w.other()
  expect((await w.get(ACTIVITY, { key: other.keys.secret })).body.results).toEqual([])
  expect((await poll(w)).results).toHaveLength(2)
  w.advance('31 days')
  await w.drain('activity.purge')
  expect((await poll(w)).results).toEqual([])
  await clickedByAna(w)
  expect((await poll(w)).results.length).toBeGreaterThan(0)
  await w.delete('/api/client/users/ana')
  await w.drain()
  expect((await poll(w)).results).toEqual([])
})

test.each(['cursor=x', 'limit=0', 'limit=501'])('refuses %s', async (query) => {
  await using w = await world()
  expect((await w.get(`${ACTIVITY}?${query}`)).status).toBeGreaterThanOrEqual(400)
})

/** Reports of messages, counted again from the rows by the test (D-CON-34). */
import { expect, test } from 'vitest'
import { blastTo, listOf, pathOf, run, schedule, subscriptionTo, write } from '../../../test/blasts.ts'
import { createJourney, READY } from '../../../test/journeys.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { linksOf } from '../subscriptions/index.ts'

const read = async (w: World, query = '') => {
  const reply = await w.get(`/api/client/reports/messages${query}`, { key: w.keys.support })
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}

const sendTo = async (w: World, name: string, ...users: string[]) => {
  const blast = await blastTo(w, [await listOf(w, ...users)], { name })
  await schedule(w, blast)
  await w.drain()
  return blast
}

/** Messages by day and campaign, from the rows of messages. */
const countedByHand = async (w: World) =>
  (
    await select(
      w,
      `select (created_at at time zone 'UTC')::date::text as day, count(*)::int as messages,
              count(*) filter (where state in ('sent', 'delivered', 'bounced', 'complained'))::int as sent
       from messages where project_id = $1 group by 1 order by 1`,
      [w.projectId],
    )
  ).map(({ day, messages, sent }) => ({ day, messages, sent }))

const used = (days: { day: string; messages: number; sent: number }[]) =>
  days.filter(({ messages }) => messages > 0).map(({ day, messages, sent }) => ({ day, messages, sent }))

test('a report adds up to the messages, before and after counts are added up, and after the messages are deleted', async () => {
  await using w = await world()
  const first = await sendTo(w, 'First', 'ana', 'bo')
  w.advance('1 day')
  const second = await sendTo(w, 'Second', 'ana', 'bo', 'cy')
  const skipped = (await w.get('/api/client/users?limit=1')).body.results[0].external_id
  await w.patch(`/api/client/users/${skipped}/subscriptions`, [{ subscription_id: await subscriptionTo(w), state: 0 }])
  await sendTo(w, 'Third', 'ana', 'bo', 'cy')
  const byHand = await countedByHand(w)
  expect(byHand).toHaveLength(2)

  const report = await read(w)
  expect(used(report.days)).toEqual(byHand)
  expect(report.days).toHaveLength(30)
  expect(report.total).toMatchObject({ messages: 8, sent: 7 })
  expect(report.campaigns.map(({ name, total }: any) => [name, total.messages, total.sent])).toEqual([
    ['Second', 3, 3],
    ['Third', 3, 2],
    ['First', 2, 2],
  ])
  expect(report.channels).toMatchObject([{ channel: 'email', total: report.total }])

  const since = `?since=${report.until}`
  expect(await read(w, since)).toMatchObject({ total: { messages: 6 }, previous: { messages: 2 }, days: [{ messages: 6 }] })
  expect(await read(w, `${since}&campaign_id=${second.id}`)).toMatchObject({ total: { messages: 3 }, campaigns_total: 1 })
  expect(await read(w, `${since}&campaign_id=${first.id}`)).toMatchObject({
    total: { messages: 0 },
    previous: { messages: 2 },
    campaigns: [],
  })
  expect((await read(w, '?channel=text')).total.messages).toBe(0)

  await select(
    w,
    'insert into message_counts (project_id, campaign_id, state, messages, opens, clicks) select $1, $2, $3, 0, 0, 0 from generate_series(1, 101) returning id',
    [w.projectId, second.id, 'sent'],
  )
  expect(await run(w, 'messages.fold-counts')).toBeGreaterThan(0)
  expect(await read(w)).toEqual(report)

  await write(w, first, { name: 'First of all' })
  await w.delete(pathOf(first))
  w.advance('401 days')
  while ((await run(w, 'retention')) > 0);
  expect(await countedByHand(w)).toEqual([])
  const later = await read(w, `?since=${report.since}&until=${report.until}T23:59:59Z`)
  expect(later.total).toEqual(report.total)
  expect(later.days).toEqual(report.days)
  expect(later.campaigns.at(-1).name).toBe('First of all')
  expect((await read(w, '')).total.messages).toBe(0)
})

test('opens and clicks count on the day of the message, and a range has a limit', async () => {
  await using w = await world()
  await sendTo(w, 'First', 'ana')
  const { until } = await read(w)
  w.advance('3 days')
  await select(w, 'update messages set opened_at = $2, clicked_at = $2 where project_id = $1 returning id', [w.projectId, w.clock.now()])
  const report = await read(w)
  expect(report.total).toMatchObject({ sent: 1, opened: 1, clicked: 1 })
  expect(report.days.find(({ day }: any) => day === until)).toMatchObject({ opened: 1, clicked: 1 })
  expect((await w.get('/api/client/reports/messages?since=2020-01-01')).status).toBe(422)
  const other = await w.other()
  expect((await w.get('/api/client/reports/messages', { key: other.keys.secret })).body.total.messages).toBe(0)
})

/** Sends a campaign to ana by a journey, and to bo without one. */
async function sendByJourney(w: World) {
  const subscription_id = await subscriptionTo(w)
  const campaign = (await w.post('/api/client/campaigns', { name: 'Hi', type: 'trigger', subscription_id })).body
  await w.put(`${pathOf(campaign)}/templates/en`, { from: 'Shop <shop@example.com>', subject: 'Hi', html: '<p>Hi</p>' })
  await write(w, campaign, { state: 'running' })
  await w.users('ana', 'bo')
  const send = { type: 'action', x: 0, y: 2, data: { campaign_id: campaign.id } }
  const steps = { api: { ...READY.api, children: [{ external_id: 'send' }] }, send }
  const journey = await createJourney(w, { status: 'live', name: 'Greeting' }, steps)
  await journey.post('entrances', { external_id: 'ana' })
  await w.post(`${pathOf(campaign)}/trigger`, { external_id: 'bo' })
  await w.drain()
  return { campaign, journey, subscription_id }
}

test('journeys are reported with their messages, and opt-outs once with the message they came by', async () => {
  await using w = await world()
  const { campaign, journey, subscription_id } = await sendByJourney(w)
  const { results } = (await w.get(`${pathOf(campaign)}/recipients`)).body
  const { id: messageId, user } = results.find(({ user }: any) => user.external_id === 'ana')
  const link = { projectId: w.projectId, userId: user.id, subscriptionId: subscription_id, messageId } as never
  const path = linksOf(w.ctx, link).unsubscribe_url.slice('http://carillon.test'.length)
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const leave = async () => {
    const left = await w.post(path, undefined, { key: null, raw: 'List-Unsubscribe=One-Click', headers: type })
    expect(left.status, left.text).toBe(200)
  }
  await leave()
  await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state: 1 }])
  await leave()
  await w.patch('/api/client/users/bo/subscriptions', [{ subscription_id, state: 0 }])

  const byJourney = { journey_id: journey.id, name: 'Greeting', total: { messages: 1, sent: 1, unsubscribed: 1 } }
  const expected = { total: { messages: 2, sent: 2, unsubscribed: 1 }, journeys_total: 1, journeys: [byJourney] }
  const report = await read(w)
  expect(report).toMatchObject(expected)
  expect(report.campaigns).toMatchObject([{ total: { messages: 2, unsubscribed: 1 } }])
  expect(await read(w, `?journey_id=${journey.id}`)).toMatchObject({ total: { messages: 1, unsubscribed: 1 }, campaigns_total: 1 })
  expect((await w.get(`${pathOf(campaign)}/delivery`)).body).toMatchObject({ total: 2, unsubscribed: 1, states: [{ messages: 2 }] })

  await select(
    w,
    'insert into message_counts (project_id, campaign_id, state, messages, opens, clicks) select $1, $2, $3, 0, 0, 0 from generate_series(1, 101) returning id',
    [w.projectId, campaign.id, 'sent'],
  )
  expect(await run(w, 'messages.fold-counts')).toBeGreaterThan(0)
  expect(await read(w)).toEqual(report)
  expect((await w.get(`${pathOf(campaign)}/delivery`)).body.unsubscribed).toBe(1)
})

test('saving the preference centre counts as an opt-out only if the user leaves a type that they had', async () => {
  await using w = await world()
  const { campaign, subscription_id } = await sendByJourney(w)
  const off = (await w.post('/api/client/subscriptions', { name: 'Tips', channel: 'email', default_state: 0, is_public: true })).body.id
  const { results } = (await w.get(`${pathOf(campaign)}/recipients`)).body
  const { id: messageId, user } = results.find(({ user }: any) => user.external_id === 'ana')
  const link = { projectId: w.projectId, userId: user.id, subscriptionId: subscription_id, messageId } as never
  const path = linksOf(w.ctx, link).preferences_url.slice('http://carillon.test'.length)
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const save = async (ticked: string) => {
    const saved = await w.post(path, undefined, { key: null, raw: `shown=${subscription_id}&shown=${off}${ticked}`, headers: type })
    expect(saved.status, saved.text).toBe(303)
    return (await w.get(`${pathOf(campaign)}/delivery`)).body.unsubscribed
  }
  expect(await save(`&on=${subscription_id}`)).toBe(0)
  expect(await save('')).toBe(1)
})

/** Old messages are deleted: totals stay, nothing is sent again, and what is gone is said to be gone. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { DAY_MS } from '../../src/lib/times.ts'
import { BULK, SEND_JOBS } from '../../src/modules/messages/index.ts'
import { blastTo, CAMPAIGNS, listOf, pathOf, run, schedule, subscriptionTo, write } from '../blasts.ts'
import { failSaves } from '../failing-saves.ts'
import { createJourney } from '../journeys.ts'
import { mailWorld } from '../mail-queue.ts'
import { answerOrders, order, recipientsOf, sendOver } from '../mailing.ts'
import { openRelay } from '../relay.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

const MESSAGES = '/api/client/messages'

/** Deletes what is old, without running anything else. */
const tidy = async (w: World) => {
  while ((await run(w, 'retention')) > 0);
}

const countOf = async (w: World, table: string): Promise<number> =>
  Number((await select(w, `select count(*) as count from ${table} where project_id = $1`, [w.projectId]))[0]?.count)

const CONTENT = { from: 'App <app@example.com>', subject: 'Code', html: '<p>{{ event.data.code }}</p>' }

const ask = (w: World, subscription_id: number, more: object = {}) =>
  w.post(MESSAGES, {
    subscription_id,
    content: CONTENT,
    user: { external_id: 'ana', email: 'ana@example.com' },
    data: { code: '1' },
    ...more,
  })

describe('old messages', () => {
  test('leave totals as they are, and are said to have expired', async () => {
    await using w = await world()
    const blast = await blastTo(w, [await listOf(w, 'ana', 'bo')])
    await schedule(w, blast)
    await w.drain()
    const before = (await w.get(pathOf(blast))).body.delivery
    expect(before).toMatchObject({ total: 2, sent: 2 })
    const [{ id }] = (await w.get(`${pathOf(blast)}/recipients`)).body.results

    w.advance('399 days')
    await tidy(w)
    expect(await countOf(w, 'messages')).toBe(2)
    expect((await w.get(`${MESSAGES}/999999999`)).body.error.message).toBe('No message with that identifier exists in this project.')

    w.advance('2 days')
    await tidy(w)
    expect(await countOf(w, 'messages')).toBe(0)
    await run(w, 'messages.fold-counts')
    expect((await w.get(pathOf(blast))).body.delivery).toEqual(before)
    const gone = await w.get(`${MESSAGES}/${id}`)
    expect(gone.status).toBe(404)
    expect(gone.body.error).toMatchObject({ code: 'resource_missing', message: expect.stringContaining('have been deleted') })
    expect((await w.get(`${pathOf(blast)}/recipients/ana/explain`)).body.summary).toMatch(
      /^The campaign was sent at \S+\. Messages that reached a final state before \S+ have been deleted, so it is no longer known whether the user got one\.$/,
    )
    const other = (await w.other()).keys.secret
    expect((await w.get(`${MESSAGES}/${id}`, { key: other })).body.error.message).not.toContain('deleted')
  })

  test('are kept with MESSAGE_RETENTION_DAYS=0', async () => {
    await using w = await world({ env: { MESSAGE_RETENTION_DAYS: '0', SANDBOX_RETENTION_DAYS: '0' } })
    await ask(w, await subscriptionTo(w))
    await w.drain()
    w.advance('4000 days')
    await tidy(w)
    expect(await countOf(w, 'messages')).toBe(1)
    expect(await countOf(w, 'sandbox_messages')).toBe(1)
  })

  test('go with their states, requests, content and files, and their keys are new again; younger ones stay', async () => {
    await using w = await world()
    const subscription_id = await subscriptionTo(w)
    const attachments = [{ name: 'a.txt', content: Buffer.from('a').toString('base64'), content_type: 'text/plain' }]
    expect(await ask(w, subscription_id, { key: 'old', attachments })).toMatchObject({ status: 202 })
    await w.drain()
    w.advance('200 days')
    expect((await ask(w, subscription_id, { key: 'old', attachments })).body).toMatchObject({ duplicate: true })
    expect(
      await ask(w, subscription_id, { key: 'young', content: { from: 'App <app@example.com>', subject: 'Young', html: '<p>y</p>' } }),
    ).toMatchObject({
      status: 202,
    })
    await w.drain()
    w.advance('201 days')
    await tidy(w)
    for (const table of ['messages', 'message_requests', 'message_contents']) expect([table, await countOf(w, table)]).toEqual([table, 1])
    for (const table of ['message_attachments', 'sandbox_messages']) expect([table, await countOf(w, table)]).toEqual([table, 0])
    expect((await ask(w, subscription_id, { key: 'old', attachments })).body).toMatchObject({ duplicate: false })
  })

  test('go with their emails in the mail queue, beside an email that was asked for a year before it was sent', async () => {
    await using w = await mailWorld()
    w.internet.host('mx.example.org')
    w.internet.domain('example.org', 'mx.example.org')
    const late = { subscription_id: await subscriptionTo(w), content: CONTENT, user: { external_id: 'kim', email: 'kim@example.org' } }
    const { body } = await w.post(MESSAGES, { ...late, send_at: new Date(w.clock.now().getTime() + 365 * DAY_MS).toISOString() })
    await w.mailTo('example.org')
    await w.drain()
    // What was submitted over SMTP has no message with which it would go.
    await w.db.run(
      sql`insert into mail_messages
          select (jsonb_populate_record(null::mail_messages, to_jsonb(m) || jsonb_build_object('id', m.id + 1000000, 'source', 'submission'))).*
          from mail_messages m where project_id = ${w.projectId}`,
    )
    expect(await countOf(w, 'mail_recipients')).toBe(1)
    w.advance('365 days')
    await w.drain()
    expect(await countOf(w, 'mail_recipients')).toBe(2)
    w.advance('36 days')
    await tidy(w)
    expect(await select(w, 'select id from mail_messages where project_id = $1', [w.projectId])).toEqual([{ id: body.id }])
    expect(await countOf(w, 'mail_recipients')).toBe(1)
  })

  test('stay while they wait', async () => {
    await using w = await world()
    const campaign = await answerOrders(w)
    await w.users('ana')
    await w.post(`${pathOf(campaign)}/pause`)
    await order(w, 'ana')
    await w.drain()
    w.advance('500 days')
    await tidy(w)
    expect(await countOf(w, 'messages')).toBe(1)
  })

  test('stay while their blast is not over, so that nobody gets it twice', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const blast = await blastTo(w, [await listOf(w, 'ana')], { expires_after_hours: 720 })
    await schedule(w, blast)
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    // As if the audience had begun to load and its process had stopped, for as long as that.
    await select(w, `update campaigns set state = 'loading' where project_id = $1`, [w.projectId])
    await select(w, `update campaign_audiences set is_complete = false, loaded_to = 0 where project_id = $1`, [w.projectId])
    w.advance('500 days')
    await tidy(w)
    expect(await countOf(w, 'messages')).toBe(1)
    await run(w, 'campaigns.load', 3)
    await run(w, SEND_JOBS[BULK].name, 3)
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    await write(w, blast, { state: 'aborted' })
    await run(w, 'campaigns.pending-actions', 3)
    w.advance('2 days')
    await tidy(w)
    expect(await countOf(w, 'messages')).toBe(0)
  })

  test('stay while their user is in the journey', async () => {
    await using w = await world()
    const campaign = await answerOrders(w)
    await w.users('ana')
    const journey = await createJourney(
      w,
      { status: 'live' },
      {
        start: { type: 'entrance', x: 0, y: 0, data: { trigger: 'event', event_name: 'cart' }, children: [{ external_id: 'mail' }] },
        mail: {
          type: 'action',
          x: 0,
          y: 1,
          data: { campaign_id: campaign.id, wait: 'sent', wait_hours: 1 },
          children: [{ external_id: 'w' }],
        },
        w: { type: 'delay', x: 0, y: 2, data: { format: 'duration', days: 600 }, children: [{ external_id: 'out' }] },
        out: { type: 'exit', x: 0, y: 3 },
      },
    )
    await w.post('/api/client/events', [{ name: 'cart', external_id: 'ana' }])
    await w.drain()
    w.advance('500 days')
    await tidy(w)
    expect(await countOf(w, 'messages')).toBe(1)
    w.advance('102 days')
    await w.drain()
    expect((await w.get(journey.path)).body).toBeTruthy()
    await tidy(w)
    expect(await countOf(w, 'messages')).toBe(0)
  })
})

describe('entry keys', () => {
  test('let a user in once, until none came for long; one that keeps coming is kept', async () => {
    await using w = await world()
    await w.users('ana', 'bo')
    const entrance = { trigger: 'event', event_name: 'rented', entry_key: 'data.bike' }
    const journey = await createJourney(
      w,
      { status: 'live' },
      {
        start: { type: 'entrance', x: 0, y: 0, data: entrance, children: [{ external_id: 'out' }] },
        out: { type: 'exit', x: 0, y: 1 },
      },
    )
    const rent = async (...users: string[]) => {
      await w.post(
        '/api/client/events',
        users.map((external_id) => ({ name: 'rented', external_id, data: { bike: 'b-1' } })),
      )
      await w.drain()
    }
    const entered = async (user: string) => (await journey.get(`users/${user}`)).entered
    await rent('ana', 'bo')
    w.advance('300 days')
    await rent('ana', 'ana')
    w.advance('101 days')
    await tidy(w)
    expect(await countOf(w, 'journey_keys')).toBe(1)
    await rent('ana', 'bo')
    expect([await entered('ana'), await entered('bo')]).toEqual([1, 2])
    w.advance('401 days')
    await tidy(w)
    expect(await countOf(w, 'journey_keys')).toBe(0)
  })
})

test('messages in the sandbox are deleted by when they were caught, though a later one was created before them', async () => {
  await using w = await world()
  const campaign = await answerOrders(w)
  await w.users('ana')
  await w.post(`${pathOf(campaign)}/pause`)
  await order(w, 'ana')
  await w.drain()
  await ask(w, await subscriptionTo(w))
  await w.drain()
  w.advance('2 days')
  expect((await w.post(`${pathOf(campaign)}/resume`)).status).toBe(200)
  await ask(w, await subscriptionTo(w))
  await w.drain()
  const caught = async () => (await w.get('/api/client/sandbox/messages')).body.results.map(({ summary }: any) => summary).sort()
  expect(await caught()).toEqual(['Code', 'Code', 'Thanks'])
  w.advance('89 days')
  await tidy(w)
  expect(await caught()).toEqual(['Code', 'Thanks'])
  w.advance('2 days')
  await tidy(w)
  expect(await caught()).toEqual([])
})

test('a pass reads a part at a time, and the next begins a day later', async () => {
  await using w = await world()
  const campaign = await answerOrders(w)
  await w.users('ana')
  await order(w, 'ana', 'ana', 'ana')
  await w.drain()
  w.advance('401 days')
  // Daily figures of projects that earlier tests left are among them.
  expect(await run(w, 'retention')).toBeGreaterThanOrEqual(6)
  expect(await run(w, 'retention')).toBe(0)
  await order(w, 'ana')
  await w.drain()
  expect((await w.get(`${CAMPAIGNS}/${campaign.id}`)).body.delivery).toMatchObject({ total: 4 })
  expect((await w.get(`${CAMPAIGNS}/${campaign.id}/recipients`)).body.results).toHaveLength(1)
})

test('a clock that was ahead, and is set back, keeps nothing for longer', async () => {
  await using w = await world()
  const subscription_id = await subscriptionTo(w)
  const startedAt = w.clock.now().getTime()
  await ask(w, subscription_id, { key: 'first' })
  await w.drain()
  w.advance('440 days')
  await tidy(w)
  expect(await countOf(w, 'messages')).toBe(0)
  w.clock.set(new Date(startedAt + DAY_MS))
  await ask(w, subscription_id, { key: 'second' })
  await w.drain()
  expect(await countOf(w, 'messages')).toBe(1)
  w.clock.set(new Date(startedAt + 402 * DAY_MS))
  await tidy(w)
  expect(await countOf(w, 'messages')).toBe(0)
})

test('backtests, parked items and counters of quotas are deleted when they are old', async () => {
  await using w = await world()
  const { id } = await createJourney(w, {})
  const add = (statement: string, ...values: unknown[]) => select(w, statement, [w.projectId, w.clock.now(), ...values])
  const addAll = async () => {
    for (const state of ['finished', 'running'])
      await add(
        `insert into journey_backtests (project_id, created_at, journey_id, state, params, finished_at) values ($1, $2, $3, $4, '{}', $2)
         on conflict do nothing`,
        id,
        state,
      )
    await add(
      `insert into parked_items (project_id, kind, request_id, received_at, item, reason, parked_at) values ($1, 'events', '', $2, '{}', '', $2)`,
    )
    await add(`insert into usage_counters (project_id, name, period, used) values ($1, 'submissions_day', $2::timestamptz::date, 1)`)
  }
  const kept = async () => {
    await tidy(w)
    return Promise.all(['journey_backtests', 'parked_items', 'usage_counters'].map((table) => countOf(w, table)))
  }
  await addAll()
  w.advance('89 days')
  expect(await kept()).toEqual([2, 1, 1])
  w.advance('2 days')
  await addAll()
  expect(await kept()).toEqual([2, 2, 2])
  w.advance('309 days')
  expect(await kept()).toEqual([1, 2, 2])
  w.advance('2 days')
  expect(await kept()).toEqual([1, 1, 1])
})

describe('rows that cannot be deleted', () => {
  /** Old rows of two tables. */
  async function makeOld(w: World, ...projects: Pick<World, 'projectId'>[]): Promise<void> {
    const ids = projects.map(({ projectId }) => projectId)
    await w.db.run(
      sql`insert into list_days (project_id, list_id, day, users) select p, 1, '2020-01-01', 1 from unnest(${ids}::bigint[]) as p`,
    )
    await w.db.run(
      sql`insert into usage_counters (project_id, name, period, used) select p, 'x', '2020-01-01', 1 from unnest(${ids}::bigint[]) as p`,
    )
  }

  test('keep those of no other project or table, and are deleted when they can be', async () => {
    await using w = await world()
    const other = { ...w, ...(await w.other()) }
    await makeOld(w, w, other)
    const left = async () => [await countOf(w, 'list_days'), await countOf(w, 'usage_counters'), await countOf(other, 'list_days')]
    {
      await using _ = await failSaves(w, { table: 'list_days', on: 'delete', when: 'true' })
      await tidy(w)
      expect(await left()).toEqual([1, 0, 0])
    }
    w.advance('1 hour')
    await tidy(w)
    expect(await left()).toEqual([0, 0, 0])
  })

  test('keep those of no other project, also if they are of more projects than are looked at together', async () => {
    await using w = await world()
    const others = [w]
    for (let at = 0; at < 21; at++) others.push({ ...w, ...(await w.other()) })
    await makeOld(w, ...others)
    const last = others.at(-1) as World
    await using _ = await failSaves(w, { table: 'list_days', on: 'delete', when: `true or old.project_id < ${last.projectId}` })
    await tidy(w)
    expect([await countOf(w, 'list_days'), await countOf(last, 'list_days')]).toEqual([1, 0])
  })
})

import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { followIndex, listEvents } from './reading.queries.ts'

const send = async (w: World, events: unknown[]) => {
  const { status } = await w.post('/api/client/events', events)
  expect(status).toBe(204)
  await w.drain()
  // System events about users are in a timeline too. These tests do not expect them.
  await w.db.run(sql`delete from events where project_id = ${w.projectId} and name in ('user_created', 'user_updated')`)
}
const of = (user: string, query = '') => `/api/client/users/${user}/events${query}`
const names = async (w: World, user: string, query = '') =>
  (await w.get(of(user, query))).body.results.map(({ name }: { name: string }) => name)

/** The names on all pages forwards. The pages backwards have the same. */
async function walk(w: World, user: string, query: string): Promise<{ there: string[]; back: string[] }> {
  const pages = async (path: string, cursor: 'nextCursor' | 'prevCursor', page: string) => {
    const found: string[][] = []
    let reply = (await w.get(path)).body
    for (;;) {
      found.push(reply.results.map(({ name }: { name: string }) => name))
      if (reply[cursor] === null) return { found, reply }
      reply = (await w.get(of(user, `${query}&cursor=${reply[cursor]}&page=${page}`))).body
    }
  }
  const there = await pages(of(user, query), 'nextCursor', 'next')
  const { prevCursor } = there.reply
  const before = await pages(of(user, `${query}&cursor=${prevCursor}&page=prev`), 'prevCursor', 'prev')
  return { there: there.found.flat(), back: [...before.found.reverse().flat(), ...(there.found.at(-1) ?? [])] }
}

describe('GET /users/{userId}/events', () => {
  test('shows the events of a user with their data, latest first', async () => {
    await using w = await world()
    await send(w, [
      { name: 'old', external_id: 'kim', created_at: '1970-01-01' },
      { name: 'late', external_id: 'kim', created_at: '2026-11-22T08:00:00Z', data: { total: 9 } },
      { name: 'tomorrow', external_id: 'kim', created_at: '2026-11-24T09:00:00Z' },
      { name: 'theirs', external_id: 'lee' },
    ])
    const { status, body } = await w.get(of('kim'), { key: w.keys.support })
    expect(status).toBe(200)
    expect(body).toEqual({
      results: [
        { name: 'tomorrow', data: {}, created_at: '2026-11-23T09:00:00.000Z', received_at: '2026-11-23T09:00:00.000Z', source: 'api' },
        {
          name: 'late',
          data: { total: 9 },
          created_at: '2026-11-22T08:00:00.000Z',
          received_at: '2026-11-23T09:00:00.000Z',
          source: 'api',
        },
        { name: 'old', data: {}, created_at: '1970-01-01T00:00:00.000Z', received_at: '2026-11-23T09:00:00.000Z', source: 'api' },
      ],
      nextCursor: null,
      prevCursor: null,
      limit: 25,
    })
  })

  test('shows which events Carillon wrote, and a request cannot set that', async () => {
    await using w = await world()
    const list = (await w.post('/api/client/lists', { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })).body
    await w.drain()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { plan: 'pro' } }])
    await w.drain()
    await send(w, [{ name: 'list_entered', external_id: 'kim', data: { list_id: list.id, source: 'system' } }])
    const { body } = await w.get(of('kim', '?direction=asc'))
    const shown = body.results.map(({ name, source, data }: Record<string, unknown>) => ({ name, source, data }))
    expect(shown).toEqual([
      { name: 'list_entered', source: 'system', data: { list_id: list.id } },
      { name: 'list_entered', source: 'api', data: { list_id: list.id, source: 'system' } },
    ])
    const refused = await w.post('/api/client/events', [{ name: 'list_entered', external_id: 'kim', source: 'system' }])
    expect(refused).toMatchObject({ status: 400, body: { code: 'parameter_unknown' } })
  })

  test('leaves out the names of changed attributes that the caller may not read', async () => {
    await using w = await world()
    await w.put('/api/client/attributes/salary', { personal_data: true })
    await w.users('kim')
    await w.drain()
    w.advance('1 minute')
    await w.post('/api/client/users/batch', [{ external_id: 'kim', phone: '+61412345678', data: { salary: 90_000, plan: 'pro' } }])
    await w.post('/api/client/events', [{ name: 'user_updated', external_id: 'kim', data: { changed: ['data.salary'] } }])
    await w.drain()
    const seen = async (key: string) => {
      const events = (await w.get(of('kim', '?name=user_updated'), { key })).body.results
      const { attributes } = (await w.get('/api/client/schema/events?q=user_updated', { key })).body.results[0]
      return [events.map(({ source, data }: any) => [source, data.changed]).sort(), attributes[0].samples]
    }
    expect(await seen(w.keys.support)).toEqual([
      [
        ['api', ['data.salary']],
        ['system', ['phone', 'data.plan']],
      ],
      ['["data.salary"]', '["phone", "data.plan"]'],
    ])
    expect((await seen(w.keys.editor))[0]).toContainEqual(['system', ['phone', 'data.salary', 'data.plan']])
  })

  test('includes the events before the user was identified', async () => {
    await using w = await world()
    await send(w, [
      { name: 'looked', anonymous_id: 'phone', created_at: '2026-11-20' },
      { name: 'bought', external_id: 'kim', created_at: '2026-11-21' },
      { name: 'read', anonymous_id: 'tablet', created_at: '2026-11-19' },
    ])
    expect(await names(w, 'kim')).toEqual(['bought'])
    await send(w, [
      { name: 'login', anonymous_id: 'phone', external_id: 'kim', created_at: '2026-11-22' },
      { name: 'login', anonymous_id: 'tablet', external_id: 'kim', created_at: '2026-11-22' },
    ])
    expect(await names(w, 'kim')).toEqual(['login', 'login', 'bought', 'looked', 'read'])
    expect(await walk(w, 'kim', '?limit=2')).toEqual({
      there: ['login', 'login', 'bought', 'looked', 'read'],
      back: ['login', 'login', 'bought', 'looked', 'read'],
    })
  })

  test.each(['desc', 'asc'])('pages are exact when events have the same time: %s', async (direction) => {
    await using w = await world()
    const at = (index: number) => `2026-11-${['20', '20', '20', '21', '21', '21', '21'][index % 7]}T00:00:00Z`
    await send(w, [{ name: 'first', anonymous_id: 'phone', created_at: at(0) }])
    await send(
      w,
      Array.from({ length: 21 }, (_, index) => ({ name: `e${index}`, external_id: 'kim', created_at: at(index) })),
    )
    await send(w, [{ name: 'login', external_id: 'kim', anonymous_id: 'phone', created_at: at(0) }])
    const all = await names(w, 'kim', `?limit=-1&direction=${direction}`)
    expect(all).toHaveLength(23)
    expect(new Set(all).size).toBe(23)
    for (const limit of [1, 2, 3, 5]) {
      expect(await walk(w, 'kim', `?limit=${limit}&direction=${direction}`)).toEqual({ there: all, back: all })
    }
  })

  test('events with the same time are in the order of sending', async () => {
    await using w = await world()
    for (let batch = 0; batch < 3; batch++) {
      await send(
        w,
        [1, 2].map((n) => ({ name: `${batch}.${n}`, external_id: 'kim', created_at: '2026-11-20' })),
      )
    }
    expect(await names(w, 'kim', '?direction=asc')).toEqual(['0.1', '0.2', '1.1', '1.2', '2.1', '2.2'])
  })

  test('a page can have events of several months', async () => {
    await using w = await world()
    const times = ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.001Z', '2026-09-01T00:00:00.000Z']
    w.clock.set(new Date('2027-01-02T00:00:00Z'))
    await send(
      w,
      times.map((created_at) => ({ name: created_at, external_id: 'kim', created_at })),
    )
    const latestFirst = times.toSorted().reverse()
    expect(await walk(w, 'kim', '?limit=1')).toEqual({ there: latestFirst, back: latestFirst })
  })

  test.each<[string, string[]]>([
    ['?name=b', ['b', 'b']],
    ['?name=B', []],
    ['?q=B', ['b', 'bc', 'b']],
    ['?since=2026-11-21', ['b', 'a', 'bc']],
    ['?until=2026-11-21', ['b']],
    ['?since=2026-11-21&until=2026-11-22T00:00:00Z&name=a', ['a']],
    ['?since=2026-11-21T10:00:00%2B10:00', ['b', 'a', 'bc']],
    ['?limit=0', []],
  ])('%s shows %j', async (query, expected) => {
    await using w = await world()
    await send(w, [
      { name: 'b', external_id: 'kim', created_at: '2026-11-20T23:59:59.999Z' },
      { name: 'bc', external_id: 'kim', created_at: '2026-11-21' },
      { name: 'a', external_id: 'kim', created_at: '2026-11-21T00:00:00.001Z' },
      { name: 'b', external_id: 'kim', created_at: '2026-11-22' },
    ])
    expect(await names(w, 'kim', query)).toEqual(expected)
  })

  test.each<[string, number, string, string]>([
    ['?since=yesterday', 400, 'parameter_invalid_format', 'since'],
    ['?since=2026-11-21&until=2026-11-21', 422, 'validation_failed', 'until'],
    ['?name=', 400, 'parameter_invalid_empty', 'name'],
    ['?sort=name', 400, 'parameter_invalid_format', 'sort'],
    ['?type=x', 400, 'parameter_unknown', 'type'],
  ])('%s is refused', async (query, status, code, param) => {
    await using w = await world()
    await w.users('kim')
    expect(await w.get(of('kim', query))).toMatchObject({ status, body: { code, error: { param } } })
  })

  test('the events of an unknown user, an erased user and a user of another project are not found', async () => {
    await using w = await world()
    await send(w, [{ name: 'a', external_id: 'kim' }])
    const { keys } = await w.other()
    expect((await w.get(of('nobody'))).status).toBe(404)
    expect((await w.get(of('kim'), { key: keys.secret })).status).toBe(404)
    await w.delete('/api/client/users/kim')
    expect((await w.get(of('kim'))).status).toBe(404)
  })

  test('a page of a user with many events reads few of them', async () => {
    await using w = await world()
    await send(w, [{ name: 'first', external_id: 'kim' }])
    const { id } = (await w.get('/api/client/users/kim')).body as { id: UserId }
    await w.db.run(
      sql`insert into events (project_id, user_id, name, data, created_at, received_at)
          select ${w.projectId}, ${id}, 'x', '{}', ${w.clock.now()}::timestamptz - n * interval '10 seconds', ${w.clock.now()}
          from generate_series(1, 20000) n`,
    )
    const Line = Type.Object({ 'QUERY PLAN': Type.Unsafe<[{ Plan: Plan }]>({}) })
    const plans: Plan[] = []
    const page = { limit: 25, travel: 'next', sort: 'created_at', direction: 'desc', q: '' } as const
    const position = { sortValue: new Date(w.clock.now().getTime() - 100_000_000).toISOString(), id: 1 }
    const cursor = { resource: 'user_events', sort: 'created_at', direction: 'desc', position, inclusive: false, q: '' } as const
    await inTx(w.ctx, async (ctx) => {
      const explained = async (_row: unknown, statement: ReturnType<typeof sql>) => {
        const lines = await ctx.db.many(Line, sql`explain (analyze, format json) ${statement}`)
        plans.push(...lines.map((line) => line['QUERY PLAN'][0].Plan))
        return []
      }
      const db = { ...ctx.db, many: explained } as unknown as typeof ctx.db
      await followIndex(ctx)
      await listEvents({ ...ctx, db }, [id], {}, page, [])
      await listEvents({ ...ctx, db }, [id], {}, { ...page, cursor }, [])
    })
    expect(plans).toHaveLength(2)
    for (const plan of plans) expect(mostRows(plan)).toBeLessThan(100)
  })
})

type Plan = { 'Actual Rows': number; Plans?: Plan[] }
const mostRows = (plan: Plan): number => Math.max(plan['Actual Rows'], ...(plan.Plans ?? []).map(mostRows))

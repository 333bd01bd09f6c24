import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { rolledBack } from '../../../test/explain.ts'
import { world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { listUsers, matchesSearch } from './pages.queries.ts'
import { planSearch } from './search.queries.ts'
import { searchPlan } from './service.ts'

const batch = '/api/client/users/batch'

test('a user of a page is the user that is read alone, without the attributes that the key may not see', async () => {
  await using w = await world()
  await w.put('/api/client/attributes/salary', { hidden: true })
  await w.post(batch, [
    { external_id: 'kim "K"\\', email: 'kim@example.com', phone: '+61400123456', timezone: 'Australia/Sydney', locale: 'en-AU' },
    { anonymous_id: 'ünï-码😀', data: { salary: 1, rate: 1e-7, big: 1e21, deep: { 'a\nb': [null, true, '"'] }, none: {} } },
  ])
  const page = (await w.get('/api/client/users')).body
  expect(page).toMatchObject({ nextCursor: null, prevCursor: null, limit: 25 })
  for (const user of page.results) {
    const { devices: _, suppressions: __, ...alone } = (await w.get(`/api/client/users/${encodeURIComponent(user.external_id)}`)).body
    expect(user).toEqual(alone)
  }
  expect(page.results.map(({ data }: { data: object }) => Object.keys(data).sort())).toEqual([['big', 'deep', 'none', 'rate'], []])
})

test('a page of users with much data is whole, and so are small pages after it', async () => {
  await using w = await world()
  const users = Array.from({ length: 100 }, (_, at) => ({ external_id: `user-${at}`, data: { about: 'ë"\\n😀'.repeat(at * 10) } }))
  await w.post(batch, users)
  const read = async (query: string) => (await w.get(`/api/client/users?direction=asc&sort=id&${query}`)).body.results
  const shown = (results: typeof users) => results.map(({ external_id, data }) => ({ external_id, data }))
  for (const limit of [1, 100, 2, 100, 25]) expect(shown(await read(`limit=${limit}`))).toEqual(users.slice(0, limit))
  const together = await Promise.all([read('limit=100'), read('limit=3'), read('limit=50')])
  expect(together.map(shown)).toEqual([users, users.slice(0, 3), users.slice(0, 50)])
})

test('pages by the time of creation follow each other, and a usual limit is part of the statement, so that its plan can be kept', async () => {
  // Connections of its own: those that tests share may have prepared as many statements as they can.
  await using w = await world({ own: true })
  for (const external_id of ['a', 'b', 'c']) {
    await w.post(batch, [{ external_id }])
    w.advance('1 second')
  }
  const first = (await w.get('/api/client/users?sort=created_at&limit=2')).body
  const second = (await w.get(`/api/client/users?cursor=${first.nextCursor}`)).body
  const names = [first, second].map(({ results }) => results.map((user: { external_id: string }) => user.external_id))
  expect(names).toEqual([['a', 'b'], ['c']])
  const runs = await w.db.transaction(async (db) => {
    const ctx = { ...w.ctx, db }
    for (let run = 0; run < 7; run++) await listUsers(ctx, { limit: 50, travel: 'next', sort: 'id', direction: 'desc', q: '' })
    return db.value(
      Type.Integer(),
      sql`select max(generic_plans + custom_plans) as runs from pg_prepared_statements
          where statement like '%from users u%order by u.id desc limit 51'`,
    )
  })
  // Whether the kept plan is chosen depends on the statistics of the table.
  expect(runs).toBeGreaterThanOrEqual(7)
})

test('pages of a common term follow each other in both directions, without users that were merged', async () => {
  await using w = await world()
  const ids = Array.from({ length: 9 }, (_, at) => `${at % 4 === 3 ? 'other' : 'common'}-${at}`)
  await w.post(batch, [...ids.map((external_id) => ({ external_id })), { anonymous_id: 'common-a' }])
  await w.post(batch, [{ external_id: 'common-4', anonymous_id: 'common-a' }])
  const read = async (query: string) => (await w.get(`/api/client/users?${query}`)).body
  const namesOf = ({ results }: { results: { external_id: string }[] }) => results.map(({ external_id }) => external_id)
  const pages = [await read('q=common&limit=2')]
  while (pages.at(-1).nextCursor) pages.push(await read(`limit=2&cursor=${pages.at(-1).nextCursor}`))
  const forward = pages.map(namesOf)
  expect(forward).toEqual([['common-8', 'common-6'], ['common-5', 'common-4'], ['common-2', 'common-1'], ['common-0']])
  const backward = [pages.at(-1)]
  while (backward[0].prevCursor) backward.unshift(await read(`limit=2&page=prev&cursor=${backward[0].prevCursor}`))
  expect(backward.map(namesOf)).toEqual(forward)
  for (const way of [pages, backward]) {
    expect(way.map(({ prevCursor, nextCursor }) => [prevCursor !== null, nextCursor !== null])).toEqual([
      [false, true],
      [true, true],
      [true, true],
      [true, false],
    ])
  }
})

test('two characters that few users have are found by their neighbours: the same users as by reading every text', async () => {
  await using w = await world()
  const texts = ['zq', 'a-zq', 'ZQ9', 'zqé', 'é zq', 'z', 'q', 'z_q', 'zq_', '%zq', 'u@zq.example', 'z@', '@z', '4-zq\\', 'Kz', '.zQ.']
  await w.post(
    batch,
    texts.map((external_id, at) => ({ external_id, email: `u${at}@example.com` })),
  )
  const page = { limit: 50, travel: 'next', sort: 'id', direction: 'desc', q: '' } as const
  const found = async (q: string, isCommon: boolean) =>
    (await listUsers(w.ctx, page, matchesSearch(w.ctx, q, { isCommon, rareParts: new Set(), hasMostUsers: false }))).results.map(
      ({ external_id }) => external_id,
    )
  for (const q of ['zq', 'ZQ', 'z@', '@z', 'zé', 'q.', '_q', '%z', 'q\\', 'kz', '9@', 'xx']) {
    expect(await found(q, false), q).toEqual(await found(q, true))
  }
  expect(await found('zq', false)).toHaveLength(10)
})

test('the email address of one among many is looked up by what it does not share with the others: the same users are found', async () => {
  await using w = await world()
  const names = ['ana', 'mia', 'quokka', 'Quokka', 'wombat', 'ana.quokka', 'q-uokka', 'quokka2']
  const others = Array.from({ length: 90 }, (_, at) => `customer${at}`)
  await w.post(
    batch,
    [...names, ...others].map((name, at) => ({ external_id: `id-${at}`, email: `${name}@example.com`, phone: `+61400000${100 + at}` })),
  )
  const rareOf = async (q: string) => [...(await searchPlan(w.ctx, q)).rareParts]
  expect(await rareOf('quokka@example.com')).toEqual(['quo', 'uok', 'okk', 'kka'])
  expect(await rareOf('customer17@example.com')).toEqual(['r17'])
  expect(await rareOf('+61 400 000 117')).toEqual(['117'])
  const found = async (q: string) =>
    (await w.get(`/api/client/users?q=${encodeURIComponent(q)}&sort=email`)).body.results.map((user: { email: string }) => user.email)
  expect(await found('quokka@example.com')).toEqual(['Quokka@example.com', 'ana.quokka@example.com', 'quokka@example.com'])
  expect(await found('customer17@example.com')).toEqual(['customer17@example.com'])
  expect(await found('+61 400 000 117')).toEqual(['customer9@example.com'])
  expect(await found('wombat@example.org')).toEqual([])
})

test('one plan for all terms finds the same users as a plan for each', async () => {
  await using w = await world()
  const names = ['ana', 'mia', 'quokka', 'Quokka', 'wombat', 'ana.quokka', 'q-uokka', 'quokka2', 'é-quokka']
  await w.post(
    batch,
    names.map((name, at) => ({ external_id: `id-${at}`, email: `${name}@example.com`, phone: `+61400000${100 + at}` })),
  )
  const other = await w.other()
  await w.post(batch, [{ external_id: 'quokka-of-others' }], { key: other.keys.secret })
  const page = { limit: 50, travel: 'next', sort: 'id', direction: 'desc', q: '' } as const
  for (const q of ['quokka', 'Quokka@example.com', 'mia', '+61 400 000 104', 'id-3', 'é-quo', 'none@example.com', '%', 'a_a']) {
    const plan = await searchPlan(w.ctx, q)
    const found = async (hasMostUsers: boolean) =>
      (await listUsers(w.ctx, page, matchesSearch(w.ctx, q, { ...plan, hasMostUsers }))).results.map(({ external_id }) => external_id)
    expect(await found(true), q).toEqual(await found(false))
  }
})

test('a project has most users of the database by the statistics of PostgreSQL', async () => {
  await using w = await world()
  const other = await w.other()
  const users = (count: number) => Array.from({ length: count }, (_, at) => ({ external_id: `user-${at}` }))
  await w.post(batch, users(9))
  await w.post(batch, users(3), { key: other.keys.secret })
  await rolledBack(w.ctx, async (ctx) => {
    await ctx.db.run(sql`delete from user_search where project_id <> all(${[w.projectId, other.ctx.projectId]}::bigint[])`)
    await ctx.db.run(sql`analyze user_search`)
    expect((await planSearch({ ...w.ctx, db: ctx.db }, 'quokka')).hasMostUsers).toBe(true)
    expect((await planSearch({ ...other.ctx, db: ctx.db }, 'quokka')).hasMostUsers).toBe(false)
  })
})

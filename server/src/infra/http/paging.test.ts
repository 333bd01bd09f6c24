import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { integerOf, textOf, valueIn } from '../../lib/row-bytes.ts'
import { Nullable } from '../../lib/shapes.ts'
import { sql } from '../postgres/db.ts'
import { bytesPageOf, listing, pageOf, readPageRequest } from './paging.ts'

const Row = Type.Object({ id: Type.Integer(), name: Nullable(Type.String()) })
type Row = { id: number; name: string | null }

const rows = listing({
  resource: 'rows',
  sorts: { id: { column: sql`id`, type: 'bigint' }, name: { column: sql`name`, type: 'text', nullable: true } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`name`],
  searchedFields: 'name',
})

const page = (query: Record<string, string>) => {
  const { request, faults } = readPageRequest(rows, query)
  expect(faults).toEqual([])
  return request
}

test('paging forward returns every row once in order, and paging back returns the same pages', async () => {
  await using w = await world()
  await w.db.run(sql`create table rows (id bigint primary key, name text collate "C")`)
  const source = { select: sql`id, name`, from: sql`rows`, where: sql`true` }
  const run = async (query: Record<string, string>) => {
    const reply = await pageOf<typeof Row, Row>(w.ctx, Row, rows, page(query), source)
    const { rows: found, ...asBytes } = await bytesPageOf(w.ctx, rows, page(query), source)
    const results = asBytes.results.map((start) => ({
      id: valueIn(found, start, 'id', integerOf),
      name: valueIn(found, start, 'name', textOf),
    }))
    found.release()
    expect({ ...asBytes, results }).toEqual(reply)
    return reply
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(fc.constantFrom('a', 'b', 'c', 'B', '')), { maxLength: 12 }),
      fc.constantFrom('id', 'name'),
      fc.constantFrom('asc', 'desc'),
      fc.integer({ min: 1, max: 5 }),
      async (names, sort, direction, limit) => {
        await w.db.run(sql`truncate rows`)
        await w.db.run(sql`insert into rows select i, n from unnest(${names}::text[]) with ordinality as t(n, i)`)
        const all = names.map((name, index): Row => ({ id: index + 1, name })).sort(ordered(sort as keyof Row, direction === 'asc'))
        const pages: Row[][] = []
        let reply = await run({ sort, direction, limit: String(limit) })
        const first = reply
        for (;;) {
          pages.push(reply.results)
          if (reply.nextCursor === null) break
          reply = await run({ cursor: reply.nextCursor, limit: String(limit) })
        }
        expect(pages.flat()).toEqual(all)
        expect(first.prevCursor).toBeNull()
        for (let at = pages.length - 2; at >= 0; at--) {
          reply = await run({ cursor: reply.prevCursor as string, page: 'prev', limit: String(limit) })
          expect(reply.results).toEqual(pages[at])
        }
        expect(reply.prevCursor).toBeNull()
      },
    ),
    { numRuns: 150 },
  )
}, 60_000)

const ordered = (sort: keyof Row, ascending: boolean) => (a: Row, b: Row) => {
  const sign = ascending ? 1 : -1
  if (a[sort] === null || b[sort] === null) return a[sort] === b[sort] ? sign * (a.id - b.id) : a[sort] === null ? 1 : -1
  if (a[sort] === b[sort]) return sign * (a.id - b.id)
  return (a[sort] as string | number) < (b[sort] as string | number) ? -sign : sign
}

test('if the rows after a cursor were deleted, the page is empty and has a cursor to go back', async () => {
  await using w = await world()
  const names = ['page1', 'page2', 'page3']
  for (const name of names) await w.post('/api/client/keys', { name, role: 'support' })
  const first = (await w.get('/api/client/keys?limit=1&q=page')).body
  for (const name of ['page1', 'page2']) {
    const [key] = (await w.get(`/api/client/keys?q=${name}`)).body.results
    await w.delete(`/api/client/keys/${key.id}`)
  }
  const gone = (await w.get(`/api/client/keys?limit=1&cursor=${first.nextCursor}`)).body
  expect(gone).toMatchObject({ results: [], nextCursor: null })
  expect((await w.get(`/api/client/keys?limit=1&page=prev&cursor=${gone.prevCursor}`)).body.results[0].name).toBe('page3')
})

describe('parameters', () => {
  test.each([
    [{}, 25],
    [{ limit: '' }, 25],
    [{ limit: 'null' }, 25],
    [{ limit: '-1' }, -1],
    [{ limit: '0' }, 0],
    [{ limit: '100' }, 100],
  ])('%j means a limit of %i', (query, limit) => expect(page(query as Record<string, string>).limit).toBe(limit))

  test.each<[Record<string, string>, string, string]>([
    [{ limit: '101' }, 'limit', 'validation_failed'],
    [{ limit: '-2' }, 'limit', 'validation_failed'],
    [{ limit: '10000' }, 'limit', 'validation_failed'],
    [{ limit: '-10000' }, 'limit', 'validation_failed'],
    [{ limit: '9'.repeat(400) }, 'limit', 'validation_failed'],
    [{ limit: '1.5' }, 'limit', 'parameter_invalid_format'],
    [{ page: 'back' }, 'page', 'parameter_invalid_format'],
    [{ sort: 'colour' }, 'sort', 'parameter_invalid_format'],
    [{ sort: '__proto__' }, 'sort', 'parameter_invalid_format'],
    [{ direction: 'up' }, 'direction', 'parameter_invalid_format'],
    [{ cursor: 'nonsense' }, 'cursor', 'parameter_invalid_format'],
    [{ cursor: '' }, 'cursor', 'parameter_invalid_format'],
    [{ q: 'x'.repeat(256) }, 'q', 'validation_failed'],
  ])('%j is refused at %s with %s', (query, param, code) => expect(readPageRequest(rows, query).faults).toMatchObject([{ param, code }]))

  test('a cursor cannot be used with another sort, direction or search', async () => {
    await using w = await world()
    for (const name of ['one', 'two']) await w.post('/api/client/keys', { name })
    const { nextCursor } = (await w.get('/api/client/keys?limit=1&sort=name&q=o')).body
    const status = async (rest: string) => (await w.get(`/api/client/keys?cursor=${nextCursor}${rest}`)).status
    expect([
      await status(''),
      await status('&sort=name&direction=asc&q=o'),
      await status('&sort=id'),
      await status('&direction=desc'),
      await status('&q=x'),
    ]).toEqual([200, 200, 400, 400, 400])
    expect((await w.get(`/api/client/projects?cursor=${nextCursor}`, { key: w.keys.organisation })).status).toBe(400)
  })

  test('a cursor has the direction when only the sort is sent', async () => {
    await using w = await world()
    for (const name of ['one', 'two']) await w.post('/api/client/keys', { name })
    for (const [sort, direction] of [
      ['name', 'desc'],
      ['id', 'asc'],
    ]) {
      const { nextCursor } = (await w.get(`/api/client/keys?limit=1&sort=${sort}&direction=${direction}`)).body
      const left = await w.get(`/api/client/keys?limit=1&cursor=${nextCursor}`)
      const sent = await w.get(`/api/client/keys?limit=1&sort=${sort}&cursor=${nextCursor}`)
      expect([sent.status, sent.body]).toEqual([200, left.body])
    }
  })

  test('limit=-1 returns up to LIST_ALL_MAX rows and refuses more', async () => {
    await using w = await world({ env: { LIST_ALL_MAX: '9' } })
    expect((await w.get('/api/client/keys?limit=-1')).body).toMatchObject({ limit: -1, nextCursor: null })
    for (let at = 0; at < 10; at++) await w.post('/api/client/keys', { name: `k${at}` })
    expect((await w.get('/api/client/keys?limit=-1')).body).toMatchObject({ code: 'validation_failed', error: { param: 'limit' } })
    expect((await w.get('/api/client/keys?limit=0')).body).toEqual({ results: [], nextCursor: null, prevCursor: null, limit: 0 })
  })
})

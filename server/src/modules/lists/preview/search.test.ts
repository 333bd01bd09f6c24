import { describe, expect, test } from 'vitest'
import { lockedUsers } from '../../../../test/locked-users.ts'
import { type World, world } from '../../../../test/world.ts'
import { readPageRequest } from '../../../infra/http/paging.ts'
import { matchListing } from './queries.ts'
import { searchByRule } from './search.ts'

const SEARCH = '/api/client/users/search'
const PRO = { attribute: 'data.plan', is: 'pro' }

const search = (w: World, rule: unknown, query = '', options?: object) => w.post(`${SEARCH}${query}`, { rule }, options)
const namesOf = ({ body }: { body: any }): string[] => body.results.map(({ external_id }: any) => external_id)

/** Saves users with a plan, in this order. */
const save = (w: World, plans: Record<string, string>, options?: object) =>
  w.post(
    '/api/client/users/batch',
    Object.entries(plans).map(([external_id, plan]) => ({ external_id, data: { plan } })),
    options,
  )

const planned = (plan: string, count: number, prefix = plan) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}-${at + 10}`, plan]))

describe('a search by a rule', () => {
  test('returns the users who match, and the rule in words', async () => {
    await using w = await world()
    await save(w, { ana: 'pro', kim: 'free', lee: 'pro', max: 'pro' })
    await w.post('/api/client/events', [
      { external_id: 'ana', name: 'purchase', data: { total: 70 } },
      { external_id: 'lee', name: 'purchase', data: { total: 20 } },
    ])
    await w.drain()
    await w.delete('/api/client/users/max')
    const reply = await search(w, { all: [PRO, { not: { event: 'refund' } }] }, '', { key: w.keys.support })
    expect([reply.status, namesOf(reply), reply.body.limit]).toEqual([200, ['lee', 'ana'], 25])
    expect(reply.body.description).toContain('pro')
    // Who is being erased takes no place on a page.
    expect(namesOf(await search(w, PRO, '?limit=1'))).toEqual(['lee'])
    const bought = { event: 'purchase', at_least: 1, where: [{ attribute: 'data.total', greater_than: 50 }] }
    expect(namesOf(await search(w, { all: [PRO, bought] }))).toEqual(['ana'])
    const german = await search(w, PRO, '', { headers: { 'accept-language': 'de' } })
    expect(german.body.description).not.toBe((await search(w, PRO)).body.description)
  })

  test.each(['', '&sort=created_at', '&sort=updated_at&direction=desc', '&sort=id&direction=asc'])(
    'has every match once on its pages, forwards and back (%s)',
    async (order) => {
      await using w = await world()
      // Two batches, so that some users share their times and others do not.
      await save(w, { ...planned('pro', 8), ...planned('free', 5) })
      w.clock.advance(1000)
      await save(w, planned('pro', 7, 'later'))
      const expected = [...Object.keys(planned('pro', 8)), ...Object.keys(planned('pro', 7, 'later'))].sort()
      const pages: string[][] = []
      let query = `?limit=4${order}`
      let last = await search(w, PRO, query)
      for (;;) {
        pages.push(namesOf(last))
        if (last.body.nextCursor === null) break
        query = `?limit=4${order}&cursor=${last.body.nextCursor}`
        last = await search(w, PRO, query)
      }
      expect(pages.map((page) => page.length)).toEqual([4, 4, 4, 3])
      expect(pages.flat().sort()).toEqual(expected)
      const back = await search(w, PRO, `?limit=4${order}&page=prev&cursor=${last.body.prevCursor}`)
      expect(namesOf(back)).toEqual(pages[2])
    },
  )

  test('finds text among the users who match', async () => {
    await using w = await world()
    await save(w, { 'anna-1': 'pro', 'anna-2': 'free', kim: 'pro' })
    for (const q of ['anna', 'an', 'a']) expect(namesOf(await search(w, PRO, `?q=${q}`)), q).toEqual(['anna-1'])
    expect(namesOf(await search(w, PRO, '?limit=0'))).toEqual([])
  })

  test('has no users of another project', async () => {
    await using w = await world()
    const other = await w.other()
    await save(w, { ours: 'pro' })
    await save(w, { ours: 'pro', theirs: 'pro' }, { key: other.keys.secret })
    for (const query of ['', '?limit=-1', '?q=theirs', '?q=our', '?sort=updated_at']) {
      const { body } = await search(w, { any: [PRO, { not: PRO }] }, query)
      expect(body.results.map((user: any) => user.project_id).filter((id: number) => id !== w.projectId)).toEqual([])
    }
    // Nor do they take a place on a page.
    const { body } = await search(w, PRO, '?limit=1')
    expect([body.results.length, body.nextCursor]).toEqual([1, null])
    const { nextCursor } = (await search(w, PRO, '?limit=1', { key: other.keys.secret })).body
    expect(namesOf(await search(w, { any: [PRO, { not: PRO }] }, `?cursor=${nextCursor}`))).not.toContain('theirs')
    expect(namesOf(await search(w, PRO, '', { key: other.keys.secret }))).toEqual(['theirs', 'ours'])
  })

  test('refuses what a preview refuses, in its words', async () => {
    await using w = await world()
    const rules = [
      null,
      {},
      { attribute: 'data.plan' },
      { attribute: 'nothing', is: 'x' },
      { all: [] },
      { list: 123456 },
      { any: [PRO, { event: '', at_least: 1 }] },
      { any: Array.from({ length: 101 }, () => PRO) },
    ]
    for (const rule of rules) {
      const preview = await w.post('/api/client/lists/preview', { rule })
      const refused = await search(w, rule)
      expect(refused.status, JSON.stringify(rule)).toBeGreaterThanOrEqual(400)
      expect([refused.status, refused.body.error.errors]).toEqual([preview.status, preview.body.error.errors])
    }
    expect((await search(w, PRO, '?sort=email')).status).toBe(400)
    expect((await search(w, PRO, '?cursor=x')).status).toBe(400)
  })

  test('that takes too long is refused', async () => {
    await using w = await world()
    await using _held = await lockedUsers(w)
    const { request } = readPageRequest(matchListing, {})
    const refused = await searchByRule(w.ctx, { rule: PRO, page: request, campaigns: [] }, 50).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'validation_failed', param: 'rule', status: 422 })
  })

  test('waits with the previews of its project, of which four wait', async () => {
    await using w = await world()
    await save(w, { ana: 'pro' })
    const held = await lockedUsers(w)
    const asked = Array.from({ length: 6 }, (_, at) => (at % 2 ? w.post('/api/client/lists/preview', { rule: PRO }) : search(w, PRO)))
    const refused = await Promise.race(asked)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10'])
    await held[Symbol.asyncDispose]()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 200, 429])
  })
})

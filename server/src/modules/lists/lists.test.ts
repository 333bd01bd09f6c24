import pg from 'pg'
import { Type } from 'typebox'
import { describe, expect, test, vi } from 'vitest'
import { blastTo, CAMPAIGNS, pathOf as campaignPath, subscriptionTo } from '../../../test/blasts.ts'
import { lockedUsers } from '../../../test/locked-users.ts'
import { select } from '../../../test/select.ts'
import { type Tenant, type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { ListId } from '../../lib/ids.ts'
import { DAY_MS } from '../../lib/times.ts'
import { changeMembers } from './live/members.ts'
import { previewRule } from './preview/preview.ts'
import { listNames, lockRules } from './queries.ts'
import { archiveUnused } from './service.ts'

const LISTS = '/api/client/lists'
const pathOf = ({ id }: { id: number }) => `${LISTS}/${id}`
const usersOf = (list: { id: number }) => `${pathOf(list)}/users`
const PRO = { attribute: 'data.plan', is: 'pro' }

async function make(w: World, body: object = {}) {
  const reply = await w.post(LISTS, { name: 'All', type: 'static', ...body })
  expect(reply.status, reply.text).toBe(201)
  return reply.body
}

const dynamic = (w: World, rule: object = PRO, body: object = {}) => make(w, { type: 'dynamic', rule, ...body })

async function users(w: World, plans: Record<string, string>) {
  const { body } = await w.post(
    '/api/client/users/batch',
    Object.entries(plans).map(([external_id, plan]) => ({ external_id, data: { plan } })),
  )
  return Object.fromEntries(body.results.map(({ user }: any) => [user.external_id, user.id])) as Record<string, number>
}

const namesIn = async (w: World, list: { id: number }, query = '') =>
  (await w.get(`${usersOf(list)}${query}`)).body.results.map(({ external_id }: any) => external_id)

/** The status of a refusal, with the code and parameter of each fault. */
const faultsOf = ({ status, body }: { status: number; body: any }) => [
  status,
  ...body.error.errors.map(({ code, param }: any) => `${code} ${param}`),
]

describe('create and read', () => {
  test('a new static list is ready and empty', async () => {
    await using w = await world()
    const reply = await w.post(LISTS, { name: ' Testers ', type: 'static', tags: ['b', 'a', 'b'] }, { key: w.keys.editor })
    expect(reply.status).toBe(201)
    expect(reply.headers.location).toBe(pathOf(reply.body))
    expect(reply.body).toEqual({
      id: expect.any(Number),
      project_id: w.projectId,
      name: 'Testers',
      type: 'static',
      tags: ['b', 'a'],
      rule: null,
      description: '',
      state: 'ready',
      progress: 1,
      users_count: 0,
      created_at: w.clock.now().toISOString(),
      updated_at: w.clock.now().toISOString(),
    })
    expect((await w.get(pathOf(reply.body), { key: w.keys.support })).body).toEqual(reply.body)
  })

  test('a dynamic list is building until all users were evaluated', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'free', lee: 'pro' })
    const list = await dynamic(w)
    expect(list).toMatchObject({ type: 'dynamic', rule: PRO, state: 'building', progress: 0, users_count: 0 })
    expect(list.description).toContain('pro')
    expect(await namesIn(w, list)).toEqual([])
    await w.drain()
    expect((await w.get(pathOf(list))).body).toMatchObject({ state: 'ready', progress: 1, users_count: 2 })
    expect(await namesIn(w, list)).toEqual(['lee', 'ana'])
  })

  test('the description names the lists, types and campaigns of the rule', async () => {
    await using w = await world()
    const [type] = (await w.get('/api/client/subscriptions')).body.results
    const campaign = (await w.post('/api/client/campaigns', { type: 'blast', name: 'Spring', subscription_id: type.id })).body
    const vip = await make(w, { name: 'VIP' })
    const { description, id } = await dynamic(w, {
      all: [{ list: vip.id }, { subscription: type.id, is: 'subscribed' }, { campaign: campaign.id, did: 'opened' }],
    })
    for (const name of ['VIP', type.name, 'Spring']) expect(description).toContain(name)
    const { results } = (await w.get(LISTS)).body
    expect(results.map(({ description }: any) => description)).toEqual([description, ''])
    await w.patch(pathOf(vip), { name: 'Best' })
    expect((await w.get(pathOf({ id }))).body.description).toContain('Best')
  })

  test('the description is in the language that is asked for, and the reply says in which', async () => {
    await using w = await world()
    const list = await dynamic(w)
    for (const path of [LISTS, pathOf(list)]) {
      const { headers, body, text } = await w.get(path, { headers: { 'accept-language': 'de' } })
      expect((body.results?.[0] ?? body).description, text).not.toBe(list.description)
      expect([headers['content-language'], headers.vary], path).toEqual(['de', expect.stringContaining('Accept-Language')])
    }
  })

  test('lists are sorted by each sort, and searched by name and tag', async () => {
    await using w = await world()
    for (const name of ['b', 'c', 'a']) {
      await make(w, { name, tags: [`tag-${name}`] })
      w.advance('1 minute')
    }
    await dynamic(w, PRO, { name: 'd' })
    const names = async (query: string) => (await w.get(`${LISTS}?${query}`)).body.results.map(({ name }: any) => name)
    expect(await names('')).toEqual(['d', 'a', 'c', 'b'])
    expect(await names('sort=name')).toEqual(['a', 'b', 'c', 'd'])
    expect(await names('sort=type')).toEqual(['d', 'b', 'c', 'a'])
    expect(await names('sort=created_at')).toEqual(['b', 'c', 'a', 'd'])
    expect(await names('sort=updated_at&direction=desc')).toEqual(['d', 'a', 'c', 'b'])
    expect(await names('q=TAG-C')).toEqual(['c'])
    const first = (await w.get(`${LISTS}?limit=3`)).body
    expect(await names(`cursor=${first.nextCursor}`)).toEqual(['b'])
    expect(faultsOf(await w.get(`${LISTS}?sort=state`))).toEqual([400, 'parameter_invalid_format sort'])
  })
})

describe('invalid input', () => {
  test.each<[string, object, (string | number)[]]>([
    ['neither name nor type', {}, [400, 'parameter_missing name', 'parameter_missing type']],
    ['an unknown type', { name: 'x', type: 'smart' }, [400, 'parameter_invalid_format type']],
    ['a dynamic list without a rule', { name: 'x', type: 'dynamic' }, [400, 'parameter_missing rule']],
    ['a static list with a rule', { name: 'x', type: 'static', rule: PRO }, [422, 'validation_failed rule']],
    ['a rule that is a string', { name: 'x', type: 'dynamic', rule: 'all' }, [400, 'parameter_invalid_format rule']],
    ['too many tags', { name: 'x', type: 'static', tags: Array(51).fill('t') }, [422, 'validation_failed tags']],
    ['a read-only member', { name: 'x', type: 'static', state: 'ready' }, [400, 'parameter_unknown state']],
  ])('%s', async (_, body, expected) => {
    await using w = await world()
    expect(faultsOf(await w.post(LISTS, body))).toEqual(expected)
  })

  test('the path of a fault points into the rule', async () => {
    await using w = await world()
    const rule = { all: [PRO, { none: [{ attribute: 'data.age', greater_than: 'x' }] }] }
    const expected = [400, 'parameter_invalid_format rule.all[1].none[0].greater_than']
    expect(faultsOf(await w.post(LISTS, { name: 'x', type: 'dynamic', rule }))).toEqual(expected)
    expect(faultsOf(await w.post(`${LISTS}/preview`, { rule }))).toEqual(expected)
    expect(faultsOf(await w.patch(pathOf(await dynamic(w)), { rule }))).toEqual(expected)
  })

  test('references of a rule must exist in this project', async () => {
    await using w = await world()
    const foreign = await w.other()
    const theirs = (await w.post(LISTS, { name: 'Theirs', type: 'static' }, { key: foreign.keys.secret })).body.id
    const [type] = (await w.get('/api/client/subscriptions', { key: foreign.keys.secret })).body.results
    const rule = {
      any: [{ list: theirs }, { not: { subscription: type.id, is: 'subscribed' } }, { campaign: 2 ** 40, did: 'sent' }, { list: 2 ** 50 }],
    }
    const expected = [
      422,
      'validation_failed rule.any[0].list',
      'validation_failed rule.any[1].not.subscription',
      'validation_failed rule.any[2].campaign',
      'validation_failed rule.any[3].list',
    ]
    expect(faultsOf(await w.post(LISTS, { name: 'x', type: 'dynamic', rule }))).toEqual(expected)
    expect(faultsOf(await w.post(`${LISTS}/preview`, { rule }))).toEqual(expected)
    expect(faultsOf(await w.patch(pathOf(await dynamic(w)), { rule }))).toEqual(expected)
  })

  test('a project has at most 500 dynamic lists', async () => {
    await using w = await world()
    const now = w.clock.now()
    await w.db.run(
      sql`insert into lists (project_id, name, type, created_at, updated_at)
          select ${w.projectId}, 'x', 'dynamic', ${now}, ${now} from generate_series(1, 500)`,
    )
    const refused = await w.post(LISTS, { name: 'One more', type: 'dynamic', rule: PRO })
    expect([refused.status, refused.body.code]).toEqual([429, 'quota_exceeded'])
    expect((await make(w)).type).toBe('static')
  })
})

describe('change', () => {
  test('only the given members change, and `updated_at` only with them', async () => {
    await using w = await world()
    const list = await dynamic(w, PRO, { tags: ['a'] })
    await w.drain()
    const { body: built } = await w.get(pathOf(list))
    w.advance('1 hour')
    for (const body of [{}, { name: 'All' }, { rule: { is: 'pro', attribute: 'data.plan' } }, { tags: ['a', 'a'] }]) {
      expect((await w.patch(pathOf(list), body)).body).toEqual(built)
    }
    const { body } = await w.patch(pathOf(list), { name: 'Renamed', tags: [] })
    expect(body).toEqual({ ...built, name: 'Renamed', tags: [], updated_at: w.clock.now().toISOString() })
  })

  test('tags are part of the version of a list and of its audit entries', async () => {
    await using w = await world()
    const list = await make(w, { tags: ['old'] })
    const { etag } = (await w.get(pathOf(list))).headers
    const withTag = { headers: { 'if-match': etag as string } }
    expect((await w.patch(pathOf(list), { tags: ['a'] }, withTag)).status).toBe(200)
    expect((await w.patch(pathOf(list), { tags: ['b'] }, withTag)).status).toBe(412)
    expect((await w.get(pathOf(list))).body.tags).toEqual(['a'])
    const [entry] = (await w.get('/api/client/audit?limit=1&direction=desc')).body.results
    expect([entry.before.tags, entry.after.tags]).toEqual([['old'], ['a']])
  })

  test('the users of the previous rule stay until the new rule is built', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'free' })
    const list = await dynamic(w)
    await w.drain()
    const rule = { not: PRO }
    const { body } = await w.patch(pathOf(list), { rule })
    expect(body).toMatchObject({ rule, state: 'building', users_count: 1 })
    expect(await namesIn(w, list)).toEqual(['ana'])
    await w.drain()
    expect((await w.get(pathOf(list))).body).toMatchObject({ rule, state: 'ready', users_count: 1 })
    expect(await namesIn(w, list)).toEqual(['kim'])
  })

  /** Rebuilds two lists that depend on a list with a new rule, and writes to the second between the two. */
  async function writtenDuringRebuild(w: World, write: (list: { id: number }) => Promise<{ status: number }>) {
    await users(w, { ana: 'pro', kim: 'free' })
    const base = await dynamic(w)
    const [first, second] = [await dynamic(w, { list: base.id }), await dynamic(w, { list: base.id })]
    await w.drain()
    await w.patch(pathOf(base), { rule: { not: PRO } })
    const client = new pg.Client({ connectionString: w.databaseUrl })
    await client.connect()
    await client.query('begin')
    await client.query('select from lists where id = $1 for update', [first.id])
    const building = w.drain('lists.build')
    await statementWaits(w)
    const writing = write(second)
    // A write that must wait for the rebuild is answered after it.
    await Promise.race([writing, statementWaits(w, 2)])
    await client.query('commit')
    await client.end()
    expect((await writing).status).toBeLessThan(300)
    await building
    await w.drain()
    expect(await namesIn(w, first)).toEqual(['kim'])
    return second
  }

  test('a new rule is not lost when the list is being rebuilt because of another list', async () => {
    await using w = await world()
    const rule = { attribute: 'external_id', is: 'ana' }
    const list = await writtenDuringRebuild(w, (list) => w.patch(pathOf(list), { rule }))
    expect((await w.get(pathOf(list))).body).toMatchObject({ rule, state: 'ready', users_count: 1 })
    expect(await namesIn(w, list)).toEqual(['ana'])
  })

  test('a list that is archived while it is being rebuilt because of another list stays without users', async () => {
    await using w = await world()
    const list = await writtenDuringRebuild(w, (list) => w.delete(pathOf(list)))
    const { body } = await w.get('/api/client/users/kim/lists')
    expect(body.results.map(({ id }: any) => id)).not.toContain(list.id)
  })

  test('a build that is done does not wait for a request that changes a rule, and is ready after it', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'free' })
    const list = await dynamic(w)
    const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const changing = inTx(w.ctx, async (ctx) => {
      await lockRules(ctx)
      locked.resolve()
      await release.promise
    })
    await locked.promise
    const building = w.drain('lists.build').then(() => 'rests')
    const first = await Promise.race([building, statementWaits(w).then(() => 'waits')])
    const { state } = (await w.get(pathOf(list))).body
    await users(w, { kim: 'pro' })
    release.resolve()
    await Promise.all([changing, building])
    expect([first, state]).toEqual(['rests', 'building'])
    await w.drain()
    expect((await w.get(pathOf(list))).body).toMatchObject({ state: 'ready', users_count: 2 })
  })

  test('a static list refuses a rule, and every list refuses a new type', async () => {
    await using w = await world()
    const list = await make(w)
    expect(faultsOf(await w.patch(pathOf(list), { rule: PRO }))).toEqual([422, 'validation_failed rule'])
    expect(faultsOf(await w.patch(pathOf(list), { type: 'dynamic' }))).toEqual([400, 'parameter_unknown type'])
    expect((await w.patch(`${LISTS}/999999999`, { rule: PRO })).status).toBe(404)
  })
})

describe('lists that depend on lists', () => {
  test('a list must not depend on itself', async () => {
    await using w = await world()
    const a = await dynamic(w, PRO, { name: 'A' })
    const b = await dynamic(w, { all: [PRO, { list: a.id }] }, { name: 'B' })
    const c = await dynamic(w, { list: b.id }, { name: 'C' })
    for (const [list, rule] of [
      [a, { not: { list: c.id } }],
      [a, { not: { list: a.id } }],
      [b, { not: { list: c.id } }],
    ] as const) {
      const refused = await w.patch(pathOf(list), { rule })
      expect(faultsOf(refused)).toEqual([422, 'validation_failed rule.not.list'])
    }
    const { body } = await w.patch(pathOf(a), { rule: { list: c.id } })
    expect(body.message).toContain('“A” → “C” → “B” → “A”')
  })

  test('a list must not depend on itself by counting membership events', async () => {
    await using w = await world()
    const a = await dynamic(w)
    const where = (id: number) => ({ event: 'list_entered', where: [{ attribute: 'data.list_id', is: id }] })
    const b = await dynamic(w, where(a.id))
    expect((await w.patch(pathOf(a), { rule: where(b.id) })).status).toBe(422)
    expect((await w.delete(pathOf(a))).status).toBe(422)
  })

  test('two concurrent changes do not make lists depend on each other', async () => {
    await using w = await world()
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await dynamic(w), await dynamic(w)]
      const replies = await Promise.all([w.patch(pathOf(a), { rule: { list: b.id } }), w.patch(pathOf(b), { rule: { list: a.id } })])
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 422])
    }
  })

  test('a list is not archived while a concurrent change refers to it', async () => {
    await using w = await world()
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await dynamic(w), await dynamic(w)]
      const replies = await Promise.all([w.patch(pathOf(a), { rule: { list: b.id } }), w.delete(pathOf(b))])
      expect(['200,422', '422,204']).toContain(String(replies.map(({ status }) => status)))
    }
  })

  test('the rule of the live version counts until the new rule is built', async () => {
    await using w = await world()
    const [a, b] = [await dynamic(w), await dynamic(w)]
    await w.patch(pathOf(a), { rule: { list: b.id } })
    await w.drain()
    await w.patch(pathOf(a), { rule: PRO })
    const back = { rule: { list: a.id } }
    expect((await w.patch(pathOf(b), back)).status).toBe(422)
    await w.drain()
    expect((await w.patch(pathOf(b), back)).status).toBe(200)
  })

  test('a chain has at most ten lists', async () => {
    await using w = await world()
    let last = await make(w)
    for (let length = 2; length <= 10; length++) last = await dynamic(w, { list: last.id })
    expect(faultsOf(await w.post(LISTS, { name: 'x', type: 'dynamic', rule: { list: last.id } }))).toEqual([
      422,
      'validation_failed rule.list',
    ])
  })
})

describe('archive', () => {
  test('an archived list is not found by any request', async () => {
    await using w = await world()
    await users(w, { ana: 'pro' })
    const list = await dynamic(w)
    await w.drain()
    expect((await w.delete(pathOf(list))).status).toBe(204)
    await w.drain()
    for (const path of [pathOf(list), usersOf(list), `${usersOf(list)}/ana/explain`]) expect((await w.get(path)).status).toBe(404)
    expect((await w.delete(pathOf(list))).status).toBe(404)
    expect((await w.post(`${pathOf(list)}/recount`)).status).toBe(404)
    expect((await w.get(LISTS)).body.results).toEqual([])
    expect(faultsOf(await w.post(LISTS, { name: 'x', type: 'dynamic', rule: { list: list.id } }))).toEqual([
      422,
      'validation_failed rule.list',
    ])
  })

  test('a list that another list refers to is not archived, and the error names it', async () => {
    await using w = await world()
    const vip = await make(w)
    const user = await dynamic(w, { not: { list: vip.id } }, { name: 'Others' })
    await w.drain()
    const refused = await w.delete(pathOf(vip))
    expect([refused.status, refused.body.code]).toEqual([422, 'validation_failed'])
    expect(refused.body.message).toContain('the list “Others”')
    await w.patch(pathOf(user), { rule: PRO })
    expect((await w.delete(pathOf(vip))).status).toBe(422)
    await w.drain()
    expect((await w.delete(pathOf(vip))).status).toBe(204)
  })

  test('a list of a scheduled campaign is not archived', async () => {
    await using w = await world()
    const [list, excluded, other] = [await make(w), await make(w), await make(w)]
    const [type] = (await w.get('/api/client/subscriptions')).body.results
    const blast = { type: 'blast', name: 'Spring', subscription_id: type.id, list_ids: [list.id], exclusion_list_ids: [excluded.id] }
    const campaign = (await w.post('/api/client/campaigns', { ...blast, send_at: '2026-12-01T09:00:00Z' })).body
    await w.put(`/api/client/campaigns/${campaign.id}/templates/en`, { subject: 'Hi', html: '<p>Hi</p>' })
    expect((await w.patch(`/api/client/campaigns/${campaign.id}`, { state: 'scheduled' })).status).toBe(200)
    for (const used of [list, excluded]) {
      const refused = await w.delete(pathOf(used))
      expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('the campaign “Spring”')])
    }
    expect((await w.delete(pathOf(other))).status).toBe(204)
  })

  test('a campaign with a list that was archived is not scheduled', async () => {
    await using w = await world()
    const [list, excluded, other] = [await make(w), await make(w), await make(w)]
    const draft = async () => blastTo(w, [list.id], { exclusion_list_ids: [excluded.id], send_at: '2026-12-01T09:00:00Z' })
    const [campaign, original] = [await draft(), await draft()]
    expect((await w.delete(pathOf(excluded))).status).toBe(204)
    const refused = await w.patch(campaignPath(campaign), { state: 'scheduled' })
    expect(faultsOf(refused)).toEqual([422, 'validation_failed exclusion_list_ids[0]'])
    expect((await w.patch(campaignPath(campaign), { state: 'scheduled', exclusion_list_ids: [other.id] })).status).toBe(200)
    const copy = (await w.post(`${campaignPath(original)}/duplicate`)).body
    const again = await w.patch(campaignPath(copy), { state: 'scheduled', send_at: '2026-12-01T09:00:00Z' })
    expect(faultsOf(again)).toEqual([422, 'validation_failed exclusion_list_ids[0]'])
    expect((await w.patch(campaignPath(copy), { name: 'Autumn' })).status).toBe(200)
  })

  /** A trigger campaign with a template, for users who are not in a list. */
  async function triggerWithout(w: World, list: { id: number }) {
    const event_rule = { user: { not: { any: [{ list: list.id }, PRO] } } }
    const subscription_id = await subscriptionTo(w)
    const campaign = (await w.post(CAMPAIGNS, { type: 'trigger', name: 'Welcome', event_name: 'cart', event_rule, subscription_id })).body
    await w.put(`${campaignPath(campaign)}/templates/en`, { subject: 'Hi', html: '<p>Hi</p>' })
    return campaign
  }

  test('a list in the rule of a running trigger campaign is not archived: users whom it leaves out would get messages', async () => {
    await using w = await world()
    const [list, other] = [await make(w), await make(w)]
    const campaign = await triggerWithout(w, list)
    expect((await w.patch(campaignPath(campaign), { state: 'running' })).status).toBe(200)
    const refused = await w.delete(pathOf(list))
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('the campaign “Welcome”')])
    expect((await w.delete(pathOf(other))).status).toBe(204)
    await w.patch(campaignPath(campaign), { event_rule: { user: PRO } })
    expect((await w.delete(pathOf(list))).status).toBe(204)
  })

  test('a trigger campaign does not start while its rule refers to a list that was archived', async () => {
    await using w = await world()
    const list = await make(w)
    const campaign = await triggerWithout(w, list)
    expect((await w.delete(pathOf(list))).status).toBe(204)
    const refused = await w.patch(campaignPath(campaign), { state: 'running' })
    expect(faultsOf(refused)).toEqual([422, 'validation_failed event_rule.user.not.any[0].list'])
    expect((await w.patch(campaignPath(campaign), { state: 'running', event_rule: { user: PRO } })).status).toBe(200)
  })

  test('a list is not archived while a concurrent write schedules a campaign that uses it', async () => {
    await using w = await world()
    for (let round = 0; round < 5; round++) {
      const list = await make(w)
      const campaign = await blastTo(w, [list.id], { send_at: '2026-12-01T09:00:00Z' })
      const replies = await Promise.all([w.patch(campaignPath(campaign), { state: 'scheduled' }), w.delete(pathOf(list))])
      expect(['200,422', '422,204']).toContain(String(replies.map(({ status }) => status)))
    }
  })

  test('the error names a few of many uses, and shortens long names', async () => {
    await using w = await world()
    const list = await make(w)
    const uses = ['x'.repeat(300), ...Array.from({ length: 6 }, (_, at) => `${at}`)]
    const { message } = await inTx(w.ctx, (ctx) => archiveUnused(ctx, list.id, uses, [])).then(
      () => new Error('It was archived.'),
      (error: Error) => error,
    )
    expect(message).toContain('the campaign “0”')
    expect(message).toContain('and 2 more')
    expect(message.length).toBeLessThan(500)
  })
})

describe('restoring', () => {
  const archived = async (w: World) => (await w.get(`${LISTS}?archived=true`)).body.results
  const statuses = async (w: World) =>
    (await select(w, 'select status from list_versions where project_id = $1', [w.projectId])).map(({ status }) => status)
  const restore = (w: World, list: { id: number }) => w.post(`${pathOf(list)}/unarchive`)

  test('a static list has its users again, also those who were merged meanwhile, and one that is not archived stays as it is', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'pro' })
    await w.post('/api/client/users/batch', [{ anonymous_id: 'device-1' }])
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: ['ana', 'device-1'] })
    await w.drain()
    await w.delete(pathOf(list))
    await w.drain()
    const [shown] = await archived(w)
    expect(shown).toMatchObject({ id: list.id, users_count: 2, state: 'ready', archived_at: w.clock.now().toISOString() })
    await w.post('/api/client/users/batch', [{ anonymous_id: 'device-1', external_id: 'kim' }])
    await w.drain()
    expect(await restore(w, list)).toMatchObject({ status: 200, body: { users_count: 2, state: 'ready' } })
    expect((await restore(w, list)).body.archived_at).toBeUndefined()
    await w.drain()
    expect((await namesIn(w, list)).sort()).toEqual(['ana', 'kim'])
    await w.post(`${pathOf(list)}/recount`)
    expect((await w.get(pathOf(list))).body.users_count).toBe(2)
    expect(await archived(w)).toEqual([])
  })

  test('while a static list is archived, no rule finds its users', async () => {
    await using w = await world()
    await users(w, { ana: 'pro' })
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: ['ana'] })
    await w.drain()
    const seen = async () => (await w.post(`${LISTS}/preview`, { rule: { list: list.id } })).status
    expect(await seen()).toBe(200)
    await w.delete(pathOf(list))
    expect(await seen()).toBe(422)
    expect(await select(w, 'select live_version_id from lists where id = $1', [list.id])).toEqual([{ live_version_id: null }])
  })

  test('a dynamic list is built again by its rule, also after the rows of its version were deleted', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'free' })
    const list = await dynamic(w)
    await w.drain()
    await w.delete(pathOf(list))
    await w.drain()
    expect(await statuses(w)).toEqual(['archived'])
    await users(w, { lee: 'pro' })
    expect(await restore(w, list)).toMatchObject({ status: 200, body: { state: 'building', users_count: 0, rule: PRO } })
    await w.drain()
    expect((await namesIn(w, list)).sort()).toEqual(['ana', 'lee'])
    expect(await statuses(w)).toEqual(['live'])
  })

  test('of a list that an earlier version archived, a static one comes back empty, and a dynamic one does not', async () => {
    await using w = await world()
    await users(w, { ana: 'pro' })
    const [list, ruled] = [await make(w), await dynamic(w)]
    await w.drain()
    const ids = [list.id, ruled.id]
    await select(w, `update lists set archived_at = now(), live_version_id = null where id = any($1)`, [ids])
    await select(w, `update list_versions set status = 'retired' where list_id = any($1)`, [ids])
    await w.drain()
    expect((await restore(w, list)).status).toBe(200)
    expect((await w.post(usersOf(list), { external_ids: ['ana'] })).body).toMatchObject({ added: 1 })
    expect(await restore(w, ruled)).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
  })

  test('a list whose rule refers to an archived list waits for it', async () => {
    await using w = await world()
    const vip = await make(w)
    const others = await dynamic(w, { not: { list: vip.id } })
    await w.drain()
    await w.delete(pathOf(others))
    await w.delete(pathOf(vip))
    expect(faultsOf(await restore(w, others))).toEqual([422, 'validation_failed rule.not.list'])
    expect((await restore(w, vip)).status).toBe(200)
    expect((await restore(w, others)).status).toBe(200)
  })
})

describe('members of a static list', () => {
  test('users are added and removed once', async () => {
    await using w = await world()
    const ids = await users(w, { ana: 'pro', kim: 'pro', lee: 'free' })
    const list = await make(w)
    const put = await w.post(usersOf(list), { external_ids: ['ana', 'kim', 'ana', 'nobody'] })
    expect([put.status, put.body]).toEqual([200, { added: 2, unchanged: 0, missing: ['nobody'] }])
    const more = await w.post(usersOf(list), { user_ids: [ids.kim, ids.lee, ids.lee, 999_999_999] })
    expect(more.body).toEqual({ added: 1, unchanged: 1, missing: [999_999_999] })
    expect(await namesIn(w, list)).toEqual(['lee', 'kim', 'ana'])
    expect((await w.get(pathOf(list))).body.users_count).toBe(3)
    const taken = await w.request('DELETE', usersOf(list), { external_ids: ['kim', 'nobody'] })
    expect([taken.status, taken.body]).toEqual([200, { removed: 1, unchanged: 0, missing: ['nobody'] }])
    const again = await w.request('DELETE', usersOf(list), { user_ids: [ids.kim, ids.ana] })
    expect(again.body).toEqual({ removed: 1, unchanged: 1, missing: [] })
    expect(await namesIn(w, list)).toEqual(['lee'])
    expect((await w.get(pathOf(list))).body.users_count).toBe(1)
  })

  test('`external_ids` finds users without an external id by their anonymous id', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ anonymous_id: 'v1' }, { anonymous_id: 'twin' }, { external_id: 'twin' }])
    const list = await make(w)
    expect((await w.post(usersOf(list), { external_ids: ['v1', 'twin'] })).body.added).toBe(2)
    const { results } = (await w.get(usersOf(list))).body
    expect(results.map(({ external_id, anonymous_id }: any) => [external_id, anonymous_id])).toEqual([
      ['twin', null],
      ['v1', 'v1'],
    ])
  })

  test('the id of a merged user stands for the remaining user, who is listed once', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/users/batch', [{ anonymous_id: 'v1' }, { external_id: 'ana' }])
    const [anonymous] = body.results.map(({ user }: any) => user.id)
    const [before, after] = [await make(w), await make(w)]
    await w.post(usersOf(before), { user_ids: [anonymous] })
    await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'v1' }])
    await w.drain()
    expect((await w.post(usersOf(after), { user_ids: [anonymous] })).body).toEqual({ added: 1, unchanged: 0, missing: [] })
    expect(await namesIn(w, before)).toEqual(['ana'])
    expect(await namesIn(w, after)).toEqual(['ana'])
  })

  test('a user who is being erased is in no list', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'pro' })
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: ['ana', 'kim'] })
    await w.delete('/api/client/users/kim')
    expect(await namesIn(w, list)).toEqual(['ana'])
    expect((await w.post(usersOf(list), { external_ids: ['kim'] })).body.missing).toEqual(['kim'])
    await w.drain()
    expect((await w.get(pathOf(list))).body.users_count).toBe(1)
  })

  test.each<[string, object, (string | number)[]]>([
    ['neither kind of id', {}, [400, 'parameter_missing user_ids']],
    ['an empty array', { user_ids: [] }, [400, 'parameter_invalid_empty user_ids']],
    ['both kinds of id', { user_ids: [1], external_ids: ['a'] }, [422, 'validation_failed external_ids']],
    ['too many', { external_ids: Array.from({ length: 101 }, (_, at) => `u${at}`) }, [422, 'validation_failed external_ids']],
    ['ids of another type', { user_ids: ['ana'] }, [400, 'parameter_invalid_format user_ids[0]']],
    ['an empty id', { external_ids: ['a', ''] }, [400, 'parameter_invalid_empty external_ids[1]']],
  ])('%s: adding and removing is refused', async (_, body, expected) => {
    await using w = await world()
    const list = await make(w)
    for (const method of ['POST', 'DELETE']) expect(faultsOf(await w.request(method, usersOf(list), body))).toEqual(expected)
  })

  test('users cannot be added to a dynamic list or removed from it', async () => {
    await using w = await world()
    const list = await dynamic(w)
    for (const method of ['POST', 'DELETE']) {
      const { status, body } = await w.request(method, usersOf(list), { external_ids: ['ana'] })
      expect([status, body.code]).toEqual([422, 'validation_failed'])
    }
    for (const method of ['POST', 'DELETE'])
      expect((await w.request(method, usersOf({ id: 999_999_999 }), { external_ids: ['ana'] })).status).toBe(404)
  })

  test('concurrent requests that add the same users count each once', async () => {
    await using w = await world()
    const names = Array.from({ length: 20 }, (_, at) => `u${at}`)
    await w.users(...names)
    const list = await make(w)
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, at) => w.post(usersOf(list), { external_ids: at % 2 ? names : names.toReversed() })),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(replies.reduce((sum, { body }) => sum + body.added, 0)).toBe(20)
    expect((await w.get(pathOf(list))).body.users_count).toBe(20)
  })
})

describe('a page of members', () => {
  test('the pages have every member once, in both directions', async () => {
    await using w = await world()
    const names = Array.from({ length: 12 }, (_, at) => `u${at + 10}`)
    await w.users(...names)
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: names })
    const seen: string[] = []
    let cursor = ''
    for (let page = 0; page < 3; page++) {
      const { body } = await w.get(`${usersOf(list)}?limit=5${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.results.map(({ external_id }: any) => external_id))
      cursor = body.nextCursor
    }
    expect([seen, cursor]).toEqual([names.toReversed(), null])
    expect(await namesIn(w, list, '?sort=id&direction=asc&limit=2')).toEqual(['u10', 'u11'])
    expect(await namesIn(w, list, '?limit=-1')).toHaveLength(12)
    expect(faultsOf(await w.get(`${usersOf(list)}?sort=email`))).toEqual([400, 'parameter_invalid_format sort'])
  })

  test('a page is full, although some members are being erased', async () => {
    await using w = await world()
    await w.users('ana', 'kim', 'lee', 'max')
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: ['ana', 'kim', 'lee', 'max'] })
    await w.delete('/api/client/users/lee')
    const { body } = await w.get(`${usersOf(list)}?limit=2`)
    expect(body.results.map(({ external_id }: any) => external_id)).toEqual(['max', 'kim'])
    expect(await namesIn(w, list, `?cursor=${body.nextCursor}`)).toEqual(['ana'])
  })

  test('a search finds members only, by the fields of the user search', async () => {
    await using w = await world()
    await w.users('ana', 'hanako', 'ivana', 'lee')
    await w.post('/api/client/users/batch', [{ external_id: 'lee', phone: '+61412345678' }])
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: ['ana', 'hanako', 'lee'] })
    expect(await namesIn(w, list, '?q=ANA')).toEqual(['hanako', 'ana'])
    expect(await namesIn(w, list, '?q=ANA&limit=-1')).toEqual(['hanako', 'ana'])
    expect(await namesIn(w, list, '?q=412%20345')).toEqual(['lee'])
    expect(await namesIn(w, list, '?q=ivana')).toEqual([])
    const first = (await w.get(`${usersOf(list)}?q=ana&limit=1`)).body
    expect(await namesIn(w, list, `?cursor=${first.nextCursor}`)).toEqual(['ana'])
  })

  test('a search of many members finds common and rare terms, and nothing without a match', async () => {
    await using w = await world()
    const list = await make(w)
    const now = w.clock.now()
    await w.db.run(
      sql`with created as (
            insert into users (project_id, external_id, created_at, updated_at)
            select ${w.projectId}, 'u' || (10000 + i) || '-' || (i % 2), ${now}::timestamptz, ${now}::timestamptz from generate_series(1, 4200) i order by i
            returning id, external_id
          ), searched as (
            insert into user_search (user_id, project_id, text) select id, ${w.projectId}, external_id from created
          )
          insert into list_memberships (project_id, version_id, user_id, is_member, changed_at)
          select ${w.projectId}, l.live_version_id, p.id, true, ${now} from created p join lists l on l.id = ${list.id} and l.project_id = ${w.projectId}
          where p.external_id not like '%7-1'`,
    )
    expect(await namesIn(w, list, '?q=-1&limit=2')).toEqual(['u14199-1', 'u14195-1'])
    expect(await namesIn(w, list, '?q=u1000')).toEqual([
      'u10009-1',
      'u10008-0',
      'u10006-0',
      'u10005-1',
      'u10004-0',
      'u10003-1',
      'u10002-0',
      'u10001-1',
    ])
    expect(await namesIn(w, list, '?q=u10007')).toEqual([])
    const all = await w.get(`${usersOf(list)}?q=-1&limit=-1`)
    expect(all.body.results).toHaveLength(1680)
  })
})

describe('preview', () => {
  const preview = (w: World, rule: object, options?: object) => w.post(`${LISTS}/preview`, { rule }, options)

  test('counts the rule and each of its conditions, and lists the newest users', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'free', lee: 'pro', max: 'pro' })
    await w.post('/api/client/events', [
      { external_id: 'ana', name: 'purchase', data: { total: 70 } },
      { external_id: 'ana', name: 'purchase', data: { total: 10 } },
      { external_id: 'kim', name: 'purchase', data: { total: 90 } },
      { external_id: 'lee', name: 'purchase', data: { total: 20 } },
    ])
    await w.drain()
    const vip = await make(w, { name: 'VIP' })
    await w.post(usersOf(vip), { external_ids: ['max'] })
    const rule = {
      all: [
        PRO,
        { any: [{ event: 'purchase', at_least: 1, where: [{ attribute: 'data.total', greater_than: 50 }] }, { list: vip.id }] },
        { not: { event: 'refund' } },
      ],
    }
    const { status, body } = await preview(w, rule, { key: w.keys.support })
    expect(status).toBe(200)
    expect([body.count, body.sampled, body.users.map(({ external_id }: any) => external_id)]).toEqual([2, false, ['max', 'ana']])
    expect(body.conditions.map(({ path, count }: any) => [path, count])).toEqual([
      ['rule.all[0]', 3],
      ['rule.all[1].any[0]', 2],
      ['rule.all[1].any[1]', 1],
      ['rule.all[2].not', 0],
    ])
    expect(body.conditions.map(({ description }: any) => description)).toEqual([
      expect.stringContaining('plan'),
      expect.stringContaining('purchase'),
      expect.stringContaining('VIP'),
      expect.stringContaining('refund'),
    ])
  })

  test('a single condition is a rule, and at most ten users are listed', async () => {
    await using w = await world()
    await w.users(...Array.from({ length: 12 }, (_, at) => `u${at + 10}`))
    await w.delete('/api/client/users/u21')
    await w.post('/api/client/users/batch', [
      { external_id: 'u12', phone: '+61491570156' },
      { external_id: 'u13', email: null },
    ])
    await w.post('/api/client/devices', { external_id: 'u14', device_id: 'd1', token: 'token-1', os: 'android' })
    const everyone = {
      any: [
        { attribute: 'email', is_set: true },
        { attribute: 'external_id', is: 'u13' },
      ],
    }
    const { reach } = (await preview(w, everyone)).body
    expect(reach.map(({ channel, count }: any) => [channel, count])).toEqual([
      ['email', 10],
      ['text', 1],
      ['push', 1],
      ['webhook', 11],
      ['in_app', 11],
    ])
    await w.post('/api/client/users/batch', [{ external_id: 'u13', email: 'u13@example.com' }])
    const { body } = await preview(w, { attribute: 'email', is_set: true })
    expect([body.count, body.users[0].external_id, body.users.length]).toEqual([11, 'u20', 10])
    expect(body.conditions).toEqual([{ path: 'rule', description: expect.any(String), count: 11 }])
  })

  test('a hundred conditions are counted', async () => {
    await using w = await world()
    await users(w, { ana: 'pro' })
    const many = Array.from({ length: 50 }, (_, at) => ({ attribute: 'data.plan', is: at % 2 ? 'pro' : `other ${at}` }))
    const { body } = await preview(w, { all: [{ any: many }, { none: many.map((condition) => ({ ...condition, is: 'x' })) }] })
    expect([body.count, body.conditions.length, body.conditions[1].count, body.conditions[99].count]).toEqual([1, 100, 1, 0])
  })

  test('a preview that takes too long is refused', async () => {
    await using w = await world()
    await using _held = await lockedUsers(w)
    const refused = await previewRule(w.ctx, PRO, [], 50).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'validation_failed', param: 'rule', status: 422 })
  })

  test('one preview of a project runs, four wait, and the next is refused with 429', async () => {
    await using w = await world()
    await users(w, { ana: 'pro' })
    const held = await lockedUsers(w)
    const asked = Array.from({ length: 6 }, () => preview(w, PRO))
    const refused = await Promise.race(asked)
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([429, 'rate_limited', '10'])
    await held[Symbol.asyncDispose]()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 200, 429])
    expect((await preview(w, PRO)).status).toBe(200)
  })

  test('the first preview of a project is not behind those of another', async () => {
    await using w = await world()
    const other = await w.other()
    const order: string[] = []
    const ask = async (name: string, key: string) => {
      const { status } = await w.post(`${LISTS}/preview`, { rule: PRO }, { key })
      order.push(name)
      return status
    }
    const held = await lockedUsers(w)
    const asked = ['mine 1', 'mine 2', 'mine 3', 'mine 4', 'mine 5'].map((name) => ask(name, w.keys.secret))
    const theirs = ask('theirs', other.keys.secret)
    // One of each project runs, and waits for the lock.
    const waiting = `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await vi.waitFor(async () => expect(await select(w, waiting)).toEqual([{ count: 2 }]), { timeout: 20_000, interval: 10 })
    await held[Symbol.asyncDispose]()
    expect(await Promise.all([...asked, theirs])).toEqual(asked.map(() => 200).concat(200))
    // In one queue for all it would be the last. Which of the two that run ends first is up to the processors.
    expect(order.at(-1)).not.toBe('theirs')
  })

  test('a cancelled preview does not abort the transaction around it', async () => {
    await using w = await world()
    await using _held = await lockedUsers(w)
    await w.db.transaction(async (db) => {
      const ctx = { ...w.ctx, db }
      const refused = await db.savepoint((db) => previewRule({ ...ctx, db }, PRO, [], 50)).catch((error: unknown) => error)
      expect(refused).toMatchObject({ status: 422 })
      expect(await listNames(ctx, [1])).toEqual([])
    })
  })

  test('a preview with an idempotency key is replayed', async () => {
    await using w = await world()
    await users(w, { ana: 'pro' })
    const headers = { 'idempotency-key': 'once' }
    const first = await preview(w, PRO, { headers })
    expect([first.status, (await preview(w, PRO, { headers })).headers['idempotent-replayed']]).toEqual([200, 'true'])
  })
})

/** Resolves when this many statements wait for locks. */
async function statementWaits(w: World, statements = 1): Promise<void> {
  const Waiting = Type.Object({ waiting: Type.Integer() })
  for (;;) {
    const row = await w.db.first(
      Waiting,
      sql`select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if ((row?.waiting ?? 0) >= statements) return
  }
}

describe('the lists of a user', () => {
  const path = '/api/client/users/ana/lists'
  const names = async (w: World, query = '') => (await w.get(`${path}${query}`)).body.results.map(({ name }: any) => name)

  test('are those that the user is in now, those entered last first; archived ones and those of others are left out', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'pro' })
    const added = async (name: string, external_id: string) => {
      const list = await make(w, { name })
      w.advance('1 minute')
      await w.post(usersOf(list), { external_ids: [external_id] })
      await w.drain()
      return list
    }
    const [testers, , old] = [await added('Testers', 'ana'), await added('Of kim', 'kim'), await added('Old', 'ana')]
    w.advance('1 minute')
    const visited = { event: 'visited', at_least: 1, within: '1d' }
    const recent = await dynamic(w, visited, { name: 'Recent' })
    await dynamic(w, { not: visited }, { name: 'Away' })
    await w.drain()
    expect(await names(w)).toEqual(['Away', 'Old', 'Testers'])
    w.advance('1 minute')
    await w.post('/api/client/events', [{ external_id: 'ana', name: 'visited' }])
    await w.drain()
    const all = (await w.get(path, { key: w.keys.support })).body
    expect(all.results).toEqual([
      { id: recent.id, name: 'Recent', type: 'dynamic', since: expect.any(String) },
      { id: old.id, name: 'Old', type: 'static', since: expect.any(String) },
      { id: testers.id, name: 'Testers', type: 'static', since: expect.any(String) },
    ])
    const { nextCursor } = (await w.get(`${path}?limit=2`)).body
    expect(await names(w, `?limit=2&cursor=${nextCursor}`)).toEqual(['Testers'])
    expect(await names(w, '?q=test')).toEqual(['Testers'])
    expect((await w.delete(pathOf(old))).status).toBe(204)
    expect(await names(w)).toEqual(['Recent', 'Testers'])
    w.advance('2 days')
    await w.drain()
    expect(await names(w)).toEqual(['Away', 'Testers'])
  })

  test('keep the time when the user entered them when they are rebuilt, by the same rule or by another', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'free' })
    const visited = { event: 'visited', at_least: 1, within: '30d' }
    const lists = [await dynamic(w), await dynamic(w, { any: [visited, PRO] })]
    await w.drain()
    const since = async (user: string) =>
      (await w.get(`/api/client/users/${user}/lists?sort=name`)).body.results.map((list: { since: string }) => list.since)
    const entered = await since('ana')
    expect(entered).toHaveLength(2)
    w.advance('1 day')
    for (const list of lists) await w.post(`${pathOf(list)}/recount`)
    await w.drain()
    expect(await since('ana')).toEqual(entered)
    w.advance('1 day')
    for (const list of lists) await w.patch(pathOf(list), { rule: { any: [visited, { attribute: 'data.plan', is_set: true }] } })
    await w.drain()
    expect(await since('ana')).toEqual(entered)
    expect(await since('kim')).toEqual([w.clock.now().toISOString(), w.clock.now().toISOString()])
  })

  test('stay with a user who was merged, and are not found without one', async () => {
    await using w = await world()
    const list = await make(w, { name: 'Visitors' })
    await w.post('/api/client/users/batch', [{ anonymous_id: 'visitor' }])
    await w.drain()
    expect((await w.post(usersOf(list), { external_ids: ['visitor'] })).status).toBe(200)
    await w.post('/api/client/users/batch', [{ anonymous_id: 'visitor', external_id: 'ana' }])
    await w.drain()
    expect(await names(w)).toEqual(['Visitors'])
    expect((await w.get('/api/client/users/nobody/lists')).status).toBe(404)
  })
})

describe('explain', () => {
  test('returns the stored membership, the result of the rule, and the reasons', async () => {
    await using w = await world()
    const ids = await users(w, { ana: 'pro', kim: 'free' })
    await w.post('/api/client/events', [{ external_id: 'ana', name: 'purchase' }])
    await w.drain()
    const bought = w.clock.now()
    const list = await dynamic(w, { all: [PRO, { event: 'purchase', within: '7d' }] })
    await w.drain()
    w.advance('1 hour')
    const ana = (await w.get(`${usersOf(list)}/ana/explain`, { key: w.keys.support })).body
    expect(ana).toMatchObject({
      list_id: list.id,
      user_id: ids.ana,
      member: true,
      holds: true,
      since: bought.toISOString(),
      evaluated_at: w.clock.now().toISOString(),
      next_check_at: new Date(bought.getTime() + 7 * DAY_MS).toISOString(),
    })
    expect(JSON.stringify(ana.explanation)).toContain('"passes":true')
    const kim = (await w.get(`${usersOf(list)}/kim/explain`)).body
    expect(kim).toMatchObject({ user_id: ids.kim, member: false, holds: false, since: null })
    expect((await w.get(`${usersOf(list)}/nobody/explain`)).status).toBe(404)
  })

  test('explains by the rule of the live version', async () => {
    await using w = await world()
    await users(w, { ana: 'pro' })
    const list = await dynamic(w)
    expect((await w.get(`${usersOf(list)}/ana/explain`)).body).toMatchObject({ member: false, holds: true, since: null })
    await w.drain()
    await w.patch(pathOf(list), { rule: { not: PRO } })
    expect((await w.get(`${usersOf(list)}/ana/explain`)).body).toMatchObject({ member: true, holds: true })
    await w.drain()
    expect((await w.get(`${usersOf(list)}/ana/explain`)).body).toMatchObject({ member: false, holds: false })
  })

  test('a static list has no explanation', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'free' })
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: ['ana'] })
    const explain = async (name: string) => (await w.get(`${usersOf(list)}/${name}/explain`)).body
    const nothing = { holds: null, next_check_at: null, explanation: null }
    expect(await explain('ana')).toMatchObject({ member: true, since: w.clock.now().toISOString(), ...nothing })
    expect(await explain('kim')).toMatchObject({ member: false, since: null, ...nothing })
  })

  test('hides attributes that the caller may not see', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'ana', data: { salary: 123_456, plan: 'gold-plan' } }])
    await w.put('/api/client/attributes/salary', { min_role: 'admin' })
    const list = await dynamic(w, {
      all: [
        { attribute: 'data.salary', greater_than: 1 },
        { attribute: 'data.plan', is: 'gold-plan' },
      ],
    })
    const explain = async (key: string) => await w.get(`${usersOf(list)}/ana/explain`, { key })
    expect((await explain(w.keys.secret)).text).toContain('123456')
    const seen = await explain(w.keys.support)
    expect(seen.text).not.toContain('123456')
    expect(seen.text).toContain('gold-plan')
    expect(seen.body.holds).toBe(true)
    // Nor is there a trace of whether a user has the attribute.
    await w.users('kim')
    const other = (await w.get(`${usersOf(list)}/kim/explain`, { key: w.keys.support })).body
    expect(other.explanation.of.map((node: object) => 'seen' in node)).toEqual([false, true])
  })
})

describe('recount', () => {
  const versions = async (w: World) =>
    (
      await w.db.first(
        Type.Object({ count: Type.Integer() }),
        sql`select count(*) as count from list_versions where project_id = ${w.projectId}`,
      )
    )?.count

  test('a dynamic list is rebuilt, once for several requests', async () => {
    await using w = await world()
    await users(w, { ana: 'pro' })
    const list = await dynamic(w)
    expect((await w.post(`${pathOf(list)}/recount`)).body.state).toBe('building')
    expect(await versions(w)).toBe(1)
    await w.drain()
    const replies = await Promise.all([1, 2, 3].map(() => w.post(`${pathOf(list)}/recount`, undefined, { key: w.keys.editor })))
    expect(replies.map(({ status, body }) => [status, body.state, body.users_count])).toEqual(Array(3).fill([202, 'building', 1]))
    expect(await versions(w)).toBe(2)
    await w.drain()
    expect((await w.get(pathOf(list))).body).toMatchObject({ state: 'ready', users_count: 1 })
  })

  test('a static list is recounted', async () => {
    await using w = await world()
    await users(w, { ana: 'pro', kim: 'pro' })
    const list = await make(w)
    expect((await w.post(`${pathOf(list)}/recount`)).body.users_count).toBe(0)
    await w.post(usersOf(list), { external_ids: ['ana', 'kim'] })
    await w.db.run(sql`update list_counts set members = 77 where project_id = ${w.projectId}`)
    await w.db.run(sql`insert into list_counts (project_id, version_id, partition, members)
                       select project_id, version_id, 9, 5 from list_counts where project_id = ${w.projectId}`)
    expect((await w.get(pathOf(list))).body.users_count).toBe(82)
    const { status, body } = await w.post(`${pathOf(list)}/recount`)
    expect([status, body.users_count, body.state]).toEqual([202, 2, 'ready'])
  })

  test('a user whom a merge adds meanwhile is counted', async () => {
    await using w = await world()
    const ids = await users(w, { ana: 'pro', kim: 'pro' })
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: ['ana'] })
    const client = new pg.Client({ connectionString: w.databaseUrl })
    await client.connect()
    await client.query('begin')
    await client.query(
      `insert into list_memberships (project_id, version_id, user_id, is_member, changed_at)
       select project_id, live_version_id, $1, true, now() from lists where id = $2`,
      [ids.kim, list.id],
    )
    await client.query('update list_counts set members = members + 1 where project_id = $1', [w.projectId])
    const counting = w.post(`${pathOf(list)}/recount`)
    await statementWaits(w)
    await client.query('commit')
    await client.end()
    expect((await counting).body.users_count).toBe(2)
  })

  test('a user whom a merge in another partition adds meanwhile is counted once', async () => {
    await using w = await world()
    const ids = await users(w, { ana: 'pro', kim: 'pro' })
    const list = await make(w)
    await w.post(usersOf(list), { external_ids: ['ana'] })
    const holding = new pg.Client({ connectionString: w.databaseUrl })
    await holding.connect()
    await holding.query('begin')
    await holding.query('select from list_counts where project_id = $1 for update', [w.projectId])
    const counting = w.post(`${pathOf(list)}/recount`)
    await statementWaits(w)
    await inTx(w.ctx, (ctx) => changeMembers(ctx, list.id as never, [ids.kim as never], true, 2))
    await holding.query('commit')
    await holding.end()
    await counting
    expect((await w.get(pathOf(list))).body.users_count).toBe(2)
  })

  test('users who are added during a recount are counted once', async () => {
    await using w = await world()
    const names = Array.from({ length: 30 }, (_, at) => `u${at}`)
    await w.users(...names)
    const list = await make(w)
    await Promise.all(names.flatMap((name) => [w.post(usersOf(list), { external_ids: [name] }), w.post(`${pathOf(list)}/recount`)]))
    expect((await w.get(pathOf(list))).body.users_count).toBe(30)
  })
})

describe('permissions', () => {
  test.each<[string, (w: World, list: { id: number }) => [string, string, unknown?], 'support' | 'editor']>([
    ['read lists', () => ['GET', LISTS], 'support'],
    ['read members', (_, list) => ['GET', usersOf(list)], 'support'],
    ['preview', () => ['POST', `${LISTS}/preview`, { rule: PRO }], 'support'],
    ['create', () => ['POST', LISTS, { name: 'x', type: 'static' }], 'editor'],
    ['change', (_, list) => ['PATCH', pathOf(list), { name: 'y' }], 'editor'],
    ['add users', (_, list) => ['POST', usersOf(list), { external_ids: ['ana'] }], 'editor'],
    ['remove users', (_, list) => ['DELETE', usersOf(list), { external_ids: ['ana'] }], 'editor'],
    ['recount', (_, list) => ['POST', `${pathOf(list)}/recount`], 'editor'],
    ['archive', (_, list) => ['DELETE', pathOf(list)], 'editor'],
  ])('%s', async (_, of, role) => {
    await using w = await world()
    const [method, path, body] = of(w, await make(w))
    expect((await w.request(method, path, body, { key: w.keys.public })).status).toBe(403)
    if (role === 'editor') expect((await w.request(method, path, body, { key: w.keys.support })).status).toBe(403)
    expect((await w.request(method, path, body, { key: w.keys[role] })).status).toBeLessThan(300)
  })

  test('lists are found by id within the project only', async () => {
    await using w = await world()
    const list = await make(w)
    const foreign: Tenant = await w.other()
    expect(await listNames(foreign.ctx, [list.id])).toEqual([])
    expect(await listNames(w.ctx, [list.id])).toEqual([{ id: list.id as ListId, name: 'All' }])
  })
})

/** The audit log (D-CON-20 to D-CON-23). */
import { describe, expect, test } from 'vitest'
import { subscriptionTo } from '../../../test/blasts.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import { changesOf, MASK } from './changes.ts'
import { checkChain, recordAction } from './service.ts'

const AUDIT = '/api/client/audit'

async function entries(w: World, query = ''): Promise<any[]> {
  const reply = await w.get(`${AUDIT}?${query}`)
  expect(reply.status, reply.text).toBe(200)
  return reply.body.results
}

const actions = async (w: World, query = '') => (await entries(w, query)).map(({ action }) => action).reverse()

describe('GET /audit', () => {
  test('has who changed which object, and its members before and after', async () => {
    await using w = await world()
    const list = (await w.post('/api/client/lists', { name: 'VIPs', type: 'static' })).body
    const changed = await w.patch(`/api/client/lists/${list.id}`, { name: 'VIP' })
    await w.delete(`/api/client/lists/${list.id}`)
    const [deleted, updated, created] = await entries(w, `object_type=list&object_id=${list.id}`)
    expect(created).toMatchObject({ action: 'list.created', before: null, after: { name: 'VIPs', type: 'static' }, via: 'api' })
    expect(updated).toMatchObject({
      action: 'list.updated',
      object: { type: 'list', id: String(list.id), name: 'VIP' },
      actor: { type: 'key', id: expect.any(Number), name: expect.any(String) },
      before: { name: 'VIPs' },
      after: { name: 'VIP' },
      request_id: changed.headers['x-request-id'],
    })
    expect(deleted).toMatchObject({ action: 'list.deleted', before: { name: 'VIP' }, after: null })
  })

  test('filters by actor, action, object and time, newest first', async () => {
    await using w = await world()
    await w.post('/api/client/lists', { name: 'A', type: 'static' })
    w.advance('1 hour')
    const since = w.clock.now().toISOString()
    await w.post('/api/client/lists', { name: 'B', type: 'static' })
    await w.put('/api/client/page-theme', { brand_name: 'Shop' })
    const { actor } = (await entries(w))[0]
    expect(await actions(w)).toEqual(['list.created', 'list.created', 'page_theme.updated'])
    expect(await actions(w, `since=${since}`)).toEqual(['list.created', 'page_theme.updated'])
    expect(await actions(w, `until=${since}`)).toEqual(['list.created'])
    expect(await actions(w, 'action=page_theme.updated')).toEqual(['page_theme.updated'])
    expect(await actions(w, 'object_type=list')).toHaveLength(2)
    expect(await actions(w, `actor_type=key&actor_id=${actor.id}`)).toHaveLength(3)
    expect(await actions(w, 'actor_type=member')).toEqual([])
    expect(await actions(w, 'via=console')).toEqual([])
    expect(await actions(w, 'q=SHOP')).toEqual([])
    expect((await entries(w, 'q=B&object_type=list'))[0].object.name).toBe('B')
    const page = (await w.get(`${AUDIT}?limit=2`)).body
    expect((await w.get(`${AUDIT}?limit=2&cursor=${page.nextCursor}`)).body.results).toHaveLength(1)
  })

  test('is of one project; an organisation key has all of its organisation', async () => {
    await using w = await world()
    const other = await w.other()
    await w.post('/api/client/lists', { name: 'Ours', type: 'static' })
    await w.patch(`/api/client/projects/${w.projectId}`, { description: 'New' }, { key: w.keys.organisation })
    expect((await w.get(AUDIT, { key: other.keys.secret })).body.results).toEqual([])
    expect(await actions(w)).toEqual(['list.created', 'project.updated'])
    const all = (await w.get(AUDIT, { key: w.keys.organisation })).body.results
    expect(all.map(({ action, project_id }: any) => [action, project_id])).toEqual([
      ['project.updated', w.projectId],
      ['list.created', w.projectId],
    ])
  })

  test('tells the command line from other requests', async () => {
    await using w = await world()
    await w.post('/api/client/lists', { name: 'A', type: 'static' }, { headers: { 'user-agent': 'carillon-cli/0.1.0' } })
    expect((await entries(w))[0].via).toBe('cli')
  })
})

describe('an entry', () => {
  test('exists only if its write was committed', async () => {
    await using w = await world()
    const { id } = (await w.post('/api/client/lists', { name: 'A', type: 'static' })).body
    expect((await w.patch(`/api/client/lists/${id}`, { rule: {} })).status).toBeGreaterThanOrEqual(400)
    expect((await w.patch('/api/client/lists/999999', { name: 'B' })).status).toBe(404)
    expect(await actions(w)).toEqual(['list.created'])
  })

  test('undoes its write when it cannot be stored', async () => {
    await using w = await world({ own: true, env: {} })
    await w.db.run(sql`alter table audit_entries add constraint never check (object_name <> 'Unrecordable')`)
    const list = { name: 'Unrecordable', type: 'static' }
    expect((await w.post('/api/client/lists', list)).status).toBe(500)
    expect((await w.get('/api/client/lists')).body.results).toEqual([])
    await w.db.run(sql`alter table audit_entries drop constraint never`)
    expect((await w.post('/api/client/lists', list)).status).toBe(201)
  })

  test('is written once for an Idempotency-Key, and not for a write that changes nothing', async () => {
    await using w = await world()
    const headers = { 'idempotency-key': 'once' }
    const { id } = (await w.post('/api/client/lists', { name: 'A', type: 'static' }, { headers })).body
    expect((await w.post('/api/client/lists', { name: 'A', type: 'static' }, { headers })).body.id).toBe(id)
    await w.patch(`/api/client/lists/${id}`, { name: 'A' })
    expect(await actions(w)).toEqual(['list.created'])
  })

  test('has the state that the write before left, of writes at the same time', async () => {
    await using w = await world()
    const { id } = (await w.post('/api/client/lists', { name: '0', type: 'static' })).body
    await Promise.all(['1', '2', '3', '4'].map((name) => w.patch(`/api/client/lists/${id}`, { name })))
    const found = (await entries(w)).reverse()
    expect(found.slice(1).map(({ before }) => before.name)).toEqual(found.slice(0, -1).map(({ after }) => after.name))
  })

  test('has no secret, and tells that one changed', async () => {
    await using w = await world()
    const settings = { host: 'smtp.example.com', port: 587, tls: 'starttls', username: 'u', password: 'hunter2-first' }
    const provider = await w.post('/api/client/providers', { name: 'Relay', kind: 'smtp', channel: 'email', settings })
    expect(provider.status, provider.text).toBe(201)
    w.advance(1000)
    await w.patch(`/api/client/providers/${provider.body.id}`, { settings: { password: 'hunter2-second' } })
    const key = (await w.post('/api/client/keys', { name: 'Shop' })).body
    const hook = (
      await w.post('/api/client/webhooks', { name: 'Hook', url: 'https://hooks.example.com/', event_types: ['delivery.completed'] })
    ).body
    await w.post(`/api/client/webhooks/${hook.id}/rotate-secret`, {})
    expect(await actions(w)).toEqual(['provider.created', 'provider.updated', 'key.created', 'webhook.created', 'webhook.secret_rotated'])
    const stored = JSON.stringify(await select(w, `select * from audit_entries where project_id = ${w.projectId}`))
    for (const secret of ['hunter2', key.value, hook.signing_secret]) expect(stored).not.toContain(secret)
  })

  test('has no address of users', async () => {
    await using w = await world()
    const given = [{ channel: 'email', address: 'ana@example.com' }]
    const made = await w.post('/api/client/suppressions', given)
    expect(made.status, made.text).toBe(200)
    const { id } = made.body.results[0]
    await w.delete(`/api/client/suppressions/${id}`)
    const [deleted, created] = await entries(w)
    expect(created).toMatchObject({ action: 'suppression.created', details: { suppressions: [{ id, channel: 'email' }] } })
    expect(deleted).toMatchObject({ action: 'suppression.deleted', object: { type: 'suppression', id: String(id) } })
    expect(JSON.stringify([deleted, created])).not.toContain('ana@')
  })

  test.each<[string, (w: World) => Promise<string>, string[]]>([
    [
      'campaigns and templates',
      async (w) => {
        const campaign = { type: 'trigger', name: 'Hello', subscription_id: await subscriptionTo(w) }
        const { id } = (await w.post('/api/client/campaigns', campaign)).body
        const template = `/api/client/campaigns/${id}/templates/en`
        await w.put(template, { from: 'app@example.com', subject: 'Hi', html: '<p>Hi</p>' })
        await w.put(template, { from: 'app@example.com', subject: 'Hello', html: '<p>Hi</p>' })
        await w.post(`/api/client/campaigns/${id}/duplicate`)
        await w.patch(`/api/client/campaigns/${id}`, { state: 'running', event_name: 'bought' })
        for (const action of ['pause', 'pause', 'resume']) await w.post(`/api/client/campaigns/${id}/${action}`)
        await w.delete(`/api/client/campaigns/${id}`)
        return 'campaign'
      },
      [
        ...['campaign.created', 'template.created', 'template.updated', 'campaign.duplicated', 'campaign.updated'],
        ...['campaign.paused', 'campaign.resumed', 'campaign.deleted'],
      ],
    ],
    [
      'journeys and their steps',
      async (w) => {
        const { id } = (await w.post('/api/client/journeys', { name: 'Welcome' })).body
        const steps = {
          start: { type: 'entrance', name: '', x: 0, y: 0, data: { trigger: 'event', event_name: 'signed_up' }, children: [] },
        }
        await w.put(`/api/client/journeys/${id}/steps`, steps)
        await w.patch(`/api/client/journeys/${id}`, { name: 'Hello' })
        await w.delete(`/api/client/journeys/${id}`)
        return 'journey'
      },
      ['journey.created', 'journey.updated', 'journey.updated', 'journey.deleted'],
    ],
    [
      'settings',
      async (w) => {
        await w.put('/api/client/sending-policy', { caps: [], quiet_hours: { channels: ['email'], from: '21:00', to: '08:00' } })
        await w.put('/api/client/attributes/plan', { hidden: true })
        await w.delete('/api/client/attributes/plan')
        await w.post('/api/client/mail-queue/pause', {})
        await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })
        return 'attribute'
      },
      ['sending_policy.updated', 'attribute.created', 'attribute.deleted', 'mail_queue.paused', 'subscription.created'],
    ],
  ])('is written for %s', async (_, write, expected) => {
    await using w = await world()
    await write(w)
    expect(await actions(w)).toEqual(expected)
  })
})

describe('the chain', () => {
  const check = async (w: World) => (await w.get(`${AUDIT}/check`)).body

  test('is intact, also of writes at the same time and of a year that was deleted', async () => {
    await using w = await world()
    expect(await check(w)).toEqual({ is_intact: true, entries: 0, first_wrong: null })
    await Promise.all(['A', 'B', 'C', 'D'].map((name) => w.post('/api/client/lists', { name, type: 'static' })))
    expect((await entries(w)).map(({ position }) => position).sort()).toEqual([1, 2, 3, 4])
    expect(await check(w)).toEqual({ is_intact: true, entries: 4, first_wrong: null })
    w.advance('401 days')
    await w.post('/api/client/lists', { name: 'E', type: 'static' })
    await w.drain('audit.purge')
    expect(await entries(w)).toMatchObject([{ position: 5 }])
    expect(await check(w)).toEqual({ is_intact: true, entries: 1, first_wrong: null })
    w.advance('401 days')
    await w.drain('audit.purge')
    expect(await check(w)).toEqual({ is_intact: true, entries: 0, first_wrong: null })
    await w.post('/api/client/lists', { name: 'F', type: 'static' })
    expect(await check(w)).toEqual({ is_intact: true, entries: 1, first_wrong: null })
    await select(w, `delete from audit_entries where position = 6 and project_id = ${w.projectId}`)
    expect(await check(w)).toEqual({ is_intact: false, entries: 0, first_wrong: 6 })
  })

  test.each([
    ['changed', `update audit_entries set actor_name = 'Mallory' where position = 2`, 2],
    ['removed', 'delete from audit_entries where position = 2', 3],
    ['removed at the end', 'delete from audit_entries where position = 3', 3],
    ['removed at the beginning', 'delete from audit_entries where position = 1', 2],
    ['removed with all others', 'delete from audit_entries where true', 1],
  ])('shows that an entry was %s', async (_, statement, first_wrong) => {
    await using w = await world()
    for (const name of ['A', 'B', 'C']) await w.post('/api/client/lists', { name, type: 'static' })
    await select(w, `${statement} and project_id = ${w.projectId}`)
    expect(await check(w)).toMatchObject({ is_intact: false, first_wrong })
  })

  test('is checked a few entries at a time, so that other requests get their turns', async () => {
    await using w = await world()
    const origin = { organisationId: w.organisationId, requestId: 'r', via: 'api' as const }
    const ctx = { ...w.ctx, origin }
    await inTx(ctx, async (ctx) => {
      for (let id = 1; id <= 250; id++) await recordAction(ctx, w.projectId, 'list.created', id, { after: { name: 'x'.repeat(1000) } })
    })
    const read: { rows: number; pauses: number }[] = []
    let isCounting = false
    /** Counts pauses until the next statement, which waits for the database. */
    const countPauses = (page: { pauses: number }) =>
      void setImmediate(() => {
        if (!isCounting) return
        page.pauses++
        countPauses(page)
      })
    const many: typeof ctx.db.many = async (...statement) => {
      isCounting = false
      const rows = await ctx.db.many(...statement)
      isCounting = true
      const page = { rows: rows.length, pauses: 0 }
      read.push(page)
      countPauses(page)
      return rows
    }
    expect(await checkChain({ ...ctx, db: { ...ctx.db, many } })).toEqual({ is_intact: true, entries: 250, first_wrong: null })
    isCounting = false
    expect(read.map(({ rows }) => rows)).toEqual([100, 100, 50])
    for (const { rows, pauses } of read.slice(0, -1)) expect(pauses).toBeGreaterThanOrEqual(rows / 10)
  })

  test('shows that its end is gone', async () => {
    await using w = await world()
    await w.post('/api/client/lists', { name: 'A', type: 'static' })
    await select(w, `delete from audit_chains where project_id = ${w.projectId}`)
    expect(await check(w)).toEqual({ is_intact: false, entries: 1, first_wrong: 2 })
  })

  test('is intact while an entry that a slow clock wrote is deleted by age before its neighbours', async () => {
    await using w = await world()
    const write = (name: string) => w.post('/api/client/lists', { name, type: 'static' })
    await write('A')
    w.advance(-HOUR_MS)
    await write('B')
    w.advance(HOUR_MS)
    await write('C')
    w.advance(400 * DAY_MS - HOUR_MS / 2)
    await w.drain('audit.purge')
    expect((await entries(w)).map(({ position }) => position).sort()).toEqual([1, 3])
    expect(await check(w)).toEqual({ is_intact: true, entries: 2, first_wrong: null })
    await select(w, `delete from audit_entries where position = 3 and project_id = ${w.projectId}`)
    expect(await check(w)).toMatchObject({ is_intact: false, first_wrong: 3 })
  })
})

test.each([
  [
    { a: 1, b: 2 },
    { a: 1, b: 3 },
    { before: { b: 2 }, after: { b: 3 } },
  ],
  [{ a: { x: 1, y: 2 } }, { a: { x: 1, y: 3 } }, { before: { a: { y: 2 } }, after: { a: { y: 3 } } }],
  [undefined, { a: 1, updated_at: 'now' }, { before: null, after: { a: 1 } }],
  [{ a: 1 }, {}, { before: { a: 1 }, after: {} }],
  [
    { headers: { Authorization: 'Bearer a' } },
    { headers: { Authorization: 'Bearer b' } },
    { before: { headers: { Authorization: MASK } }, after: { headers: { Authorization: MASK } } },
  ],
  [{ api_key: 'a' }, { api_key: 'b' }, { before: { api_key: MASK }, after: { api_key: MASK } }],
  [undefined, { html: 'x'.repeat(20_000) }, { before: null, after: { html: { bytes: 20_002, sha256: expect.any(String) } } }],
])('of %j and %j it keeps %j', (before, after, expected) => expect(changesOf(before, after)).toEqual(expected))

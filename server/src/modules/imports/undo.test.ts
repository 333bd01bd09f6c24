import { describe, expect, test } from 'vitest'
import { failingAfter, failSaves } from '../../../test/failing-saves.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { undoImports } from '../../import-batches.ts'

const BATCH = '/api/client/users/batch'

const staticList = async (w: World): Promise<number> => (await w.post('/api/client/lists', { name: 'Imported', type: 'static' })).body.id

/** Imports a file; returns its path. */
async function imported(w: World, list: number, file: string, query: Record<string, string> = {}): Promise<string> {
  const headers = { 'content-type': 'text/csv' }
  const sent = await w.post(`/api/client/lists/${list}/import?${new URLSearchParams(query)}`, undefined, { raw: file, headers })
  expect(sent.status, sent.text).toBe(202)
  await w.drain()
  return sent.headers.location as string
}

async function undone(w: World, path: string) {
  const { status, body } = await w.post(`${path}/undo`)
  expect([status, body.state]).toEqual([202, 'undoing'])
  await w.drain()
  return (await w.get(path)).body
}

const user = async (w: World, name: string) => (await w.get(`/api/client/users/${name}`)).body
const names = async (w: World): Promise<string[]> =>
  (await w.get('/api/client/users?limit=100')).body.results.map((row: { external_id: string }) => row.external_id).sort()
const members = async (w: World, list: number): Promise<string[]> =>
  (await w.get(`/api/client/lists/${list}/users?limit=100`)).body.results.map((row: { external_id: string }) => row.external_id).sort()
const recorded = (w: World) => select(w, 'select 1 from import_changes where project_id = $1', [w.projectId])

describe('undoing an import', () => {
  test('removes the users that it created, and brings values and memberships back', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post(BATCH, [
      { external_id: 'kim', email: 'kim@example.com', phone: '+61412345678', data: { plan: 'pro', address: { city: 'Perth', zip: 1 } } },
      { external_id: 'ana', data: { plan: 'free' } },
    ])
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
    await w.drain()
    const before = [await user(w, 'kim'), await user(w, 'ana')]
    const file =
      'external_id,email,plan,data.address.city,new\nkim,k@example.com,x,Hobart,1\nana,,free,,\nben,b@example.com,x,,\nben,,y,,\ncho,,,,\nkim,,z,,\n'
    const path = await imported(w, list, file)
    expect(await members(w, list)).toEqual(['ana', 'ben', 'cho', 'kim'])
    expect(await undone(w, path)).toMatchObject({ state: 'undone', removed: 2, restored: 1, created: 2, progress: 1 })
    expect(await names(w)).toEqual(['ana', 'kim'])
    expect(await members(w, list)).toEqual(['ana'])
    const after = [await user(w, 'kim'), await user(w, 'ana')].map(({ updated_at: _, ...rest }) => rest)
    expect(after).toEqual(before.map(({ updated_at: _, ...rest }) => rest))
    expect((await w.get(`/api/client/lists/${list}`)).body.users_count).toBe(1)
    expect(await recorded(w)).toEqual([])
    // Undoing it again changes nothing, and the corrected file can be imported.
    expect((await w.post(`${path}/undo`)).body.state).toBe('undone')
    await imported(w, list, 'external_id,email\nben,b@example.com\n')
    expect(await names(w)).toEqual(['ana', 'ben', 'kim'])
    expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
  })

  test('keeps rejected rows and the first rows of dry runs, whoever they name', async () => {
    await using w = await world()
    const list = await staticList(w)
    const dry = await imported(w, list, 'external_id,email\nkim,k@example.com\n', { dry_run: 'true' })
    const refused = await imported(w, await staticList(w), 'external_id,email,plan\nkim,nowhere,x\n,k@example.com,\n')
    const path = await imported(w, list, 'external_id,email\nkim,k@example.com\nben,nowhere\nben,\n')
    const kept = async () => [
      (await w.get(`${refused}/errors`)).text,
      (await w.get(`${path}/errors`)).text,
      (await w.get(dry)).body.first_rows,
    ]
    const before = await kept()
    expect(before[0]).toContain('kim,nowhere,x')
    expect(before[1]).toContain('ben,nowhere')
    expect(before[2]).toHaveLength(1)
    expect(await undone(w, path)).toMatchObject({ removed: 2 })
    expect(await kept()).toEqual(before)
  })

  test('takes users out of a list that is archived, and keeps those whom another archived list has', async () => {
    await using w = await world()
    const [list, other] = [await staticList(w), await staticList(w)]
    await w.post(BATCH, [{ external_id: 'kim' }, { external_id: 'ana' }])
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
    const path = await imported(w, list, 'external_id\nkim\nben\ncho\n')
    await w.post(`/api/client/lists/${other}/users`, { external_ids: ['ben'] })
    await w.drain()
    for (const id of [list, other]) expect((await w.delete(`/api/client/lists/${id}`)).status).toBe(204)
    expect(await undone(w, path)).toMatchObject({ state: 'undone', removed: 1 })
    for (const id of [list, other]) expect((await w.post(`/api/client/lists/${id}/unarchive`)).status).toBe(200)
    await w.drain()
    expect([await members(w, list), await members(w, other)]).toEqual([['ana'], ['ben']])
    expect((await w.get(`/api/client/lists/${list}`)).body.users_count).toBe(1)
  })

  test('waits for the ingest queue, and goes on as soon as it has caught up', async () => {
    await using w = await world()
    const list = await staticList(w)
    const path = await imported(w, list, `external_id\n${Array.from({ length: 600 }, (_, at) => `p${at}\n`).join('')}`)
    await w.post('/api/client/events', [{ external_id: 'kim', name: 'login' }])
    w.advance('2 seconds')
    await w.post(`${path}/undo`)
    expect(await undoImports(w.ctx)).toMatchObject({ done: 0, nextAt: w.clock.now() })
    await w.drain()
    expect(await undoImports(w.ctx)).toMatchObject({ done: 0, nextAt: null })
    expect((await w.get(path)).body).toMatchObject({ state: 'undone', removed: 600 })
  })

  test('counts a user once whose changes are in several batches', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post(BATCH, [{ external_id: 'kim', data: { plan: 'pro' } }])
    const others = (from: number) => Array.from({ length: 1000 }, (_, at) => `p${from + at},x,\n`).join('')
    // Of kim, the import changed the plan twice, and in between something that changes again afterwards.
    const file = `external_id,plan,size\nkim,x,\nnew,x,\n${others(0)}kim,,1\n${others(1000)}kim,y,\nnew,y,\n`
    const path = await imported(w, list, file)
    expect(await undone(w, path)).toMatchObject({ state: 'undone', removed: 2001, restored: 1 })
    expect((await user(w, 'kim')).data).toEqual({ plan: 'pro' })
    expect(await names(w)).toEqual(['kim'])
  })

  test('keeps what changed since', async () => {
    await using w = await world()
    const list = await staticList(w)
    const other = await staticList(w)
    await w.post(BATCH, [{ external_id: 'kim', email: 'kim@example.com', data: { plan: 'pro', age: 1 } }])
    const created = ['acts', 'changed', 'device', 'listed', 'consents', 'idle']
    const path = await imported(
      w,
      list,
      `external_id,email,plan,age\nkim,k@example.com,x,2\n${created.map((name) => `${name},,x,3\n`).join('')}`,
    )
    w.advance('1 hour')
    await w.post(BATCH, [
      { external_id: 'kim', data: { plan: 'team' } },
      { external_id: 'changed', data: { plan: 'team' } },
    ])
    await w.post('/api/client/events', [{ external_id: 'acts', name: 'login' }])
    await w.post('/api/client/devices', { device_id: 'd', external_id: 'device' })
    await w.post(`/api/client/lists/${other}/users`, { external_ids: ['listed'] })
    const { body: types } = await w.get('/api/client/subscriptions')
    const [type] = types.results
    await w.patch('/api/client/users/consents/subscriptions', [{ subscription_id: type.id, state: 0 }])
    await w.request('DELETE', `/api/client/lists/${list}/users`, { external_ids: ['kim'] })
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['kim'] })
    await w.drain()
    expect(await undone(w, path)).toMatchObject({ removed: 1 })
    expect(await names(w)).toEqual(['acts', 'changed', 'consents', 'device', 'kim', 'listed'])
    expect(await user(w, 'kim')).toMatchObject({ email: 'kim@example.com', data: { plan: 'team', age: 1 } })
    expect((await user(w, 'changed')).data).toEqual({ plan: 'team' })
    expect((await user(w, 'acts')).data).toEqual({})
    expect(await members(w, list)).toEqual(['kim'])
    expect(await members(w, other)).toEqual(['listed'])
    const { results } = (await w.get('/api/client/users/consents/subscriptions')).body
    expect(results.find(({ subscription_id }: any) => subscription_id === type.id).state).toBe(0)
  })

  test('withdraws the subscriptions that it stored, unless the user changed them', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body: type } = await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', default_state: 0 })
    const dynamic = (
      await w.post('/api/client/lists', { name: 'News', type: 'dynamic', rule: { subscription: type.id, is: 'subscribed' } })
    ).body.id
    await w.users('silent', 'out', 'confirmed', 'had')
    await w.patch('/api/client/users/had/subscriptions', [{ subscription_id: type.id, state: 1 }])
    const path = await imported(w, list, 'external_id\nsilent\nout\nconfirmed\nhad\n', {
      subscription_ids: String(type.id),
      consent_source: 'Trade fair',
    })
    expect(await members(w, dynamic)).toEqual(['confirmed', 'had', 'out', 'silent'])
    w.advance('1 hour')
    await w.patch('/api/client/users/out/subscriptions', [{ subscription_id: type.id, state: 0 }])
    await w.patch('/api/client/users/confirmed/subscriptions', [{ subscription_id: type.id, state: 2 }])
    await undone(w, path)
    expect(await members(w, dynamic)).toEqual(['confirmed', 'had'])
    const states = await select(
      w,
      `select p.external_id as name, s.state from user_subscriptions s join users p on p.id = s.user_id where s.subscription_id = $1 order by 1`,
      [type.id],
    )
    expect(states).toEqual([
      { name: 'confirmed', state: 2 },
      { name: 'had', state: 1 },
      { name: 'out', state: 0 },
    ])
    const { results } = (await w.get('/api/client/users/silent/consents')).body
    expect(results[0]).toMatchObject({ state: 0, previous_state: 1, source: 'import', proof: { undone: true } })
  })

  test('leaves merged users and linked ids as they are', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post(BATCH, [
      { external_id: 'kim', data: { plan: 'pro' } },
      { anonymous_id: 'v', data: { seen: 1 } },
    ])
    const path = await imported(w, list, 'external_id,anonymous_id,plan\nkim,v,x\n')
    expect(await undone(w, path)).toMatchObject({ removed: 0 })
    expect(await user(w, 'kim')).toMatchObject({ anonymous_id: 'v', data: { plan: 'x', seen: 1 } })
    expect(await members(w, list)).toEqual([])
  })

  test('keeps created users to whom ids were linked since, but not for ids that the import linked', async () => {
    await using w = await world()
    const list = await staticList(w)
    const others = Array.from({ length: 500 }, (_, at) => `p${at},,\n`).join('')
    const file = `external_id,anonymous_id,email\n,v1,\nben,,ben@example.com\nown,,\n,v3,\nown,v4,\n${others}own,v5,\nleo,v3,\n`
    const path = await imported(w, list, file)
    await w.post(BATCH, [
      { external_id: 'kim', anonymous_id: 'v1' },
      { external_id: 'ben', anonymous_id: 'v9' },
    ])
    await w.drain()
    expect(await undone(w, path)).toMatchObject({ removed: 502, restored: 1 })
    expect(await names(w)).toEqual(['ben', 'kim'])
    expect(await user(w, 'kim')).toMatchObject({ anonymous_id: 'v1' })
    expect(await user(w, 'ben')).toMatchObject({ anonymous_id: 'v9', email: null })
  })

  test('of two imports leaves what the first one stored, in either order', async () => {
    await using w = await world()
    const list = await staticList(w)
    const one = await imported(w, list, 'external_id,plan\nkim,one\nana,one\n')
    w.advance('1 minute')
    const two = await imported(w, list, 'external_id,plan\nkim,two\n')
    for (const path of [one, two]) await w.post(`${path}/undo`)
    await w.drain()
    expect(await names(w)).toEqual([])
  })

  test('is possible for 24 hours after the import ended, and not for a dry run or an import that is under way', async () => {
    await using w = await world()
    const list = await staticList(w)
    const dry = await imported(w, list, 'external_id\nkim\n', { dry_run: 'true' })
    expect(await w.post(`${dry}/undo`)).toMatchObject({ status: 422, body: { error: { param: 'importId' } } })
    const path = await imported(w, list, 'external_id\nkim\n')
    const { headers } = await w.post(`/api/client/lists/${list}/import`, undefined, {
      raw: 'external_id\nlee\n',
      headers: { 'content-type': 'text/csv' },
    })
    expect(await w.post(`${headers.location}/undo`)).toMatchObject({ status: 422, body: { message: expect.stringContaining('Cancel it') } })
    expect(await w.post(`/api/client/lists/${list}/imports/999999/undo`)).toMatchObject({ status: 404 })
    w.advance(24 * 3_600_000 + 1)
    expect(await w.post(`${path}/undo`)).toMatchObject({ status: 422, body: { message: expect.stringContaining('24 hours') } })
    expect(await recorded(w)).not.toEqual([])
    await w.drain()
    expect((await w.get(path)).body.state).toBe('finished')
    expect(
      await select(w, 'select 1 from import_changes where project_id = $1 and import_id = $2', [
        w.projectId,
        Number(path.split('/').at(-1)),
      ]),
    ).toEqual([])
  })

  test('works after a cancellation, and forgets users that are erased', async () => {
    await using w = await world()
    const list = await staticList(w)
    const path = await imported(w, list, 'external_id\nkim\nana\n')
    await w.delete('/api/client/users/kim')
    await w.drain()
    const rows = await select(w, 'select distinct user_id from import_changes where project_id = $1', [w.projectId])
    expect(rows).toHaveLength(1)
    expect(await undone(w, path)).toMatchObject({ removed: 1 })
    expect(await names(w)).toEqual([])
  })
})

describe('an undo that is interrupted', () => {
  test('at any statement is continued, and its result is exact', async () => {
    await using w = await world()
    const list = await staticList(w)
    const count = 620
    const known = Array.from({ length: 20 }, (_, index) => ({ external_id: `old${index}`, data: { plan: 'pro' } }))
    await w.post(BATCH, known)
    const rows = [...known.map(({ external_id }) => `${external_id},x`), ...Array.from({ length: count }, (_, index) => `new${index},x`)]
    const path = await imported(w, list, `external_id,plan\n${rows.join('\n')}\n`)
    await w.post(`${path}/undo`)
    for (let statements = 0; statements < 60; statements += 4)
      await undoImports(failingAfter(w.ctx, statements, new Error('The process died.')))
    await w.drain()
    expect((await w.get(path)).body).toMatchObject({ state: 'undone', removed: count, restored: 20 })
    expect((await names(w)).length).toBe(20)
    expect((await user(w, 'old7')).data).toEqual({ plan: 'pro' })
    expect((await w.get(`/api/client/lists/${list}`)).body.users_count).toBe(0)
  })
})

test('an undo that fails is left out for a time, and not begun again and again under the lock on lists', async () => {
  await using w = await world({ own: true })
  const list = await staticList(w)
  const older = await imported(w, list, 'external_id\nana\n')
  const newer = await imported(w, list, 'external_id\nben\n')
  for (const path of [older, newer]) await w.post(`${path}/undo`)
  {
    await using _ = await failSaves(w, { table: 'import_changes', on: 'delete', when: 'true' })
    await undoImports(w.ctx)
  }
  // Nor does the older one go first: what it changed is restored last.
  await undoImports(w.ctx)
  for (const path of [older, newer]) expect((await w.get(path)).body.state).toBe('undoing')
  expect(await names(w)).toEqual(['ana', 'ben'])
  w.advance('1 minute')
  await w.drain()
  for (const path of [older, newer]) expect((await w.get(path)).body.state).toBe('undone')
  expect(await names(w)).toEqual([])
})

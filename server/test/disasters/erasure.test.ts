/** An erasure overtakes accepted requests: nothing that was accepted before it creates the user again (D-UREAD-4). */
import { Type } from 'typebox'
import { describe, expect, test, vi } from 'vitest'
import { createEraser, forgetErased } from '../../src/erasures.ts'
import { raw, type Sql, sql } from '../../src/infra/postgres/db.ts'
import { parkItems } from '../../src/infra/queue/queue.ts'
import { type Ctx, inTx, type ProjectCtx } from '../../src/infra/runtime/ctx.ts'
import { Count } from '../../src/lib/shapes.ts'
import { eraseAnonymousRows } from '../../src/modules/imports/index.ts'
import { lockLists, tryLockListsShared } from '../../src/modules/lists/index.ts'
import { suppressErased } from '../../src/modules/subscriptions/index.ts'
import { deleteUser } from '../../src/modules/users/index.ts'
import { blastTo, listOf, schedule } from '../blasts.ts'
import { failSaves } from '../failing-saves.ts'
import { type World, world } from '../world.ts'

const event = (ids: object) => ({ name: 'order', data: { secret: 'of-kim' }, ...ids })

async function accept(w: World, ...items: object[]): Promise<void> {
  const reply = await w.post('/api/client/events', items)
  expect(reply.status, reply.text).toBe(204)
}

async function erase(w: World, name: string): Promise<void> {
  expect((await w.delete(`/api/client/users/${name}`)).status).toBe(204)
}

const users = async (w: World) =>
  (await w.get('/api/client/users?limit=100')).body.results.map(({ external_id }: { external_id: string }) => external_id).sort()

const orders = async (w: World, name: string) =>
  (await w.get(`/api/client/users/${name}/events`)).body.results.filter((one: { name: string }) => one.name === 'order').length

const parked = (w: World) => w.db.value(Count, sql`select count(*) as count from parked_items where project_id = ${w.projectId}`)

describe('what was accepted before an erasure', () => {
  test('does not create the user again: events, updates and anonymous ids', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    await accept(w, event({ external_id: 'kim', anonymous_id: 'visitor' }))
    await w.drain()
    await accept(
      w,
      event({ external_id: 'kim' }),
      event({ anonymous_id: 'visitor' }),
      event({ external_id: 'lee', anonymous_id: 'visitor' }),
    )
    expect((await w.patch('/api/client/users', [{ external_id: 'kim', email: 'kim@example.com' }])).status).toBe(204)
    const token = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('kim') } }
    expect((await w.post('/api/client/events', [event({})], token)).status).toBe(204)
    await erase(w, 'kim')
    await w.drain()
    expect(await users(w)).toEqual(['lee'])
    expect(await orders(w, 'lee')).toBe(1)
    expect((await w.get('/api/client/users/lee')).body).toMatchObject({ anonymous_id: null })
    expect((await w.get('/api/client/users/visitor')).status).toBe(404)
    expect(await parked(w)).toBe(0)
  })

  test('is dropped also when the user has signed up again, whose own events count', async () => {
    await using w = await world()
    await w.users('kim')
    await accept(w, event({ external_id: 'kim' }), event({ external_id: 'kim' }))
    await erase(w, 'kim')
    await w.users('kim')
    await accept(w, event({ external_id: 'kim' }))
    await w.users('lee')
    await erase(w, 'lee')
    await w.drain()
    expect(await orders(w, 'kim')).toBe(1)
  })

  test('is dropped when the erasure commits after the batch has looked up its users', async () => {
    await using w = await world({ own: true })
    await w.users('kim')
    await accept(w, event({ external_id: 'kim', user: { data: { plan: 'pro' } } }), event({ external_id: 'new' }))
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>()
    // A batch takes the lock on lists after it has looked up its users, and before it locks and creates users.
    const holding = inTx(w.ctx, async (ctx) => {
      await lockLists(ctx)
      isLocked()
      await released
    })
    await locked
    const applied = w.drain()
    const waiting = () => w.db.value(Count, sql`select count(*) as count from pg_locks where locktype = 'advisory' and not granted`)
    await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 20_000 })
    await erase(w, 'kim')
    release()
    await Promise.all([holding, applied])
    await w.drain()
    expect(await users(w)).toEqual(['new'])
    expect(await orders(w, 'new')).toBe(1)
  })

  test('is remembered by keyed hashes, until it has been applied', async () => {
    await using w = await world()
    await w.users('kim')
    await erase(w, 'kim')
    const Row = Type.Object({ id_hash: Type.String() })
    const rows = () => w.db.many(Row, sql`select id_hash from erased_ids where project_id = ${w.projectId}`)
    expect((await rows()).length).toBe(3)
    expect(JSON.stringify(await rows())).not.toContain('kim')
    await w.drain()
    w.advance('59 minutes')
    await w.drain()
    expect((await rows()).length).toBe(3)
    w.advance('2 minutes')
    await w.drain()
    expect(await rows()).toEqual([])
  })
})

const reasonsOf = async (w: World) => (await w.get('/api/client/suppressions')).body.results.map(({ reason }: any) => reason)

describe('the suppression of the addresses of an erased user', () => {
  const KIM = { external_id: 'kim', email: 'Kim@example.com', phone: '+61412345678' }
  const asks = async (w: World, method: 'patch' | 'post', path: string, items: object[]) =>
    expect((await w[method](path, items)).status).toBe(204)
  const ACCEPTED: [string, (w: World) => Promise<unknown>][] = [
    ['an update of another user', (w) => asks(w, 'patch', '/api/client/users', [{ external_id: 'bo', email: 'kim@example.com' }])],
    ['an update of a new user', (w) => asks(w, 'patch', '/api/client/users', [{ external_id: 'new', phone: '+61 412 345 678' }])],
    ['an event of a visitor', (w) => accept(w, event({ anonymous_id: 'visitor', user: { email: 'kim@example.com' } }))],
    [
      'a visitor who is merged in the same batch',
      (w) =>
        accept(
          w,
          event({ anonymous_id: 'visitor', user: { email: 'kim@example.com' } }),
          event({ external_id: 'bo', anonymous_id: 'visitor' }),
        ),
    ],
  ]

  test.each(ACCEPTED)('stays after %s that was accepted before', async (_, accepted) => {
    await using w = await world()
    await w.post('/api/client/users/batch', [KIM, { external_id: 'bo' }])
    await accepted(w)
    await erase(w, 'kim')
    await w.drain()
    expect(await reasonsOf(w)).toEqual(['erased', 'erased'])
  })

  test.each(ACCEPTED)('is lifted by %s that was accepted after the erasure', async (_, accepted) => {
    await using w = await world()
    await w.post('/api/client/users/batch', [KIM, { external_id: 'bo' }])
    await erase(w, 'kim')
    await accepted(w)
    await w.drain()
    expect(await reasonsOf(w)).toEqual(['erased'])
  })

  test('is lifted by the later one of two updates in a batch', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ ...KIM, phone: null }, { external_id: 'bo' }])
    const update = { external_id: 'bo', email: 'kim@example.com' }
    await asks(w, 'patch', '/api/client/users', [update])
    await erase(w, 'kim')
    await asks(w, 'patch', '/api/client/users', [update])
    await w.drain()
    expect(await reasonsOf(w)).toEqual([])
  })
})

/** A batch that uses ids locks their epoch like this. */
const endEpoch = ({ db, projectId }: ProjectCtx) =>
  db.run(
    sql`insert into identity_epochs as e (project_id, epoch) values (${projectId}, 1) on conflict (project_id) do update set epoch = e.epoch + 1`,
  )

test('an erasure that waits for the ids of a batch holds no suppression, for which the batch may wait', async () => {
  await using w = await world({ own: true })
  await w.users('kim')
  const suppressed = await w.post('/api/client/suppressions', [{ channel: 'email', address: 'kim@example.com', reason: 'complaint' }])
  expect(suppressed.status, suppressed.text).toBeLessThan(300)
  await inTx(w.ctx, endEpoch)
  const waiting = () => w.db.value(Count, sql`select count(*) as count from pg_locks where locktype = 'transactionid' and not granted`)
  let erasing: Promise<void> | undefined
  await inTx(w.ctx, async (ctx) => {
    await endEpoch(ctx)
    erasing = erase(w, 'kim')
    await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 20_000 })
    await ctx.db.run(sql`select id from suppressions where project_id = ${w.projectId} for update nowait`)
  })
  await erasing
  expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ reason: 'erased' }])
})

test('an erased user is in no reply from the request on, before the data is deleted', async () => {
  await using w = await world()
  const activity = async () => (await w.get('/api/client/activity')).body.results.length
  await activity()
  const blast = await blastTo(w, [await listOf(w, 'kim', 'lee')])
  await schedule(w, blast)
  await accept(w, event({ anonymous_id: 'visitor' }), { external_id: 'lee', name: 'order', data: { secret: 'of-lee' } })
  await w.drain()
  await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'visitor' }])
  await w.drain()
  const { results: sent } = (await w.get('/api/client/messages?q=kim@example.com')).body
  expect(sent).toMatchObject([{ user: { external_id: 'kim' } }])
  const message = `/api/client/messages/${sent[0].id}`
  const paths = [
    ...['/api/client/messages?q=example.com', '/api/client/messages', message, `/api/client/campaigns/${blast.id}/recipients`],
    ...['/api/client/sandbox/messages', '/api/client/schema/events?q=order'],
  ]
  const naming = async () => {
    const texts = await Promise.all(paths.map(async (path) => (await w.get(path)).text))
    return paths.filter((_, at) => texts[at]?.includes('kim'))
  }
  expect([await naming(), await activity()]).toEqual([paths, 2])
  await erase(w, 'kim')
  expect([await naming(), await activity()]).toEqual([[], 1])
  expect((await w.get('/api/client/messages?q=kim')).body.results).toEqual([])
  expect((await w.get(message)).body).toMatchObject({ content: null, recipient: null, user: { external_id: null } })
  expect((await w.get(`/api/client/sandbox/messages/${sent[0].id}`)).status).toBe(404)
  expect((await w.get('/api/client/schema/events?q=order')).text).toContain('of-lee')
})

describe('an import that was accepted before an erasure', () => {
  const FILE =
    'external_id,anonymous_id,email\nkim,,kim@example.com\nlee,visitor,lee@example.com\n,visitor,visitor@example.com\nkim,,no-address\n'

  /** Has a file accepted, and returns its path. It is imported by the next `drain`. */
  async function acceptFile(w: World, raw = FILE): Promise<string> {
    const { body: list } = await w.post('/api/client/lists', { name: `Import ${raw.length}`, type: 'static' })
    const path = `/api/client/lists/${list.id}/import`
    const { status, body, text } = await w.request('POST', path, undefined, { raw, headers: { 'content-type': 'text/csv' } })
    expect(status, text).toBe(202)
    return `${path}s/${body.id}`
  }

  test('refuses the rows of the user with the reason, and keeps nothing of them', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'visitor' }])
    const path = await acceptFile(w)
    await erase(w, 'kim')
    await w.drain()
    expect(await users(w)).toEqual(['lee'])
    expect((await w.get('/api/client/users/lee')).body).toMatchObject({ email: 'lee@example.com', anonymous_id: null })
    expect((await w.get(path)).body).toMatchObject({ state: 'finished', rows: 4, created: 1, failed: 3 })
    const errors = (await w.get(`${path}/errors`)).text
    expect(errors.match(/The user of the row was erased after the import was accepted/g)).toHaveLength(2)
    for (const cell of ['kim,', 'visitor', 'no-address']) expect(errors).not.toContain(cell)
  })

  test('keeps no address of the user in refused rows without ids', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'kip@example.com', phone: '+61412345678' }])
    const refused = 'email,phone,note\n KIP@example.com ,,a\n,+61 412 345 678,b\nno-address,,kip@example.com\nother@example.com,,c\n'
    const early = await acceptFile(w, refused.replaceAll('@example.com ,', '@example.com ,nothing'))
    await w.drain()
    const path = await acceptFile(w, refused)
    await erase(w, 'kim')
    await w.drain()
    expect((await w.get(path)).body).toMatchObject({ state: 'finished', failed: 4 })
    for (const errors of [(await w.get(`${early}/errors`)).text, (await w.get(`${path}/errors`)).text]) {
      expect(errors.toLowerCase()).not.toMatch(/kip@|412/)
      expect(errors).toContain('other@example.com')
    }
  })

  test('refuses them also hours later, and when the user has signed up again', async () => {
    await using w = await world()
    await w.users('kim')
    const path = await acceptFile(w, 'external_id,email\nkim,old@example.com\n')
    await erase(w, 'kim')
    await w.users('kim')
    w.advance('3 hours')
    await forgetErased(w.ctx)
    await w.drain()
    expect((await w.get('/api/client/users/kim')).body).toMatchObject({ email: 'kim@example.com' })
    expect((await w.get(path)).body).toMatchObject({ state: 'finished', failed: 1 })
    await acceptFile(w, 'external_id,email\nkim,new@example.com\n')
    await w.drain()
    expect((await w.get('/api/client/users/kim')).body).toMatchObject({ email: 'new@example.com' })
  })

  test('refuses them when the erasure commits while a batch waits for the user', async () => {
    await using w = await world({ own: true })
    await w.users('kim')
    const path = await acceptFile(w, 'external_id,email\nkim,kim@example.com\nnew,\n')
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: deleted, resolve: isDeleted } = Promise.withResolvers<void>()
    const erasing = inTx(w.ctx, async (ctx) => {
      await deleteUser(ctx, 'kim', { suppressErased, eraseAnonymousRows })
      isDeleted()
      await released
    })
    await deleted
    const imported = w.drain()
    const waiting = () => w.db.value(Count, sql`select count(*) as count from pg_locks where not granted`)
    await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 20_000 })
    release()
    await Promise.all([erasing, imported])
    await w.drain()
    expect(await users(w)).toEqual(['new'])
    expect((await w.get(path)).body).toMatchObject({ created: 1, failed: 1 })
  })
})

test('an erasure removes what is stored without the id of the user: refused rows of imports and parked items', async () => {
  await using w = await world()
  await w.users('kim', 'lee')
  const { body: list } = await w.post('/api/client/lists', { name: 'Old', type: 'static' })
  const raw = 'external_id,email\nkim\u3000,no-address\nlee,no-address\nmo,kim@example.com\u2003\u2003,x\n'
  const path = `/api/client/lists/${list.id}/import`
  const imported = await w.request('POST', path, undefined, { raw, headers: { 'content-type': 'text/csv' } })
  expect(imported.status, imported.text).toBe(202)
  await w.drain()
  const item = (external_id: string) => ({ kind: 'users', request_id: 'r', received_at: w.clock.now(), item: { external_id }, reason: 'x' })
  await inTx(w.ctx, (ctx) => parkItems(ctx, w.projectId, ['kim', 'lee'].map(item)))
  const refused = async () => (await w.get(`${path}s/${imported.body.id}/errors`)).text
  expect(await refused()).toMatch(/kim\u3000,.*kim@example.com/s)
  await erase(w, 'kim')
  await w.drain()
  expect([/^\d+,.*(?:kim\u3000|mo),/m.test(await refused()), (await refused()).includes('lee,'), await parked(w)]).toEqual([false, true, 1])
})

test('an erasure that reads the refused rows of imports holds no lock that batches of events wait for', async () => {
  await using w = await world({ own: true })
  await w.post('/api/client/users/batch', [{ external_id: 'kim', phone: '+61412345678' }])
  const { body: list } = await w.post('/api/client/lists', { name: 'Old', type: 'static' })
  const path = `/api/client/lists/${list.id}/import`
  const raw = 'external_id,email,phone\n,no-address,0412 345 678\nlee,no-address,\n'
  const { body } = await w.request('POST', path, undefined, { raw, headers: { 'content-type': 'text/csv' } })
  await w.drain()
  await erase(w, 'kim')
  const waiting = () => w.db.value(Count, sql`select count(*) as count from pg_locks where locktype = 'transactionid' and not granted`)
  let erased: Promise<unknown> | undefined
  const isFree = await inTx(w.ctx, async (ctx) => {
    await ctx.db.run(sql`select line from import_failures where project_id = ${w.projectId} for update`)
    erased = w.drain()
    await vi.waitFor(async () => expect(await waiting()).toBe(1), { timeout: 20_000 })
    return inTx(w.ctx, (ctx) => tryLockListsShared(ctx, w.projectId))
  })
  await erased
  expect(isFree).toBe(true)
  expect((await w.get(`${path}s/${body.id}/errors`)).text.match(/\w*,no-address,.*/g)).toEqual(['lee,no-address,'])
})

test('an erasure goes through the files one by one, and goes on where one of them made it fail', async () => {
  await using w = await world()
  await w.users('kim')
  const { body: list } = await w.post('/api/client/lists', { name: 'Old', type: 'static' })
  const path = `/api/client/lists/${list.id}/import`
  const refusing = async () => {
    const raw = 'external_id,email\nkim,no-address\n'
    const { body } = await w.request('POST', path, undefined, { raw, headers: { 'content-type': 'text/csv' } })
    await w.drain()
    return body.id as number
  }
  const [first, second] = [await refusing(), await refusing()]
  const namesKim = async (id: number) => (await w.get(`${path}s/${id}/errors`)).text.includes('kim,')
  await erase(w, 'kim')
  {
    await using _ = await failSaves(w, { table: 'import_failures', on: 'delete', when: `old.import_id = ${second}` })
    await w.drain()
    expect([await namesKim(first), await namesKim(second)]).toEqual([false, true])
  }
  w.advance('6 minutes')
  await w.drain()
  expect([await namesKim(second), await users(w)]).toEqual([false, []])
})

test('an erasure removes rows of files that name the user by a national phone number or an anonymous id', async () => {
  await using w = await world()
  await w.post('/api/client/users/batch', [
    { external_id: 'kim', phone: '+61412345678', anonymous_id: 'v1' },
    { external_id: 'kim', anonymous_id: 'v2' },
  ])
  const { body: list } = await w.post('/api/client/lists', { name: 'Old', type: 'static' })
  const path = `/api/client/lists/${list.id}/import`
  const importing = async (raw: string, query = '') => {
    const { body } = await w.request('POST', `${path}${query}`, undefined, { raw, headers: { 'content-type': 'text/csv' } })
    await w.drain()
    return `${path}s/${body.id}`
  }
  const rows = [
    'kim@typo,,0412 345 678,a',
    'x@typo,,+61 (0)412 345-678,b',
    'y@typo,v1,,c',
    'z@typo,,0499 345 678,d',
    'other@typo,v3,,412345678',
  ]
  const refused = await importing(`email,anonymous_id,phone,note\n${rows.join('\n')}\n`)
  const dry = await importing('anonymous_id,data.income\nv1,1\nv2,2\nv3,3\n', '?dry_run=true')
  expect((await w.get(dry)).body.first_rows).toHaveLength(3)
  await erase(w, 'kim')
  await w.drain()
  expect((await w.get(`${refused}/errors`)).text.match(/[a-z]+@typo,.*/g)).toEqual(rows.slice(3))
  expect((await w.get(dry)).body.first_rows).toEqual([{ line: 4, anonymous_id: 'v3', data: { income: '3' } }])
})

test('an erasure leaves refused rows in which a number, or the id of another user, is like the id of the user', async () => {
  await using w = await world()
  await w.users('42', 'Kim')
  const { body: list } = await w.post('/api/client/lists', { name: 'Old', type: 'static' })
  const raw =
    'age,id,email,external_id\n42,ann,no-address,42\n1, 42 ,no-address,b\n1,KIM,no-address,c\n1,Kim,no-address,d\n1,e,no-address,Kim\n'
  const mapping = JSON.stringify({ id: 'external_id', external_id: 'data.former_id' })
  const headers = { 'content-type': 'text/csv' }
  const importing = (raw: string) =>
    w.request('POST', `/api/client/lists/${list.id}/import?${new URLSearchParams({ mapping })}`, undefined, { raw, headers })
  const { body } = await importing(raw)
  await w.drain()
  const refused = async (id: number) => (await w.get(`/api/client/lists/${list.id}/imports/${id}/errors`)).text
  // The error file, imported again, has added columns.
  const { body: again } = await importing(await refused(body.id))
  await w.drain()
  for (const name of ['42', 'Kim']) await erase(w, name)
  await w.drain()
  for (const id of [body.id, again.id]) {
    const rows = (await refused(id)).match(/[^,]+,[^,]+,no-address,.+/g)
    expect(rows).toEqual(['42,ann,no-address,42', '1,KIM,no-address,c', '1,e,no-address,Kim'])
  }
})

test('an erasure removes parked items that name the user by an anonymous id or a user token', async () => {
  await using w = await world()
  const data = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`n${at}`, at]))
  await w.post('/api/client/users/batch', [
    { external_id: 'kim', anonymous_id: 'visitor', data },
    { external_id: 'lee', anonymous_id: 'tablet', data },
    { anonymous_id: 'tablet-only', data },
  ])
  const more = (ids: object) => ({ name: 'profile', user: { data: { more: 1 } }, ...ids })
  const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('kim') } }
  expect((await w.post('/api/client/events', [more({})], options)).status).toBe(204)
  await accept(w, more({ anonymous_id: 'visitor' }), more({ anonymous_id: 'tablet' }), more({ anonymous_id: 'tablet-only' }))
  await w.drain()
  expect(await parked(w)).toBe(4)
  // On a shared device: the item with this id is still about lee.
  await w.post('/api/client/users/batch', [
    { external_id: 'kim', anonymous_id: 'other' },
    { external_id: 'mo', anonymous_id: 'tablet' },
  ])
  await erase(w, 'kim')
  await w.drain()
  expect(await parked(w)).toBe(2)
  await erase(w, 'lee')
  await w.drain()
  expect(await parked(w)).toBe(1)
  await erase(w, 'tablet-only')
  await w.drain()
  expect(await parked(w)).toBe(0)
})

/** Makes the database refuse to delete events, until the result is disposed of. */
async function refusing(w: World, each: Sql, condition: Sql): Promise<AsyncDisposable> {
  await w.db.run(
    sql`create or replace function refuse_erasure() returns trigger language plpgsql
        as $$begin if ${condition} then raise exception 'no'; end if; return null; end$$`,
  )
  await w.db.run(sql`create or replace trigger refuse after delete on events ${each} execute function refuse_erasure()`)
  return {
    async [Symbol.asyncDispose]() {
      await w.db.run(sql`drop function refuse_erasure cascade`)
    },
  }
}

/** Deletes a user. Returns how to read the receipt. */
async function eraseWithReceipt(w: World, name: string) {
  const { location } = (await w.delete(`/api/client/users/${name}`)).headers
  return async () => (await w.get(String(location))).body
}

/** Stores 25,000 events of each user. */
async function fillEvents(w: World): Promise<void> {
  await w.drain('ingest.apply')
  await w.db.run(
    sql`insert into events (project_id, user_id, name, data, created_at, received_at)
        select project_id, id, 'seen', '{}', ${w.clock.now()}::timestamptz - (n / 3) * interval '1 second', ${w.clock.now()}
        from users, generate_series(1, 25000) n
        where project_id = ${w.projectId}`,
  )
}

describe('an erasure', () => {
  test('that fails does not hold up those of other users, and is tried again after minutes', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    await accept(w, event({ external_id: 'kim' }), event({ external_id: 'lee' }))
    await w.drain('ingest.apply')
    const kim = (await w.get('/api/client/users/kim')).body.id
    const refused = await refusing(w, sql`for each row`, sql`old.user_id = ${raw(String(kim))}`)
    const receipts = [await eraseWithReceipt(w, 'kim'), await eraseWithReceipt(w, 'lee')]
    const states = async () => (await Promise.all(receipts.map((read) => read()))).map(({ state }) => state)
    await w.drain('users.erase')
    expect(await states()).toEqual(['requested', 'finished'])
    await refused[Symbol.asyncDispose]()
    await w.drain('users.erase')
    expect(await states()).toEqual(['requested', 'finished'])
    w.advance('10 minutes')
    await w.drain('users.erase')
    expect(await states()).toEqual(['finished', 'finished'])
  })

  test('of a user with very many events deletes these in batches, and counts all of them', async () => {
    await using w = await world()
    await w.users('kim')
    await fillEvents(w)
    await using _ = await refusing(w, sql`referencing old table as gone for each statement`, sql`(select count(*) from gone) > 10000`)
    const receipt = await eraseWithReceipt(w, 'kim')
    await w.drain('users.erase')
    expect(await receipt()).toMatchObject({ state: 'finished', removed: { events: 25_001 } })
  })

  test('ends between two batches when the process stops, and goes on at once in the next one', async () => {
    // Erasures of other projects would come first.
    await using w = await world({ own: true })
    await w.users('kim', 'lee')
    await fillEvents(w)
    const receipts = [await eraseWithReceipt(w, 'kim'), await eraseWithReceipt(w, 'lee')]
    const stop = new AbortController()
    const stopping: Ctx = {
      ...w.ctx,
      db: { ...w.ctx.db, transaction: (work, limits) => w.ctx.db.transaction(work, limits).finally(() => stop.abort()) },
    }
    const eraser = createEraser()
    await eraser.run(stopping, stop.signal)
    const left = sql`select count(*) as count from events where project_id = ${w.projectId}`
    expect(await w.db.value(Count, left)).toBe(40_002)
    await eraser.run(w.ctx, new AbortController().signal)
    for (const read of receipts) expect(await read()).toMatchObject({ state: 'finished', removed: { events: 25_001 } })
  })
})

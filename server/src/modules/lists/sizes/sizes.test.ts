import { expect, test } from 'vitest'
import { failSaves } from '../../../../test/failing-saves.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'

const LISTS = '/api/client/lists'

async function listWith(w: World, name: string, users: string[], more: object = {}): Promise<number> {
  const { id } = (await w.post(LISTS, { name, type: 'static', ...more })).body
  if (users.length > 0) await w.post(`${LISTS}/${id}/users`, { external_ids: users })
  await w.drain()
  return id
}

const sizes = async (w: World, ...ids: number[]) => (await w.get(`${LISTS}/sizes?list_ids=${ids.join()}`)).body

test('the size of each list is stored once a day, and read for the last 30 days', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const [pair, none] = [await listWith(w, 'Pair', ['ana', 'bob']), await listWith(w, 'None', [])]
  const day = () => w.clock.now().toISOString().slice(0, 10)
  w.advance('1 day')
  await w.drain()
  const first = day()
  await w.request('DELETE', `${LISTS}/${pair}/users`, { external_ids: ['bob'] })
  await w.drain()
  const both = { list_id: pair, days: [{ day: first, users: 2 }] }
  expect((await sizes(w, pair, none)).results).toEqual([both, { list_id: none, days: [{ day: first, users: 0 }] }])
  w.advance('1 day')
  await w.drain()
  expect((await sizes(w, pair)).results[0].days).toEqual([...both.days, { day: day(), users: 1 }])
  w.advance('30 days')
  await w.drain()
  expect((await sizes(w, pair)).results[0].days).toEqual([{ day: day(), users: 1 }])
})

test('a list has no size on the day on which it was created, also if it is the first of its project', async () => {
  await using w = await world()
  await w.users('ana')
  const first = await listWith(w, 'First', ['ana'])
  w.advance('1 hour')
  await w.drain()
  expect((await sizes(w, first)).results).toEqual([])
  w.advance('1 day')
  await w.drain()
  const second = await listWith(w, 'Second', ['ana'])
  w.advance('1 hour')
  await w.drain()
  expect((await sizes(w, first, second)).results).toMatchObject([{ list_id: first, days: [{ users: 1 }] }])
})

test('sizes that cannot be stored keep those of no other project from being stored', async () => {
  await using w = await world()
  const other = await w.other()
  await listWith(w, 'Mine', [])
  const { id } = (await w.post(LISTS, { name: 'Theirs', type: 'static' }, { key: other.keys.secret })).body
  await w.drain()
  w.advance('1 day')
  await using _ = await failSaves(w, { table: 'list_days', on: 'insert', when: 'true' })
  await w.drain('lists.note-sizes')
  expect((await w.get(`${LISTS}/sizes?list_ids=${id}`, { key: other.keys.secret })).body.results).toMatchObject([{ list_id: id }])
})

test('sizes of archived lists and of other projects are not read, and old ones are deleted', async () => {
  await using w = await world()
  const [list, archived] = [await listWith(w, 'A', []), await listWith(w, 'B', [])]
  const other = await w.other()
  w.advance('1 day')
  await w.drain()
  await w.delete(`${LISTS}/${archived}`)
  expect((await sizes(w, list, archived)).results.map(({ list_id }: { list_id: number }) => list_id)).toEqual([list])
  expect((await w.get(`${LISTS}/sizes?list_ids=${list}`, { key: other.keys.secret })).body.results).toEqual([])
  expect((await w.get(`${LISTS}/sizes?list_ids=1,x`)).status).toBe(400)
  w.advance('401 days')
  await w.drain()
  expect(await select(w, 'select count(*)::int from list_days where project_id = $1', [w.projectId])).toEqual([{ count: 1 }])
})

test('lists are filtered by a tag, of those that are in use', async () => {
  await using w = await world()
  const shop = await listWith(w, 'Shop', [], { tags: ['shop', 'a,b'] })
  await listWith(w, 'Both', [], { tags: ['shop', 'news'] })
  const archived = await listWith(w, 'Archived', [], { tags: ['past'] })
  await w.delete(`${LISTS}/${archived}`)
  expect((await w.get(`${LISTS}/tags`)).body.results).toEqual([
    { tag: 'shop', lists: 2 },
    { tag: 'a,b', lists: 1 },
    { tag: 'news', lists: 1 },
  ])
  const named = async (query: string) => (await w.get(`${LISTS}?${query}`)).body.results.map(({ id }: { id: number }) => id)
  expect(await named('tag=a,b')).toEqual([shop])
  expect(await named('tag=sho')).toEqual([])
  expect(await named('tag=past&archived=true')).toEqual([archived])
})

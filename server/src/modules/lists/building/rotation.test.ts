/** The lists of a project are built in turns, and leave time to requests. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { failSaves } from '../../../../test/failing-saves.ts'
import { buildingWith } from '../../../../test/list-builds.ts'
import { type Tenant, type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { createListBuilder } from './build.ts'
import { halves } from './parts.ts'
import { followEventRemoval } from './versions.ts'

const RULE = { attribute: 'external_id', is_set: true }
const NEVER_SCANS = { scanFromUsers: Number.MAX_SAFE_INTEGER }

/** Lists of a project with three users. */
async function lists(w: World, count: number) {
  const b = await buildingWith(createListBuilder, w, false)
  await b.buildAll()
  await w.users('ann', 'bob', 'cid')
  const ids: number[] = []
  for (let at = 0; at < count; at++) ids.push(await b.list(RULE))
  return { b, ids, statuses: async () => (await Promise.all(ids.map((id) => b.versions(id)))).flat() }
}

/** A context whose clock moves a little whenever it is read. */
function ticking(ctx: Ctx, stepMs: number): Ctx {
  let passedMs = 0
  const now = () => {
    passedMs += stepMs
    return new Date(ctx.clock.now().getTime() + passedMs)
  }
  return { ...ctx, clock: { ...ctx.clock, now } }
}

test('many lists of one project do not delay the first of another: each project has one chunk built in a round', async () => {
  await using w = await world()
  const other = await w.other()
  const mine = await buildingWith(createListBuilder, w, false)
  const theirs = await buildingWith(createListBuilder, w, false, other)
  for (const { post } of [mine, theirs]) await post('/api/client/users/batch', [{ external_id: 'kim' }])
  const lists: number[] = []
  for (let at = 0; at < 5; at++) lists.push(await mine.list(RULE))
  const list = await theirs.list(RULE)
  // With one user, a list takes two chunks: the user, and the end.
  const build = createListBuilder({ ...NEVER_SCANS, chunkUsers: 1 })
  await build(w.ctx)
  await build(w.ctx)
  expect(await theirs.versions(list)).toEqual(['live'])
  const ofMine = await Promise.all(lists.map((id) => mine.versions(id)))
  expect(ofMine.flat()).toEqual(Array(5).fill('building'))
})

const breakRules = (w: World) =>
  w.db.run(sql`update list_versions set rule = '{"unknown": true}' where project_id = ${w.projectId} and rule is not null`)

test('a list that cannot be built does not keep those of other projects waiting', async () => {
  await using w = await world()
  const mine = await buildingWith(createListBuilder, w, false)
  const theirs = await buildingWith(createListBuilder, w, false, await w.other())
  const broken = await mine.list(RULE)
  const list = await theirs.list(RULE)
  await breakRules(w)
  await createListBuilder(NEVER_SCANS)(w.ctx)
  expect([await mine.versions(broken), await theirs.versions(list)]).toEqual([['building'], ['live']])
})

test('a list whose members cannot be evaluated as time passes does not keep those of other projects waiting', async () => {
  await using w = await world()
  const other = await w.other()
  const mine = await buildingWith(createListBuilder, w, false)
  const theirs = await buildingWith(createListBuilder, w, false, other)
  const rule = { event: 'visited', at_least: 1, within: '1d' }
  await mine.list(rule)
  const list = await theirs.list(rule)
  for (const { post, did } of [mine, theirs]) {
    await post('/api/client/users/batch', [{ external_id: 'kim' }])
    await did(['kim'], 'visited')
  }
  await w.drain()
  const members = async () => (await w.get(`/api/client/lists/${list}/users`, { key: other.keys.secret })).body.results.length
  expect(await members()).toBe(1)
  await breakRules(w)
  w.advance('2 days')
  await w.drain('timers.apply')
  expect(await members()).toBe(0)
})

test('after events were removed, a list that cannot be rebuilt has those of other projects rebuilt once, and not again and again', async () => {
  await using w = await world({ own: true })
  const tenants = [w, await w.other(), await w.other()]
  const projects = await Promise.all(tenants.map((tenant) => buildingWith(createListBuilder, w, false, tenant)))
  const lists: number[] = []
  for (const { list, buildAll } of projects) {
    lists.push(await list({ event: 'visited', at_least: 1 }))
    await buildAll()
  }
  await using _ = await failSaves(
    { db: w.db, projectId: (tenants[1] as Tenant).projectId },
    { table: 'list_versions', on: 'insert', when: 'true' },
  )
  await w.db.run(sql`insert into event_removals (before, completed_at) values (${w.clock.now()}, ${w.clock.now()})`)
  for (let run = 0; run < 3; run++) {
    await followEventRemoval(w.ctx)
    w.advance('20 seconds')
  }
  const versions = await Promise.all(projects.map(({ versions }, at) => versions(lists[at] as number)))
  expect(versions).toEqual([['live', 'building'], ['live'], ['live', 'building']])
})

test('rows of 20 former rules that cannot be deleted, all that are found at once, keep those of other projects not waiting', async () => {
  await using w = await world()
  const other = await w.other()
  const [mine, theirs] = [await buildingWith(createListBuilder, w, false), await buildingWith(createListBuilder, w, false, other)]
  const lists: number[] = []
  for (const { keys, changes, list, buildAll } of [
    { ...mine, keys: w.keys, changes: 20 },
    { ...theirs, keys: other.keys, changes: 1 },
  ]) {
    const id = await list(RULE)
    await buildAll()
    for (let change = 0; change < changes; change++) {
      await w.patch(`/api/client/lists/${id}`, { rule: { attribute: 'data.plan', is: `free-${change}` } }, { key: keys.secret })
      await buildAll()
    }
    lists.push(id)
  }
  const versions = async () => [await mine.versions(lists[0] as number), await theirs.versions(lists[1] as number)]
  const former = Array(20).fill('retired')
  expect(await versions()).toEqual([
    [...former, 'live'],
    ['retired', 'live'],
  ])
  await using _ = await failSaves(w, { table: 'list_versions', on: 'delete', when: 'true' })
  await w.drain('lists.delete-retired')
  expect(await versions()).toEqual([[...former, 'live'], ['live']])
})

test('four lists of a project take turns, so that a small one does not wait for a large one', async () => {
  await using w = await world()
  const { ids } = await lists(w, 5)
  const build = createListBuilder({ ...NEVER_SCANS, chunkUsers: 1 })
  for (let round = 0; round < 8; round++) await build(w.ctx)
  const Built = Type.Object({ users: Type.Integer() })
  const built = await w.db.many(
    Built,
    sql`select (select count(*) from users u where u.project_id = v.project_id and u.id <= v.built_to) as users
        from list_versions v where project_id = ${w.projectId} and list_id = any(${ids}::bigint[]) order by id`,
  )
  expect(built.map(({ users }) => users)).toEqual([2, 2, 2, 2, 0])
})

test('while there is time, a step builds one small list after the other', async () => {
  await using w = await world()
  const { statuses } = await lists(w, 12)
  await createListBuilder(NEVER_SCANS)(w.ctx)
  expect(await statuses()).toEqual(Array(12).fill('live'))
})

test('a step ends when its time is over', async () => {
  await using w = await world()
  const { statuses } = await lists(w, 12)
  await createListBuilder(NEVER_SCANS)(ticking(w.ctx, 20))
  expect(new Set(await statuses())).toEqual(new Set(['live', 'building']))
})

test('while requests wait to be applied, a project rests between its lists as it does within one', async () => {
  await using w = await world()
  const { b, statuses } = await lists(w, 6)
  await b.did(['kim'], 'opened')
  const build = createListBuilder(NEVER_SCANS)
  const ctx = ticking(w.ctx, 10)
  await build(ctx)
  const after = await statuses()
  expect(new Set(after)).toEqual(new Set(['live', 'building']))
  await build(ctx)
  expect(await statuses()).toEqual(after)
  w.advance('1 minute')
  await build(ctx)
  expect(await statuses()).not.toEqual(after)
})

test('a project whose clock was set back while it rested does not rest until then', async () => {
  await using w = await world()
  const { b, statuses } = await lists(w, 6)
  await b.did(['kim'], 'opened')
  const build = createListBuilder(NEVER_SCANS)
  const ctx = ticking(w.ctx, 10)
  await build(ctx)
  const after = await statuses()
  w.clock.set(new Date(w.clock.now().getTime() - HOUR_MS))
  await build(ctx)
  expect(await statuses()).not.toEqual(after)
})

test('halves have as much work each: the second one also has what is beyond the end of it', () => {
  const range = { partition: '', after: 100, until: 500 }
  expect(halves(range, 2)).toMatchObject([{ until: 300 }, { after: 300, until: 500 }])
  expect(halves(range, 2, 200)).toMatchObject([{ until: 150 }, { after: 150, until: 500 }])
  expect(halves(range, 2, 900)).toMatchObject([{ until: 300 }, { after: 300, until: 500 }])
  // Without work, or with too little, or in a short range.
  expect(halves(range, 2, 100)).toMatchObject([{ until: 300 }, { after: 300 }])
  expect(halves(range, 2, 101)).toEqual([range])
  expect(halves(range, 401)).toEqual([range])
})

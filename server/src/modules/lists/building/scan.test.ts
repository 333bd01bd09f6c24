/** A scan reads each event once, whatever is lost on the way. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { buildingWith, isScanned, losing } from '../../../../test/list-builds.ts'
import { world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId } from '../../../lib/ids.ts'
import { createListBuilder } from './build.ts'
import { openMatches } from './scan.queries.ts'
import { collectTimes, dropMatches, endScan } from './scan.ts'

test('pages that were read by half of a lost step are not counted twice', async () => {
  await using w = await world()
  const b = await buildingWith(createListBuilder, w, true)
  await b.buildAll()
  for (let at = 0; at < 40; at++) {
    const data = { text: 'x'.repeat(900) }
    const events = Array.from({ length: 10 }, (_, who) => ({ external_id: `user-${who}`, name: 'opened', data }))
    await b.post('/api/client/events', events)
  }
  await b.apply()
  const list = await b.list({ event: 'opened', exactly: 40 })
  const build = createListBuilder({ scanFromUsers: 0, halvedFromIds: 0 })
  while ((await b.versions(list)).join() !== 'filling') await build(w.ctx)
  // The first transaction of the step reads the first half of the pages; the next one, the second half.
  await expect(build(losing(w.ctx, (number) => number === 1))).rejects.toThrow('The connection is lost.')
  expect(await w.db.value(Type.Integer(), sql`select count(*) as parts from list_build_parts where project_id = ${w.projectId}`)).toBe(1)
  await b.buildAll()
  expect((await b.members(list)).length).toBe(10)
})

test('times that were collected by half of a lost step are not counted twice', async () => {
  await using w = await world()
  const b = await buildingWith(createListBuilder, w, true)
  await b.buildAll()
  const names = ['ann', 'bob', 'cid', 'dan']
  await w.users(...names)
  for (const external_id of names) await b.post('/api/client/events', [{ external_id, name: 'opened' }])
  await b.apply()
  const rule = { event: 'opened', exactly: 1 }
  const stepsTo = async (list: number, status: string) => {
    const build = createListBuilder({ scanFromUsers: 0, halvedFromIds: 0 })
    let steps = 0
    for (; (await b.versions(list)).join() !== status; steps++) await build(w.ctx)
    return { build, steps }
  }
  const other = await b.list(rule)
  await stepsTo(other, 'filling')
  const { steps } = await stepsTo(other, 'building')
  await b.buildAll()
  const list = await b.list(rule)
  const { build } = await stepsTo(list, 'filling')
  for (let step = 1; step < steps; step++) await build(w.ctx)
  // The first transaction of the step collects the times of the first half, and the next one those of the second half.
  await expect(build(losing(w.ctx, (number) => number === 1))).rejects.toThrow('The connection is lost.')
  const Partition = Type.Object({ partition: Type.String() })
  const parts = await w.db.many(Partition, sql`select partition from list_build_parts where project_id = ${w.projectId}`)
  expect(parts.filter(({ partition }) => !partition.startsWith('events'))).toEqual([{ partition: 'times' }])
  await b.buildAll()
  expect((await b.members(list)).sort()).toEqual(names)
})

test('collecting and indexing the times of a scan may take longer than other statements', async () => {
  await using w = await world()
  const id = 9_000_000 as ListVersionId
  const limitAfter = (work: (ctx: InTx) => Promise<void>) =>
    inTx(w.ctx, async (ctx) => {
      await work({ ...ctx, projectId: w.projectId } as InTx)
      return ctx.db.value(Type.String(), sql`select current_setting('statement_timeout') as is`)
    })
  expect(await limitAfter((ctx) => openMatches(ctx, id))).toBe('1min')
  expect(await limitAfter((ctx) => collectTimes(ctx, id, [], { partition: 'times', after: 0, until: 1 }))).toBe('0')
  expect(await limitAfter((ctx) => endScan(ctx, id, { partition: '', page: 0 }))).toBe('0')
  expect(await limitAfter(async (ctx) => void (await dropMatches(ctx, id)))).toBe('1min')
})

test('a scan that an earlier release began, with other tables, is begun again', async () => {
  await using w = await world()
  const b = await buildingWith(createListBuilder, w, true)
  await b.buildAll()
  await b.did(['kim'], 'opened')
  await b.apply()
  for (const status of ['filling', 'building']) {
    const list = await b.list({ event: 'opened' })
    const build = createListBuilder({ scanFromUsers: 0, chunkUsers: 1 })
    while ((await b.versions(list)).join() !== 'filling' || !(await isScanned(w))) await build(w.ctx)
    while ((await b.versions(list)).join() !== status) await build(w.ctx)
    const id = await w.db.value(Type.Integer(), sql`select id from list_versions where project_id = ${w.projectId} and list_id = ${list}`)
    await inTx(w.ctx, async (ctx) => dropMatches({ ...ctx, projectId: w.projectId } as InTx, id as ListVersionId))
    await b.buildAll()
    expect(await b.members(list)).toEqual(['kim'])
  }
})

test('with statistics of users, a scan counts the events of merged users once, and those of erased users never', async () => {
  await using w = await world()
  const b = await buildingWith(createListBuilder, w, true)
  await b.buildAll()
  const did = (id: object, times: number) =>
    b.post(
      '/api/client/events',
      Array.from({ length: times }, () => ({ ...id, name: 'opened' })),
    )
  await w.users('ann', 'bob', 'cid', 'dan', 'eve')
  await did({ anonymous_id: 'phone' }, 1)
  await did({ anonymous_id: 'tablet' }, 1)
  await did({ external_id: 'ann' }, 1)
  await did({ external_id: 'bob' }, 3)
  await did({ external_id: 'cid' }, 2)
  await did({ external_id: 'dan' }, 3)
  await b.apply()
  for (const anonymous_id of ['phone', 'tablet']) await b.post('/api/client/users/batch', [{ external_id: 'ann', anonymous_id }])
  await b.apply()
  await w.db.run(sql`update users set erase_requested_at = now() where project_id = ${w.projectId} and external_id = 'dan'`)
  await w.db.run(sql`analyze users`)
  const list = await b.list({ event: 'opened', exactly: 3, within: '30d' })
  const build = createListBuilder({ scanFromUsers: 0, halvedFromIds: 0 })
  while ((await b.versions(list)).join() !== 'live') await build(w.ctx)
  expect((await b.members(list)).sort()).toEqual(['ann', 'bob'])
  expect((await w.get(`/api/client/lists/${list}`)).body).toMatchObject({ users_count: 2 })
})

test('the times of users who are erased during a scan are not kept', async () => {
  await using w = await world()
  const b = await buildingWith(createListBuilder, w, true)
  await b.buildAll()
  await w.users('ann', 'bob')
  for (const external_id of ['ann', 'bob']) await b.post('/api/client/events', [{ external_id, name: 'opened' }])
  await b.apply()
  const list = await b.list({ event: 'opened' })
  const build = createListBuilder({ scanFromUsers: 0, chunkUsers: 1 })
  while ((await b.versions(list)).join() !== 'building' || !(await isScanned(w))) await build(w.ctx)
  expect((await w.delete('/api/client/users/ann')).status).toBe(204)
  await w.drain('users.erase')
  await b.buildAll()
  const Name = Type.Object({ external_id: Type.Union([Type.String(), Type.Null()]) })
  const kept = await w.db.many(
    Name,
    sql`select u.external_id from tracked_times t left join users u on u.project_id = t.project_id and u.id = t.user_id
        where t.project_id = ${w.projectId}`,
  )
  expect(kept).toEqual([{ external_id: 'bob' }])
})

/** A list stays exact when rules are edited and users are merged while it is being built. */

import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { type Tenant, type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { type Job, runToEnd } from '../../../infra/queue/jobs.ts'
import { UNDIVIDED } from '../../../infra/queue/partitions.ts'
import { type Ctx, type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId, UserId } from '../../../lib/ids.ts'
import { allJobs } from '../../../workers.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { mergeMemberships } from '../live/merges.ts'
import { createListBuilder } from './build.ts'
import { openMatches } from './scan.queries.ts'
import { collectTimes, dropMatches, endScan } from './scan.ts'

/** The users that were evaluated. After 'all', the list is live. */
const STAGES = ['none', 'the first', 'both', 'all'] as const
type Stage = (typeof STAGES)[number]

type Name = 'kim' | 'visitor'
type Case = [first: Name, reading: 'by user' | 'in a scan', how: 'a request' | 'an event']

/** A request merges the users at once, and the consumer applies the merge to lists later; an event does both together. */
const cases = (['kim', 'visitor'] as const).flatMap((first) =>
  (['by user', 'in a scan'] as const).flatMap((reading) => (['a request', 'an event'] as const).map((how): Case => [first, reading, how])),
)

test.each(cases)(
  '%s came first, past events are read %s, %s merges the users: the events of both count once',
  { timeout: 120_000 },
  async (first, reading, how) => {
    await using w = await world()
    for (const [stage, before] of STAGES.entries())
      for (const applied of how === 'a request' ? STAGES.slice(stage) : [before]) {
        const b = await building(w, reading === 'in a scan', await w.other())
        await b.did([first], 'viewed', 'opened')
        await b.did([first === 'kim' ? 'visitor' : 'kim'], 'viewed', 'opened')
        await b.did(['visitor'], 'viewed', 'opened')
        await b.apply()
        // The first event comes before the build, the second during it, and the third in the batch with the merge.
        const opened = { event: 'opened', exactly: 3 }
        const viewed = { event: 'viewed', exactly: 4, within: '30d' }
        const met = { event: 'met', exactly: 1 }
        const list = await b.list({ all: [opened, viewed, met] })
        await b.buildTo(list, before)
        if (before === 'all') w.advance('1 minute')
        await b.did(['visitor'], 'viewed')
        await b.apply()
        if (how === 'a request') await b.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'visitor' }])
        await b.buildTo(list, applied)
        await b.did(['kim', 'visitor'], 'met')
        await b.apply()
        await b.buildTo(list, 'all')
        const about = `evaluated at the merge: ${before}, when lists applied it: ${applied}`
        expect(await b.members(list), about).toEqual(['kim'])
        await b.did(['visitor'], 'viewed')
        await b.apply()
        expect(await b.members(list), about).toEqual([])
      }
  },
)

test.each([['by user'], ['in a scan']])('events are read %s: a membership event that follows from a merge counts too', async (reading) => {
  await using w = await world()
  const b = await building(w, reading === 'in a scan')
  await b.did(['kim'], 'viewed')
  await b.did(['visitor'], 'opened')
  await b.apply()
  const never = await b.list({ event: 'opened', at_most: 0 })
  await b.buildTo(never, 'all')
  const left = await b.list({ event: 'list_left', where: [{ attribute: 'data.list_id', is: never }] })
  await b.buildTo(left, 'the first')
  await b.did(['kim', 'visitor'], 'viewed')
  await b.apply()
  await b.buildTo(left, 'all')
  expect([await b.members(never), await b.members(left)]).toEqual([[], ['kim']])
})

test('users merged before and after the list went live count once, though lists apply the merges in a later batch', async () => {
  await using w = await world()
  const b = await building(w, false)
  for (const anonymous_id of ['one', 'two']) await b.post('/api/client/events', [{ anonymous_id, name: 'opened' }])
  await b.did(['kim'], 'opened')
  await b.apply()
  const list = await b.list({ event: 'opened', exactly: 3 })
  await b.buildTo(list, 'the first')
  const same = (anonymous_id: string) => b.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id }])
  await same('one')
  await b.buildTo(list, 'all')
  w.advance('1 minute')
  await same('two')
  const users = await w.db.many(Id, sql`select id from users where project_id = ${w.projectId} order by id`)
  const [one, two, kim] = users.map(({ id }) => id as UserId) as [UserId, UserId, UserId]
  for (const from_id of [one, two]) await inTx(w.ctx, async (ctx) => mergeMemberships(ctx, [{ from_id, into_id: kim }], UNDIVIDED))
  const kept = await w.db.many(Kept, sql`select user_id, cardinality(times) as times from tracked_times where project_id = ${w.projectId}`)
  expect(kept).toEqual([{ user_id: kim, times: 3 }])
})

test('a rule that is edited during the scan for the previous rule goes live', async () => {
  await using w = await world()
  const b = await building(w, true)
  await w.users('kim')
  await w.post('/api/client/users/batch', [{ external_id: 'lee', data: { plan: 'pro' } }])
  await b.did(['kim'], 'viewed')
  await b.apply()
  const list = await b.list({ event: 'viewed' })
  await b.buildTo(list, 'none')
  expect(await b.versions(list)).toEqual(['filling'])
  await w.patch(`/api/client/lists/${list}`, { rule: { attribute: 'data.plan', is: 'pro' } })
  await b.buildAll()
  expect(await b.members(list)).toEqual(['lee'])
  expect(await b.versions(list)).toEqual(['retired', 'live'])
})

const BuiltTo = Type.Object({ built_to: Type.Integer(), status: Type.String() })
const Kept = Type.Object({ user_id: Type.Integer(), times: Type.Integer() })
const Status = Type.Object({ status: Type.String() })
const Id = Type.Object({ id: Type.Integer() })

/** A project whose lists are built by calls, a user at a time. */
async function building(w: World, inScan: boolean, { keys, ctx }: Tenant = w) {
  const key = keys.secret
  const job = allJobs(createInboxStreams()).find(({ name }) => name === 'ingest.apply') as Job
  const build = createListBuilder({
    scanFromUsers: inScan ? 0 : Number.MAX_SAFE_INTEGER,
    chunkUsers: 1,
  })
  const post = async (path: string, body: unknown) => {
    const reply = await w.post(path, body, { key })
    expect(reply.status, reply.text).toBeLessThan(300)
    return reply.body
  }
  return {
    post,
    did: (as: Name[], ...names: string[]) => {
      const ids = { ...(as.includes('kim') && { external_id: 'kim' }), ...(as.includes('visitor') && { anonymous_id: 'visitor' }) }
      return post(
        '/api/client/events',
        names.map((name) => ({ ...ids, name })),
      )
    },
    apply: () => runToEnd(job, w.ctx, new AbortController().signal),
    list: async (rule: object): Promise<number> => (await post('/api/client/lists', { name: 'List', type: 'dynamic', rule })).id,
    async versions(list: number): Promise<string[]> {
      const rows = await w.db.many(
        Status,
        sql`select status from list_versions where project_id = ${ctx.projectId} and list_id = ${list} order by id`,
      )
      return rows.map(({ status }) => status)
    },
    async buildAll(): Promise<void> {
      for (let step = 0; step < STEPS_MAX; step++) if ((await build(w.ctx)) === 0) return
      throw new Error('The build does not end.')
    },
    async buildTo(list: number, stage: Stage): Promise<void> {
      // The scan has begun; it may see later events or not.
      if (stage === 'none') return void (inScan && (await build(w.ctx)))
      const all = await w.db.many(Id, sql`select id from users where project_id = ${ctx.projectId} order by id`)
      const until = stage === 'all' ? undefined : all[STAGES.indexOf(stage) - 1]?.id
      for (let step = 0; step < STEPS_MAX; step++) {
        const version = await w.db.first(
          BuiltTo,
          sql`select built_to, status from list_versions where project_id = ${ctx.projectId} and list_id = ${list} order by id desc limit 1`,
        )
        if (version?.status === 'live' || (until !== undefined && (version?.built_to ?? 0) >= until)) return
        await build(w.ctx)
      }
      throw new Error('The build does not end.')
    },
    members: async (list: number): Promise<string[]> =>
      (await w.get(`/api/client/lists/${list}/users`, { key })).body.results.map(({ external_id }: { external_id: string }) => external_id),
  }
}

const STEPS_MAX = 100

test('many lists of one project do not delay the first of another: each project has one chunk built in a round', async () => {
  await using w = await world()
  const other = await w.other()
  const mine = await building(w, false)
  const theirs = await building(w, false, other)
  for (const { post } of [mine, theirs]) await post('/api/client/users/batch', [{ external_id: 'kim' }])
  const rule = { attribute: 'external_id', is_set: true }
  const lists: number[] = []
  for (let at = 0; at < 5; at++) lists.push(await mine.list(rule))
  const list = await theirs.list(rule)
  // With one user, a list takes two chunks: the user, and the end.
  const build = createListBuilder({ scanFromUsers: Number.MAX_SAFE_INTEGER, chunkUsers: 1 })
  await build(w.ctx)
  await build(w.ctx)
  expect(await theirs.versions(list)).toEqual(['live'])
  const ofMine = await Promise.all(lists.map((id) => mine.versions(id)))
  expect(ofMine.flat()).toEqual(['live', 'building', 'building', 'building', 'building'])
})

/** A context whose transactions fail after their work, where `isLost` says so of their number. */
function losing(ctx: Ctx, isLost: (number: number) => boolean): Ctx {
  let number = 0
  const transaction: Ctx['db']['transaction'] = (work, limits) => {
    const isLast = isLost(++number)
    return ctx.db.transaction(async (db) => {
      const result = await work(db)
      if (isLast) throw new Error('The connection is lost.')
      return result
    }, limits)
  }
  return { ...ctx, db: { ...ctx.db, transaction } }
}

/** The transactions of a step: one looks for pages to read, the next builds a chunk, and the one after it builds the second half. */
const STEP = 2

test.each([['by user'], ['in a scan']])(
  'events are read %s: users whose half of a chunk was committed, but not the step, are built again with what has changed since',
  async (reading) => {
    await using w = await world()
    const inScan = reading === 'in a scan'
    const b = await building(w, inScan)
    // Builds of other tests have transactions too.
    await b.buildAll()
    await w.users('ann', 'bob', 'cid', 'dan')
    for (const external_id of ['ann', 'bob', 'cid', 'dan']) await b.post('/api/client/events', [{ external_id, name: 'opened' }])
    await b.apply()
    const list = await b.list({ event: 'opened', exactly: 1 })
    const build = createListBuilder({ scanFromUsers: inScan ? 0 : Number.MAX_SAFE_INTEGER, chunkUsers: 4, halvedFromIds: 0 })
    while ((await b.versions(list)).join() !== 'building' || (inScan && !(await isScanned(w)))) await build(w.ctx)
    // A scan has not seen this event: the half reads it.
    await b.post('/api/client/events', [{ external_id: 'cid', name: 'opened' }])
    await b.apply()
    await expect(build(losing(w.ctx, (number) => number === STEP))).rejects.toThrow('The connection is lost.')
    expect(await rowsOf(w)).toEqual(['dan'])
    await b.post('/api/client/events', [{ external_id: 'dan', name: 'opened' }])
    await b.apply()
    await b.buildAll()
    expect((await b.members(list)).sort()).toEqual(['ann', 'bob'])
    expect((await w.get(`/api/client/lists/${list}`)).body).toMatchObject({ state: 'ready', users_count: 2 })
  },
)

test('pages that were read by half of a lost step are not counted twice', async () => {
  await using w = await world()
  const b = await building(w, true)
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
  const b = await building(w, true)
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
  const b = await building(w, true)
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
  const b = await building(w, true)
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

const isScanned = async (w: World) =>
  (await w.db.many(Status, sql`select status from list_versions where project_id = ${w.projectId} and scan is not null`)).length > 0

const External = Type.Object({ external_id: Type.String() })

/** The users with stored memberships. */
const rowsOf = async (w: World) =>
  (
    await w.db.many(
      External,
      sql`select u.external_id from list_memberships m join users u on u.project_id = m.project_id and u.id = m.user_id
          where m.project_id = ${w.projectId} order by 1`,
    )
  ).map(({ external_id }) => external_id)

/** A list stays exact when rules are edited and users are merged while it is being built. */

import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { buildingWith, Id, isScanned, losing, type Name, STAGES } from '../../../../test/list-builds.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { UNDIVIDED } from '../../../infra/queue/partitions.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { mergeMemberships } from '../live/merges.ts'
import { createListBuilder } from './build.ts'

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
        const b = await buildingWith(createListBuilder, w, reading === 'in a scan', await w.other())
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
  const b = await buildingWith(createListBuilder, w, reading === 'in a scan')
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
  const b = await buildingWith(createListBuilder, w, false)
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
  const b = await buildingWith(createListBuilder, w, true)
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

/** The transactions of a step: one looks for pages to read, the next builds a chunk, and the one after it builds the second half. */
const STEP = 2

test.each([['by user'], ['in a scan']])(
  'events are read %s: users whose half of a chunk was committed, but not the step, are built again with what has changed since',
  async (reading) => {
    await using w = await world()
    const inScan = reading === 'in a scan'
    const b = await buildingWith(createListBuilder, w, inScan)
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

const Kept = Type.Object({ user_id: Type.Integer(), times: Type.Integer() })
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

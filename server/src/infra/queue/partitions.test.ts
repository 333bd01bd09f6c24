import fc from 'fast-check'
import { Type } from 'typebox'
import { expect, test, vi } from 'vitest'
import { SOON } from '../../../test/wait.ts'
import { world } from '../../../test/world.ts'
import type { UserId } from '../../lib/ids.ts'
import { sql } from '../postgres/db.ts'
import { inTx } from '../runtime/ctx.ts'
import {
  assignPartitions,
  BUILDING,
  BY_HAND,
  beginPartition,
  closeBatchPlan,
  divide,
  divisionOf,
  openBatchPlan,
  partitionsOf,
  TIMERS,
  takePartition,
  UNDIVIDED,
} from './partitions.ts'

test.each<[string, string[][], number[]]>([
  ['items without a shared key are spread', [['a'], ['b'], ['c'], ['d']], [0, 1, 0, 1]],
  ['items that share a key stay together', [['a'], ['b'], ['a']], [0, 1, 0]],
  ['items that share keys through a third item stay together', [['a'], ['b'], ['c'], ['a', 'c']], [0, 1, 0, 0]],
  ['other items go to the partition without the large group', [['a'], ['a'], ['b'], ['c']], [0, 0, 1, 1]],
  ['items without a key are spread', [[], []], [0, 1]],
])('%s', (_, keys, expected) => expect([...assignPartitions(keys, 2)]).toEqual(expected))

test('the writers of counters have numbers of their own, which are stored and never change', () => {
  expect({ UNDIVIDED, BY_HAND, BUILDING, TIMERS }).toEqual({ UNDIVIDED: 0, BY_HAND: -1, BUILDING: -2, TIMERS: -3 })
})

test('items that share a key share a partition, and the assignment is deterministic', () => {
  const items = fc.array(fc.array(fc.constantFrom(...'abcdefghij'), { maxLength: 3 }), { maxLength: 30 })
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 4 }), (keys, partitions) => {
      const divided = assignPartitions(keys, partitions)
      expect(assignPartitions(keys, partitions)).toEqual(divided)
      for (const [one, mine] of keys.entries())
        for (const [other, theirs] of keys.entries())
          if (mine.some((key) => theirs.includes(key))) expect(divided[one]).toBe(divided[other])
    }),
  )
})

const due = (...users: number[]) => users.map((id) => ({ userId: id as UserId }))
const planOf = (keys: string[][], users: number[], count: number) => {
  const { partitions, dueUsers, duePartitions } = divisionOf(keys, due(...users), count)
  const stored = { partitions: Buffer.from(partitions), due_users: dueUsers, due_partitions: Buffer.from(duePartitions) }
  return { id: 1, positions: [], ...stored }
}

test('what is due for a user is in the partition with the items of the user, and what the plan does not name is left', () => {
  const plan = planOf([['u5'], ['u6'], ['u7']], [5, 7, 7, 11], 3)
  expect(divide(plan, ['a', 'b', 'c'], due(7, 5, 11, 7, 12))).toEqual(
    new Map([
      [0, { items: ['a'], due: due(5) }],
      [1, { items: ['b'], due: [] }],
      [2, { items: ['c'], due: due(7, 11, 7) }],
    ]),
  )
  expect(partitionsOf(planOf([['u5']], [8], 4)), 'nothing is in the others').toEqual([0])
  expect(partitionsOf(planOf([['a']], [7], 4)), 'nothing is in the others').toEqual([0, 3])
  // The plan of the release before.
  expect(divide({ ...plan, due_users: [], due_partitions: Buffer.of() }, ['a', 'b', 'c'], due(5)).get(0)?.due).toEqual([])
})

test('a process takes a partition that no other is applying and that is not applied, without waiting', async () => {
  await using w = await world()
  const plan = await openBatchPlan(w.ctx, w.projectId, [1], divisionOf([['a'], ['b'], ['c']], [], 3))
  const take = () => inTx(w.ctx, (ctx) => takePartition(ctx, w.projectId, plan))
  expect(await take()).toBe(0)
  await inTx(w.ctx, async (ctx) => {
    expect(await takePartition(ctx, w.projectId, plan)).toBe(1)
    expect(await take()).toBe(2)
    expect(await take()).toBeUndefined()
  })
  await inTx(w.ctx, (ctx) => closeBatchPlan(ctx, w.projectId, plan.id))
  const next = await openBatchPlan(w.ctx, w.projectId, [2], divisionOf([['a']], [], 1))
  expect(await take(), 'of a plan that was closed').toBeUndefined()
  expect(await inTx(w.ctx, (ctx) => takePartition(ctx, w.projectId, next))).toBe(0)
  await inTx(w.ctx, (ctx) => closeBatchPlan(ctx, w.projectId, next.id))
})

test('a partition that a process has left is begun by the one that waits for it', async () => {
  await using w = await world()
  const plan = await openBatchPlan(w.ctx, w.projectId, [1], divisionOf([['a']], [], 1))
  const [isTaken, die] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const other = inTx(w.ctx, async (ctx) => {
    await takePartition(ctx, w.projectId, plan)
    isTaken.resolve()
    await die.promise
    throw new Error('died')
  })
  await isTaken.promise
  const isBegun = inTx(w.ctx, (ctx) => beginPartition(ctx, w.projectId, plan.id, 0))
  await vi.waitFor(async () => expect(await w.db.value(Type.Integer(), waiting)).toBe(1), SOON)
  die.resolve()
  await expect(other).rejects.toThrow('died')
  expect(await isBegun).toBe(true)
  await inTx(w.ctx, (ctx) => closeBatchPlan(ctx, w.projectId, plan.id))
})

const waiting = sql`select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

test('a partition of a plan that another process is closing is not begun', async () => {
  await using w = await world()
  const { id } = await openBatchPlan(w.ctx, w.projectId, [1], divisionOf([['a']], [], 1))
  const [isClosed, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const closing = inTx(w.ctx, async (ctx) => {
    await closeBatchPlan(ctx, w.projectId, id)
    isClosed.resolve()
    await commit.promise
  })
  await isClosed.promise
  const isBegun = inTx(w.ctx, (ctx) => beginPartition(ctx, w.projectId, id, 0))
  await vi.waitFor(async () => expect(await w.db.value(Type.Integer(), waiting)).toBe(1), SOON)
  commit.resolve()
  await closing
  expect(await isBegun).toBe(false)
})

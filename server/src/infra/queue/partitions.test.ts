import fc from 'fast-check'
import { Type } from 'typebox'
import { expect, test, vi } from 'vitest'
import { SOON } from '../../../test/wait.ts'
import { world } from '../../../test/world.ts'
import { sql } from '../postgres/db.ts'
import { inTx } from '../runtime/ctx.ts'
import { assignPartitions, BUILDING, BY_HAND, beginPartition, closeBatchPlan, openBatchPlan, TIMERS, UNDIVIDED } from './partitions.ts'

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

test('a partition of a plan that another process is closing is not begun', async () => {
  await using w = await world()
  const { id } = await openBatchPlan(w.ctx, w.projectId, [1], Uint8Array.of(0))
  const [isClosed, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const closing = inTx(w.ctx, async (ctx) => {
    await closeBatchPlan(ctx, w.projectId, id)
    isClosed.resolve()
    await commit.promise
  })
  await isClosed.promise
  const isBegun = inTx(w.ctx, (ctx) => beginPartition(ctx, w.projectId, id, 0))
  const waiting = sql`select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await vi.waitFor(async () => expect(await w.db.value(Type.Integer(), waiting)).toBe(1), SOON)
  commit.resolve()
  await closing
  expect(await isBegun).toBe(false)
})

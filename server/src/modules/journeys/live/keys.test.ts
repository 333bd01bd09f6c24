import { expect, test } from 'vitest'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../../lib/ids.ts'
import { forgetKeys, moveKeysAndCalls, saveKeys } from './queries.ts'

const [ANA, BO, LEE] = [1, 2, 3] as UserId[] as [UserId, UserId, UserId]

const enter = async (w: World, day: string, ...users: UserId[]) => {
  w.clock.set(new Date(day))
  await inTx(w.ctx, (ctx) =>
    saveKeys(
      ctx,
      users.map((user_id) => ({ user_id, journey_id: 1 as JourneyId, key_hash: 7 })),
    ),
  )
}

const keys = async (w: World) =>
  (await select(w, 'select user_id::int, seen_on::text from journey_keys where project_id = $1 order by user_id', [w.projectId])).map(
    ({ user_id, seen_on }) => [user_id, seen_on],
  )

test('the same key of merged users is as young as the youngest', async () => {
  await using w = await world()
  await enter(w, '2027-01-01', ANA)
  await enter(w, '2027-01-02', BO)
  await enter(w, '2027-01-03', LEE)
  const into = (from_id: UserId, into_id: UserId) => inTx(w.ctx, (ctx) => moveKeysAndCalls(ctx, [{ from_id, into_id }]))
  await into(BO, ANA)
  expect(await keys(w)).toEqual([
    [ANA, '2027-01-02'],
    [LEE, '2027-01-03'],
  ])
  await into(ANA, LEE)
  expect(await keys(w)).toEqual([[LEE, '2027-01-03']])
  await enter(w, '2027-01-04', ANA, BO)
  await inTx(w.ctx, (ctx) =>
    moveKeysAndCalls(ctx, [
      { from_id: ANA, into_id: LEE },
      { from_id: BO, into_id: LEE },
    ]),
  )
  expect(await keys(w)).toEqual([[LEE, '2027-01-04']])
})

test('the oldest keys of the project are forgotten first, some at a time, those of the last day not', async () => {
  await using w = await world()
  const other = await w.other()
  await enter(w, '2027-01-02', BO)
  await enter(w, '2027-01-01', ANA)
  await enter(w, '2027-01-03', LEE)
  const forget = (projectId = w.projectId) => inTx({ ...w.ctx, projectId }, (ctx) => forgetKeys(ctx, new Date('2027-01-03T12:00:00Z'), 1))
  expect(await forget(other.projectId)).toBe(0)
  expect(await forget()).toBe(1)
  expect(await keys(w)).toEqual([
    [BO, '2027-01-02'],
    [LEE, '2027-01-03'],
  ])
  expect([await forget(), await forget()]).toEqual([1, 0])
  expect(await keys(w)).toEqual([[LEE, '2027-01-03']])
})

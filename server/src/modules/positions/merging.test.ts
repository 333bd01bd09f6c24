import { expect, test } from 'vitest'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { movePositions } from './merging.queries.ts'

const [ANA, BO, LEE] = [1, 2, 3] as UserId[] as [UserId, UserId, UserId]

const day = (number: number) => `2027-01-0${number}T00:00:00.000Z`
type Past = { entered_at: string; ended_at: string | null; outcome: string | null; arm: string | null; goals: Record<string, string> }
const old: Past = { entered_at: day(1), ended_at: day(2), outcome: 'exited', arm: 'a', goals: { bought: day(1), big: day(2) } }
const recent: Past = { entered_at: day(3), ended_at: day(4), outcome: 'completed', arm: 'b', goals: { bought: day(3), paid: day(4) } }
const inNoArm: Past = { entered_at: day(5), ended_at: null, outcome: null, arm: null, goals: {} }

const save = (w: World, user: UserId, { entered_at, ended_at, outcome, arm, goals }: Past) =>
  select(
    w,
    `insert into journey_users (project_id, user_id, journey_id, entered, exited, last_entered_at, last_ended_at, last_outcome, arm, goals)
     values ($1, $2, 1, 1, 1, $3, $4, $5, $6, $7)`,
    [w.projectId, user, entered_at, ended_at, outcome, arm, goals],
  )

const known = (w: World) =>
  select(w, 'select user_id::int, entered, last_outcome, arm, goals from journey_users where project_id = $1', [w.projectId])

const ofBoth = { last_outcome: 'completed', arm: 'b', goals: { bought: day(3), big: day(2), paid: day(4) } }

test.each([
  ['the user who stays', old, recent],
  ['the user who goes', recent, old],
])('what a user did last in a journey is as old as its date after a merge: %s is behind', async (_, staying, going) => {
  await using w = await world()
  await save(w, ANA, staying)
  await save(w, BO, going)
  await inTx(w.ctx, (ctx) => movePositions(ctx, [{ from_id: BO, into_id: ANA }]))
  expect(await known(w)).toEqual([{ user_id: ANA, entered: 2, ...ofBoth }])
})

test.each([
  ['the first', old, recent],
  ['the second', recent, old],
])('of two users who are merged into one without a row, %s is behind', async (_, first, second) => {
  await using w = await world()
  await save(w, ANA, first)
  await save(w, BO, second)
  const merges = [ANA, BO].map((from_id) => ({ from_id, into_id: LEE }))
  await inTx(w.ctx, (ctx) => movePositions(ctx, merges))
  expect(await known(w)).toEqual([{ user_id: LEE, entered: 2, ...ofBoth }])
})

test('a user who entered last, and was in no experiment yet, does not take the arm away', async () => {
  await using w = await world()
  await save(w, ANA, inNoArm)
  await save(w, BO, recent)
  await inTx(w.ctx, (ctx) => movePositions(ctx, [{ from_id: BO, into_id: ANA }]))
  expect(await known(w)).toMatchObject([{ last_outcome: 'completed', arm: 'b' }])
})

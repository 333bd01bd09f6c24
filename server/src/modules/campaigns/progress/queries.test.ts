import { expect, test } from 'vitest'
import { subscriptionTo } from '../../../../test/blasts.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import * as queries from './queries.ts'

const START = '2026-11-24T09:00:00.000Z'
const RUNNING = { type: 'blast', state: 'running', started_at: START }
const winner = { metric: 'opens', test_percent: 10, after_minutes: 60 }

/** Stores campaigns, and returns what queries found of them: their places in the order of storing. */
async function store(w: World, campaigns: object[]) {
  const subscription_id = await subscriptionTo(w)
  const ids: CampaignId[] = []
  for (const [at, campaign] of campaigns.entries()) {
    const [row] = await select(
      w,
      `insert into campaigns (project_id, name, channel, subscription_id, created_at, updated_at, type, state, started_at, paused_at, archived_at,
                              winner, winner_variant, pending_action)
       select $1, '', 'email', $2, now(), $3, type, state, started_at, paused_at, archived_at, winner, winner_variant, pending_action
       from jsonb_populate_record(null::campaigns, $4) returning id`,
      [w.projectId, subscription_id, new Date(Date.parse(START) + at), JSON.stringify(campaign)],
    )
    ids.push(Number(row?.id) as CampaignId)
  }
  return { ids, placesOf: (found: { id: CampaignId }[]) => found.map(({ id }) => ids.indexOf(id)) }
}

test('blasts that run are described the newest first, up to a limit, and all of them are counted', async () => {
  await using w = await world()
  const { placesOf } = await store(w, [
    RUNNING,
    RUNNING,
    RUNNING,
    { ...RUNNING, paused_at: START },
    { ...RUNNING, archived_at: START },
    { ...RUNNING, type: 'trigger' },
    { ...RUNNING, state: 'loading' },
  ])
  const { blasts, count } = await queries.findUnpaused(w.ctx, 2)
  expect([placesOf(blasts), count]).toEqual([[2, 1], 3])
  expect(placesOf(await queries.findRunning(w.ctx, 0 as CampaignId, [], 9))).toEqual([0, 1, 2, 3])
  expect(placesOf(await queries.findRunning(w.ctx, 0 as CampaignId, [], 2))).toEqual([0, 1])
  expect(await queries.runningSince(w.ctx)).toEqual(new Date(START))
})

test('pending actions are taken the oldest first, up to a limit, also of archived campaigns', async () => {
  await using w = await world()
  const { placesOf } = await store(w, [
    RUNNING,
    { ...RUNNING, pending_action: 'hold', archived_at: START },
    { ...RUNNING, pending_action: 'hold' },
    { ...RUNNING, pending_action: 'withdraw' },
  ])
  expect(placesOf(await queries.findPendingActions(w.ctx, 0 as CampaignId, [], 2))).toEqual([1, 2])
  expect(await queries.pendingActionSince(w.ctx)).toEqual(new Date(Date.parse(START) + 1))
})

test('an A/B test is decided when it has lasted long enough, while its blast runs', async () => {
  await using w = await world()
  const later = { ...winner, after_minutes: 90 }
  const { placesOf } = await store(w, [
    { ...RUNNING, winner: later },
    { ...RUNNING, winner },
    { ...RUNNING, winner },
    ...[{ state: 'loading' }, { archived_at: START }, { paused_at: START }, { winner_variant: 0 }, { type: 'trigger' }].map((other) => ({
      ...RUNNING,
      winner: { ...winner, after_minutes: 5 },
      ...other,
    })),
    RUNNING,
  ])
  const decidedAt = async (at: string) => {
    w.clock.set(new Date(at))
    return placesOf(await queries.findUndecided(w.ctx, [], 2))
  }
  expect(await queries.nextChoiceAt(w.ctx)).toEqual(new Date('2026-11-24T10:00:00.000Z'))
  expect(await decidedAt('2026-11-24T09:59:59.999Z')).toEqual([])
  expect(await decidedAt('2026-11-24T10:00:00.000Z')).toEqual([1, 2])
  expect(await decidedAt('2026-11-24T10:30:00.000Z')).toEqual([0, 1])
})

test('a winner is chosen once, while the blast runs', async () => {
  await using w = await world()
  const { ids } = await store(w, [
    { ...RUNNING, winner },
    { ...RUNNING, winner, state: 'finished' },
    { ...RUNNING, winner },
  ])
  const [running, finished, other] = ids as [CampaignId, CampaignId, CampaignId]
  const numbers = [{ variant: 1, sent: 9, opens: 3, clicks: 1 }]
  const save = (id: CampaignId, variant: number) => queries.saveWinner(w.ctx, id, variant, variant === 1 ? numbers : [])
  expect([await save(running, 1), await save(running, 0), await save(finished, 0)]).toEqual([1, 0, 0])
  expect(await Promise.all([running, finished, other].map((id) => queries.findWinnerNumbers(w.ctx, id)))).toEqual([numbers, null, null])
})

test('finished, aborted and archived blasts are over, unless an action is pending; only one that runs is finished', async () => {
  await using w = await world()
  const other = await w.other()
  const all = [
    RUNNING,
    { ...RUNNING, state: 'scheduled' },
    { ...RUNNING, state: 'finished' },
    { ...RUNNING, state: 'aborted' },
    { ...RUNNING, archived_at: START },
    { ...RUNNING, state: 'aborted', pending_action: 'withdraw' },
    { ...RUNNING, type: 'trigger' },
  ]
  const { ids, placesOf } = await store(w, all)
  const elsewhere = { ...w.ctx, projectId: other.projectId }
  const notOver = (ctx: typeof w.ctx, some: CampaignId[]) => inTx(ctx, (ctx) => queries.blastsNotOver(ctx, some))
  expect(placesOf(await queries.findOver(w.ctx, ids.slice(0, 5))).sort()).toEqual([2, 3, 4])
  expect(placesOf(await notOver(w.ctx, ids)).sort()).toEqual([0, 1, 5])
  expect([await queries.findOver(w.ctx, ids.slice(0, 2)), await queries.findOver(elsewhere, ids), await notOver(elsewhere, ids)]).toEqual([
    [],
    [],
    [],
  ])
  expect([await queries.finish(elsewhere, ids), await queries.finish(w.ctx, ids)]).toEqual([0, 1])
  expect(await select(w, `select id::int from campaigns where finished_at is not null`)).toEqual([{ id: ids[0] }])
})

test('a pending action ends for its campaign only; one that was aborted to be sent at another time is scheduled, as new', async () => {
  await using w = await world()
  const decided = { winner, winner_variant: 1, pending_action: 'withdraw' }
  const { ids } = await store(w, [
    { ...RUNNING, ...decided, state: 'aborting' },
    { ...RUNNING, ...decided, state: 'aborted' },
    { ...RUNNING, ...decided, state: 'aborting' },
  ])
  const [aborting, aborted, other] = ids as [CampaignId, CampaignId, CampaignId]
  const elsewhere = { ...w.ctx, projectId: (await w.other()).projectId }
  w.clock.set(new Date('2026-11-25T09:00:00Z'))
  for (const id of [aborting, aborted]) await inTx(w.ctx, (ctx) => queries.endPendingAction(ctx, id))
  await inTx(elsewhere, (ctx) => queries.endPendingAction(ctx, other))
  const rows = await select(
    w,
    'select state, pending_action, started_at, winner_variant, updated_at from campaigns where project_id = $1 order by id',
    [w.projectId],
  )
  const started = { started_at: new Date(START), winner_variant: 1 }
  expect(rows).toEqual([
    { state: 'scheduled', pending_action: null, started_at: null, winner_variant: null, updated_at: w.clock.now() },
    { state: 'aborted', pending_action: null, ...started, updated_at: new Date(Date.parse(START) + 1) },
    { state: 'aborting', pending_action: 'withdraw', ...started, updated_at: new Date(Date.parse(START) + 2) },
  ])
})

test('a pending action is locked by several senders, or alone, and not waited for', async () => {
  await using w = await world()
  const { ids } = await store(w, [{ ...RUNNING, pending_action: 'release' }, RUNNING])
  const [pending, none] = ids as [CampaignId, CampaignId]
  const lock = (id: CampaignId, hold: 'share' | 'update') => inTx(w.ctx, (ctx) => queries.lockPendingAction(ctx, id, hold))
  const beside = (hold: 'share' | 'update', other: 'share' | 'update') =>
    inTx(w.ctx, async (ctx) => {
      await queries.lockPendingAction(ctx, pending, hold)
      return (await lock(pending, other))?.pending_action
    })
  expect(await lock(none, 'share')).toBeUndefined()
  expect([await beside('share', 'share'), await beside('share', 'update'), await beside('update', 'share')]).toEqual([
    'release',
    undefined,
    undefined,
  ])
})

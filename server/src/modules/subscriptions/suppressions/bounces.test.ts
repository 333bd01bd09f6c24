import { expect, test, vi } from 'vitest'
import { select } from '../../../../test/select.ts'
import { type Reply, type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { type BouncedAddress, recordBounces, suppress, suppressedAmong } from '../index.ts'

const AFTER_THREE = { is: 'after', bounces: 3, withinMs: 30 * DAY_MS, onDifferentDays: false } as const

const bounce = async (w: World, more: Partial<BouncedAddress> = {}) =>
  inTx(w.ctx, (ctx) => recordBounces(ctx, [{ address: 'kim@example.com', label: 'routing', suppresses: AFTER_THREE, source: {}, ...more }]))

const reasonOf = async (w: World) => (await suppressedAmong(w.ctx, 'email', ['kim@example.com'])).get('kim@example.com')

test('an invalid address is suppressed at its first bounce', async () => {
  await using w = await world()
  expect(await bounce(w, { suppresses: { is: 'at once' } })).toEqual(new Set(['kim@example.com']))
  expect(await reasonOf(w)).toBe('hard_bounce')
})

test('a refusal of the sender suppresses no address, however often', async () => {
  await using w = await world()
  for (let at = 0; at < 10; at++) expect(await bounce(w, { suppresses: { is: 'never' } })).toEqual(new Set())
  expect(await reasonOf(w)).toBeUndefined()
})

test('other bounces suppress an address when there were enough of a kind in 30 days, in any notation', async () => {
  await using w = await world()
  await bounce(w)
  w.advance('31 days')
  await bounce(w)
  await bounce(w, { label: 'mailbox-full' })
  await bounce(w, { address: 'KIM@Example.com' })
  expect(await reasonOf(w)).toBeUndefined()
  expect(await bounce(w)).toEqual(new Set(['kim@example.com']))
  expect(await reasonOf(w)).toBe('hard_bounce')
})

test('bounces of one day count once where they must be of different days', async () => {
  await using w = await world()
  const onDays = { suppresses: { ...AFTER_THREE, onDifferentDays: true } }
  for (let at = 0; at < 5; at++) await bounce(w, onDays)
  w.advance('1 day')
  await bounce(w, onDays)
  expect(await reasonOf(w)).toBeUndefined()
  w.advance('1 day')
  await bounce(w, onDays)
  expect(await reasonOf(w)).toBe('hard_bounce')
})

test('after a suppression was lifted, bounces are counted anew', async () => {
  await using w = await world()
  for (let at = 0; at < 3; at++) await bounce(w)
  const [{ id }] = (await w.get('/api/client/suppressions')).body.results
  await w.delete(`/api/client/suppressions/${id}`)
  expect(await bounce(w)).toEqual(new Set())
  expect(await reasonOf(w)).toBeUndefined()
})

test('an erasure that waits for the bounces of an address holds no suppression, for which a bounce may wait', async () => {
  await using w = await world({ own: true })
  await w.users('kim')
  await bounce(w)
  await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'email', address: 'kim@example.com', reason: 'complaint', source: {} }]))
  const waiting = () => select(w, `select 1 from pg_locks where locktype = 'transactionid' and not granted`)
  let erasing: Promise<Reply> | undefined
  await inTx(w.ctx, async (ctx) => {
    await ctx.db.run(sql`delete from soft_bounces where project_id = ${w.projectId}`)
    erasing = w.delete('/api/client/users/kim')
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), { timeout: 20_000 })
    await ctx.db.run(sql`select id from suppressions where project_id = ${w.projectId} for update nowait`)
  })
  expect((await erasing)?.status).toBe(204)
  expect(await reasonOf(w)).toBe('erased')
})

test.each(['complaint', 'manual'] as const)(
  'so are they after a suppression for another reason (%s), with those that came meanwhile',
  async (reason) => {
    await using w = await world()
    for (let at = 0; at < 2; at++) await bounce(w)
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'email', address: 'kim@example.com', reason, source: {} }]))
    await bounce(w, { label: 'mailbox-full' })
    const [{ id }] = (await w.get('/api/client/suppressions')).body.results
    await w.delete(`/api/client/suppressions/${id}`)
    for (let at = 0; at < 2; at++) expect(await bounce(w)).toEqual(new Set())
    for (let at = 0; at < 2; at++) expect(await bounce(w, { label: 'mailbox-full' })).toEqual(new Set())
    expect(await reasonOf(w)).toBeUndefined()
  },
)

test('the bounces of an erased user are forgotten', async () => {
  await using w = await world()
  const left = async () => (await select(w, 'select 1 from soft_bounces where project_id = $1', [w.projectId])).length
  await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'kim@example.com' }])
  await w.drain()
  await bounce(w, { address: 'Kim@example.com' })
  expect(await left()).toBe(1)
  await w.delete('/api/client/users/kim')
  await w.drain()
  expect(await left()).toBe(0)
})

test('an address of the simulator is never suppressed by bounces', async () => {
  await using w = await world()
  for (let at = 0; at < 5; at++) expect(await bounce(w, { address: 'bounce@simulator.carillon.example' })).toEqual(new Set())
})

test('bounces of one project do not count for another', async () => {
  await using w = await world()
  const other = await w.other()
  await bounce(w)
  await bounce(w)
  const entry = { address: 'kim@example.com', label: 'routing', suppresses: AFTER_THREE, source: {} }
  expect(await inTx(other.ctx, (ctx) => recordBounces(ctx, [entry]))).toEqual(new Set())
})

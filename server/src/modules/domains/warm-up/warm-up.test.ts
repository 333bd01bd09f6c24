import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { countWarmUp, warmUpAllowance } from './allowance.ts'
import { ceilingToday, dayOf, nextDay, stepToday } from './stages.ts'

const plan = { steps: [10, 100, 1000], bounce_percent_max: 5, deferral_percent_max: 20 }
const DAY = '2026-11-23'
const NEXT = '2026-11-24'

describe('the step of a mail site', () => {
  test.each<[string, { step: number; sent: number; bounced?: number; deferred?: number }, string, number, number | null]>([
    ['is the first one at the start', { step: 0, sent: 0 }, NEXT, 0, 10],
    ['stays for the day', { step: 0, sent: 10 }, DAY, 0, 10],
    ['rises after a day that used half of the ceiling', { step: 0, sent: 5 }, NEXT, 1, 100],
    ['stays after a day with less', { step: 0, sent: 4 }, NEXT, 0, 10],
    ['falls after bounces', { step: 1, sent: 100, bounced: 6 }, NEXT, 0, 10],
    ['rises with fewer bounces', { step: 1, sent: 100, bounced: 5 }, NEXT, 2, 1000],
    ['falls after deferrals', { step: 1, sent: 100, deferred: 21 }, NEXT, 0, 10],
    ['never falls below the first', { step: 0, sent: 10, bounced: 10 }, NEXT, 0, 10],
    ['has no ceiling after the last one', { step: 2, sent: 1000 }, NEXT, 3, null],
    ['comes back from there after a bad day', { step: 3, sent: 5000, bounced: 1000 }, NEXT, 2, 1000],
    ['comes back into a plan that was made shorter after a bad day', { step: 10, sent: 5000, bounced: 1000 }, NEXT, 2, 1000],
    ['takes no more on a bad day, once it can be judged', { step: 1, sent: 40, bounced: 20 }, DAY, 1, 40],
    ['is not judged by its first emails', { step: 1, sent: 19, bounced: 19 }, DAY, 1, 100],
  ])('%s', (_, { bounced = 0, deferred = 0, ...counts }, today, step, ceiling) => {
    const all = { ...counts, bounced, deferred, day: DAY }
    expect([stepToday(plan, all, today), ceilingToday(plan, all, today)]).toEqual([step, ceiling])
  })

  test('changes by one at most, and only from day to day', () => {
    const count = fc.nat(2000)
    fc.assert(
      fc.property(fc.nat(plan.steps.length), count, count, count, fc.boolean(), (step, sent, bounced, deferred, isToday) => {
        const next = stepToday(plan, { step, day: DAY, sent, bounced, deferred }, isToday ? DAY : NEXT)
        expect(Math.abs(next - step)).toBeLessThanOrEqual(isToday ? 0 : 1)
        expect(next).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('counts days of UTC', () => {
    expect(dayOf(new Date('2026-11-23T23:59:59.999Z'))).toBe('2026-11-23')
    expect(nextDay(new Date('2026-12-31T10:00:00Z'))).toEqual(new Date('2027-01-01T00:00:00Z'))
  })
})

let count = 0

async function warming(w: World, more: object = {}) {
  const domain = `warm-${++count}.example`
  const { body } = await w.post('/api/client/domains', { sending_domain: domain })
  const path = `/api/client/domains/${body.id}/warm-up`
  const reply = await w.put(path, { ...plan, ...more })
  expect(reply.status, reply.text).toBe(200)
  return { domain, path }
}
const take = async (ctx: ProjectCtx | InTx, fromDomain: string, wanted: number, site = 'gmail', sourceAddress = '') =>
  (await warmUpAllowance(ctx, { fromDomain, site, sourceAddress }, wanted)).allowed
/** The context of a process whose clock is ahead. */
const processAt = ({ ctx, clock }: World, aheadMs: number): ProjectCtx => ({
  ...ctx,
  clock: { ...ctx.clock, now: () => new Date(clock.now().getTime() + aheadMs) },
})

/** What happened to emails that were taken from today’s ceiling. */
const outcome = (w: World, fromDomain: string, counts: object) => ({
  fromDomain,
  ...{ site: 'gmail', day: dayOf(w.clock.now()), bounced: 0, deferred: 0, ...counts },
})

describe('a plan', () => {
  test('gets back what was taken from a ceiling and not sent', async () => {
    await using w = await world()
    const { domain, path } = await warming(w)
    expect(await take(w.ctx, domain, 10)).toBe(10)
    await countWarmUp(w.ctx, [outcome(w, domain, { unsent: 3 }), outcome(w, domain, { bounced: 1 })])
    expect((await w.get(path)).body.sites[0]).toMatchObject({ sent: 7, bounced: 1 })
    expect(await take(w.ctx, domain, 10)).toBe(3)
  })

  test('counts what happens after midnight to the day whose ceiling it was taken from', async () => {
    await using w = await world()
    const { domain, path } = await warming(w)
    expect(await take(w.ctx, domain, 10)).toBe(10)
    const before = [outcome(w, domain, { unsent: 3 }), outcome(w, domain, { bounced: 2 })]
    w.advance('1 day')
    expect(await take(w.ctx, domain, 100)).toBe(100)
    const bounced = outcome(w, domain, { bounced: 1 })
    await countWarmUp(w.ctx, [...before, bounced])
    expect((await w.get(path)).body.sites[0]).toMatchObject({ sent: 100, bounced: 1 })
    expect(await take(w.ctx, domain, 10)).toBe(0)
    w.advance('1 day')
    await countWarmUp(w.ctx, [bounced])
    expect((await w.get(path)).body.sites[0]).toMatchObject({ sent: 0, bounced: 0 })
  })

  test('gives each mail site its ceiling a day, which grows while all goes well', async () => {
    await using w = await world()
    const { domain, path } = await warming(w)
    expect(await take(w.ctx, domain, 7)).toBe(7)
    expect(await take(w.ctx, domain, 7)).toBe(3)
    expect(await warmUpAllowance(w.ctx, { fromDomain: domain, site: 'gmail' }, 7)).toEqual({
      allowed: 0,
      day: dayOf(w.clock.now()),
      resumesAt: nextDay(w.clock.now()),
    })
    expect(await take(w.ctx, domain, 7, 'yahoo')).toBe(7)
    expect((await w.get(path)).body.sites).toMatchObject([
      { site: 'gmail', step: 1, ceiling: 10, sent: 10 },
      { site: 'yahoo', step: 1, ceiling: 10, sent: 7 },
    ])
    w.advance('1 day')
    expect((await w.get(path)).body.sites[0]).toMatchObject({ site: 'gmail', step: 2, ceiling: 100, sent: 0 })
    expect(await take(w.ctx, `news.${domain}`, 500)).toBe(100)
    w.advance('1 day')
    expect(await take(w.ctx, domain, 1000)).toBe(1000)
    w.advance('1 day')
    expect(await take(w.ctx, domain, 100_000)).toBe(100_000)
  })

  test('holds a mail site back that bounces or defers too much', async () => {
    await using w = await world()
    const { domain, path } = await warming(w, { steps: [40, 100] })
    await take(w.ctx, domain, 40)
    w.advance('1 day')
    expect(await take(w.ctx, domain, 30)).toBe(30)
    await countWarmUp(w.ctx, [outcome(w, domain, { bounced: 1 }), outcome(w, domain, { bounced: 1, deferred: 2 })])
    expect((await w.get(path)).body.sites[0]).toMatchObject({ step: 2, sent: 30, bounced: 2, deferred: 2, ceiling: 30 })
    expect(await take(w.ctx, domain, 1)).toBe(0)
    w.advance('1 day')
    expect(await take(w.ctx, domain, 100)).toBe(40)
  })

  test('never exceeds its ceiling when several processes ask at once', async () => {
    await using w = await world()
    const { domain } = await warming(w)
    const granted = await Promise.all(Array.from({ length: 8 }, () => take(w.ctx, domain, 4)))
    expect(granted.reduce((sum, one) => sum + one, 0)).toBe(10)
  })

  test('never exceeds it either if the day begins for one process a little before it does for another', async () => {
    await using w = await world()
    const { domain, path } = await warming(w)
    const ahead = processAt(w, DAY_MS)
    expect(await take(w.ctx, domain, 3)).toBe(3)
    expect(await take(ahead, domain, 20)).toBe(10)
    await countWarmUp(ahead, [{ ...outcome(w, domain, { bounced: 2 }), day: NEXT }])
    const target = { fromDomain: domain, site: 'gmail' }
    expect(await warmUpAllowance(w.ctx, target, 1)).toMatchObject({ allowed: 0, day: NEXT })
    // As a transactional email goes.
    expect(await warmUpAllowance(w.ctx, target, 1, { isBeyondCeiling: true })).toMatchObject({ allowed: 1, day: NEXT })
    expect(await take(ahead, domain, 20)).toBe(0)
    w.advance('1 day')
    expect((await w.get(path)).body.sites).toMatchObject([{ sent: 11, bounced: 2 }])
  })

  test('never exceeds it if another process begins the next day while it asks', async () => {
    await using w = await world()
    const { domain } = await warming(w)
    await take(w.ctx, domain, 5)
    let late: Promise<number> | undefined
    await inTx(processAt(w, DAY_MS), async (ctx) => {
      expect(await take(ctx, domain, 200)).toBe(100)
      late = take(w.ctx, domain, 5)
      const waits = () => select(w, `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)
      await expect.poll(async () => (await waits()).length).toBe(1)
    })
    expect(await late).toBe(0)
  })

  test('begins anew on a day that only a clock far ahead had begun', async () => {
    await using w = await world()
    const { domain } = await warming(w)
    expect(await take(processAt(w, 30 * DAY_MS), domain, 10)).toBe(10)
    expect(await take(w.ctx, domain, 20)).toBe(10)
    expect(await take(w.ctx, domain, 20)).toBe(0)
  })

  test('is asked by emails to the same mail site at the same time with two statements', async () => {
    await using w = await world()
    const { domain } = await warming(w)
    await take(w.ctx, domain, 1)
    let statements = 0
    const counted =
      <A extends unknown[], R>(run: (...args: A) => R) =>
      (...args: A): R => {
        statements++
        return run(...args)
      }
    const ctx = { ...w.ctx, db: { ...w.ctx.db, first: counted(w.ctx.db.first), value: counted(w.ctx.db.value) } } as typeof w.ctx
    const first = take(ctx, domain, 1)
    const granted = await Promise.all(Array.from({ length: 20 }, () => take(ctx, domain, 1)))
    expect([await first, ...granted].reduce((sum, one) => sum + one, 0)).toBe(9)
    expect(statements).toBeLessThanOrEqual(4)
  })

  test('concerns each own address by itself, if it says so', async () => {
    await using w = await world()
    const { domain } = await warming(w, { is_per_address: true })
    expect(await take(w.ctx, domain, 20, 'gmail', '192.0.2.1')).toBe(10)
    expect(await take(w.ctx, domain, 20, 'gmail', '192.0.2.2')).toBe(10)
    const together = await warming(w)
    expect(await take(w.ctx, together.domain, 20, 'gmail', '192.0.2.1')).toBe(10)
    expect(await take(w.ctx, together.domain, 20, 'gmail', '192.0.2.2')).toBe(0)
  })

  test('cannot tell own addresses apart that connections take in turn, and says so', async () => {
    await using w = await world({ env: { MTA_SOURCE_ADDRESSES: '192.0.2.1,192.0.2.2' } })
    const { path } = await warming(w)
    const reply = await w.put(path, { ...plan, is_per_address: true })
    expect([reply.status, reply.body.error?.param]).toEqual([422, 'is_per_address'])
    expect((await w.get(path)).body.is_per_address).toBe(false)
  })

  test('limits nothing while it is not active, nor other domains', async () => {
    await using w = await world()
    const { domain } = await warming(w, { is_active: false })
    expect(await take(w.ctx, domain, 500)).toBe(500)
    expect(await take(w.ctx, 'elsewhere.example', 500)).toBe(500)
  })

  test('keeps any percentage, to seven digits', async () => {
    await using w = await world()
    const { path } = await warming(w)
    for (const [percent, kept] of [
      [33.333333333333336, 33.333332],
      [0.1, 0.1],
      [5e-324, 0],
      [1e-40, 1e-40],
      [100, 100],
    ]) {
      const given = { steps: [10], bounce_percent_max: percent, deferral_percent_max: percent }
      expect((await w.put(path, given)).body).toMatchObject({ bounce_percent_max: kept, deferral_percent_max: kept })
    }
  })

  test('has defaults, and refuses steps that fall', async () => {
    await using w = await world()
    const { path } = await warming(w)
    expect((await w.put(path, {})).body).toMatchObject({
      is_active: true,
      steps: expect.arrayContaining([50, 100, 500]),
      bounce_percent_max: 5,
    })
    expect((await w.put(path, { steps: [100, 50] })).body.error.param).toBe('steps')
    expect((await w.put(path, { steps: [] })).status).toBe(400)
    const links = (await w.post('/api/client/domains', { host: 'links.warm.example' })).body
    expect((await w.put(`/api/client/domains/${links.id}/warm-up`, {})).body.error.param).toBe('sending_domain')
    expect((await w.get(`/api/client/domains/${links.id}/warm-up`)).status).toBe(404)
  })
})

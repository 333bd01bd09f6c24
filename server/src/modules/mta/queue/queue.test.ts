/** Statements on the mail queue that run while another transaction changes the same rows. */
import { Type } from 'typebox'
import { beforeEach, describe, expect, test } from 'vitest'
import { besides } from '../../../../test/besides.ts'
import { BULK, queueMail } from '../../../../test/queued-mail.ts'
import { createTestClock } from '../../../../test/test-clock.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { systemClock } from '../../../infra/runtime/clock.ts'
import { type Ctx, inTx } from '../../../infra/runtime/ctx.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { claimToCancel, makeDue } from './control.queries.ts'
import { claimMail, nextMailLeaseEnd, releaseMailLeases, renewMailLeases, saveMailResults } from './queries.ts'
import type { ClaimedRecipient, RecipientResult } from './schema.ts'

const MAILS = 3

let w: World
beforeEach(async () => {
  w = await world()
  await queueMail(w, ...Array.from({ length: MAILS }, () => ({})))
  return () => w[Symbol.asyncDispose]()
})

const leaseUntil = () => new Date(w.clock.now().getTime() + MINUTE_MS)
const claim = () => claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 10 }], leaseUntil())

const delivered = ({ mail_id, no, lease_token }: ClaimedRecipient): RecipientResult => ({
  mail_id,
  no,
  lease_token,
  state: 'delivered',
  due_at: null,
  site: null,
  is_untried: false,
  is_held: false,
  history: null,
})

const states = async () =>
  (await w.db.many(Type.Object({ state: Type.String() }), sql`select state from mail_recipients where project_id = ${w.projectId}`)).map(
    ({ state }) => state,
  )
const all = (state: string) => Array.from({ length: MAILS }, () => state)

const renewal = () => sql`update mail_recipients set lease_until = lease_until + interval '1 minute' where project_id = ${w.projectId}`

describe('what a statement finds changed by another transaction', () => {
  test('results are saved while the lease is renewed', async () => {
    const claimed = await claim()
    const saved = await besides(w, renewal(), () => inTx(w.ctx, (ctx) => saveMailResults(ctx, claimed.map(delivered))))
    expect(saved).toHaveLength(MAILS)
    expect(await states()).toEqual(all('delivered'))
  })

  test('a lease that is renewed twice at the same time is held', async () => {
    const claimed = await claim()
    expect(await besides(w, renewal(), () => renewMailLeases(w.ctx, claimed, leaseUntil()))).toHaveLength(MAILS)
  })

  test('results are dropped if another process has the lease meanwhile', async () => {
    const claimed = await claim()
    const stolen = sql`update mail_recipients set lease_token = gen_random_uuid() where project_id = ${w.projectId}`
    expect(await besides(w, stolen, () => inTx(w.ctx, (ctx) => saveMailResults(ctx, claimed.map(delivered))))).toEqual([])
    expect(await states()).toEqual(all('claimed'))
  })

  test('email is cancelled while it is made due', async () => {
    const due = sql`update mail_recipients set due_at = due_at - interval '1 second' where project_id = ${w.projectId}`
    const cancelled = await besides(w, due, () => inTx(w.ctx, (ctx) => claimToCancel(ctx, {}, 10, leaseUntil())))
    expect(cancelled).toHaveLength(MAILS)
  })

  test('email that a process claims meanwhile is not cancelled', async () => {
    const claimed = sql`update mail_recipients set state = 'claimed', lease_token = gen_random_uuid(), lease_until = ${leaseUntil()}
                        where project_id = ${w.projectId}`
    expect(await besides(w, claimed, () => inTx(w.ctx, (ctx) => claimToCancel(ctx, {}, 10, leaseUntil())))).toEqual([])
  })

  test('email is made due while a pause of it ends', async () => {
    const later = sql`update mail_recipients set is_held = true, due_at = due_at + interval '1 hour' where project_id = ${w.projectId}`
    await w.db.run(later)
    const resumed = sql`update mail_recipients set is_held = false where project_id = ${w.projectId}`
    await w.db.run(resumed)
    expect((await besides(w, resumed, () => inTx(w.ctx, (ctx) => makeDue(ctx, {}, { limit: 10 }))))?.changed).toBe(MAILS)
    expect(await claim()).toHaveLength(MAILS)
  })

  test('email that a process claims meanwhile is not made due', async () => {
    await w.db.run(sql`update mail_recipients set due_at = due_at + interval '1 hour' where project_id = ${w.projectId}`)
    const claimed = sql`update mail_recipients set state = 'claimed', lease_token = gen_random_uuid(), lease_until = ${leaseUntil()}
                        where project_id = ${w.projectId}`
    expect((await besides(w, claimed, () => inTx(w.ctx, (ctx) => makeDue(ctx, {}, { limit: 10 }))))?.changed).toBe(0)
  })

  test('a lease that is renewed at its end is not released', async () => {
    await claim()
    w.advance('1 minute')
    await besides(w, renewal(), () => releaseMailLeases(w.ctx, 10))
    expect(await states()).toEqual(all('claimed'))
  })

  test('a lease of a process whose clock is behind is not released by others', async () => {
    /** A process on a machine of its own. */
    const processAt = (behindMs: number) => {
      const { now, sleep } = createTestClock(new Date(w.clock.now().getTime() - behindMs))
      return { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
    }
    w.advance('10 minutes')
    const [behind, ahead] = [processAt(2 * MINUTE_MS), processAt(0)]
    const until = new Date(behind.clock.now().getTime() + MINUTE_MS)
    await claimMail(behind, BULK, [{ project_id: w.projectId, limit: 10 }], until)
    await releaseMailLeases(ahead, 10)
    expect(await states()).toEqual(all('claimed'))
  })

  test.each([
    ['ahead of', -10 * MINUTE_MS],
    ['behind', 10 * MINUTE_MS],
  ])(
    'while the database is %s the processes, those of this release and of one that has leases by its own clock keep those of each other',
    async (_, aheadMs) => {
      await w.db.run(sql`update mail_recipients set due_at = now() - interval '1 hour' where project_id = ${w.projectId}`)
      const clock = createTestClock(new Date(systemClock.now().getTime() + aheadMs))
      const { now, sleep } = clock
      const before = { ...w.ctx, clock }
      const after = { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
      const claimIn = (ctx: Ctx) => claimMail(ctx, BULK, [{ project_id: w.projectId, limit: 10 }], new Date(now().getTime() + MINUTE_MS))
      const claimed = await claimIn(before)
      await releaseMailLeases(after, 10)
      expect(await states()).toEqual(all('claimed'))
      expect((await nextMailLeaseEnd(after))?.getTime()).toBeGreaterThan(now().getTime())
      await inTx(w.ctx, (ctx) =>
        saveMailResults(
          ctx,
          claimed.map((one) => ({ ...delivered(one), state: 'queued' as const })),
        ),
      )
      await claimIn(after)
      await releaseMailLeases(before, 10)
      expect(await states()).toEqual(all('claimed'))
    },
  )

  test('what a process with a clock that was hours ahead has claimed is released by others if it died', async () => {
    await w.db.run(sql`update mail_recipients set due_at = now() - interval '1 hour' where project_id = ${w.projectId}`)
    /** A process on a machine of its own. */
    const processAt = (aheadMs: number) => {
      const { now, sleep } = createTestClock(new Date(systemClock.now().getTime() + aheadMs))
      return { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
    }
    const [ahead, right] = [processAt(6 * HOUR_MS), processAt(0)]
    await claimMail(ahead, BULK, [{ project_id: w.projectId, limit: 10 }], new Date(ahead.clock.now().getTime() + MINUTE_MS))
    expect(await states()).toEqual(all('claimed'))
    // As if the time of the database had passed.
    await w.db.run(sql`update mail_recipients set lease_until = lease_until - interval '20 minutes' where project_id = ${w.projectId}`)
    await releaseMailLeases(right, 10)
    expect(await states()).toEqual(all('queued'))
  })

  test('a claim takes what another one, which is not committed, leaves, and does not wait for it', async () => {
    const shares = [{ project_id: w.projectId, limit: 1 }]
    const [first, second] = await w.db.transaction(async (db) => {
      const first = await claimMail({ ...w.ctx, db }, BULK, shares, leaseUntil())
      return [
        first,
        await claimMail(
          { ...w.ctx, db: { ...w.db, ...w.db.within({ statementMs: 2000 }) } },
          BULK,
          [{ project_id: w.projectId, limit: MAILS }],
          leaseUntil(),
        ),
      ]
    })
    expect([first.length, second.length]).toEqual([1, MAILS - 1])
    expect(new Set([...first, ...second].map(({ mail_id }) => mail_id)).size).toBe(MAILS)
  })
})

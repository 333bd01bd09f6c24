/** A campaign is stopped while a sender works: before a mail is sent, and while it is being sent. Mails are counted at a relay. */

import { Type } from 'typebox'
import { expect, test, vi } from 'vitest'
import { pathOf, run } from '../../../../test/blasts.ts'
import { answerOrders, order, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { SOON } from '../../../../test/wait.ts'
import { type Reply, type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { TRANSACTIONAL } from '../schema.ts'
import { claim } from './claim.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'
import { createSender, sendQueue } from './sender.ts'

/** Claims one message and sends it; `find` reads its campaign. */
async function sendOne(w: World, find: FindSendingCampaigns): Promise<void> {
  const claimedAt = w.clock.now()
  const messages = await claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 10 }])
  expect(messages).toHaveLength(1)
  await sendQueue(
    w.ctx,
    createSender({ recordOverBudget, findSendingCampaigns: find, inboxStreams: createInboxStreams() }, TRANSACTIONAL),
    messages,
    claimedAt,
  )
}

/** Queues one message to Ana. */
async function open(w: World) {
  await w.users('ana')
  const campaign = await answerOrders(w)
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  return campaign
}

test.each([
  ['aborted', (w: World, path: string) => w.patch(path, { state: 'aborted' }), 0],
  ['archived', (w: World, path: string) => w.delete(path), 0],
  ['paused', (w: World, path: string) => w.post(`${path}/pause`), 1],
])('a campaign that is %s after its message was checked and before it is sent sends nothing', async (_, stop, afterwards) => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await open(w)
  await sendOne(w, async (ctx, ids, lock) => {
    if (lock === 'share') expect((await stop(w, pathOf(campaign))).status).toBeLessThan(300)
    return findSendingCampaigns(ctx, ids, lock)
  })
  expect(recipientsOf(relay)).toEqual([])
  await w.drain()
  expect(recipientsOf(relay)).toEqual([])
  // A paused campaign goes on when it is resumed.
  if (afterwards > 0) await w.post(`${pathOf(campaign)}/resume`)
  w.advance('1 minute')
  await w.drain()
  expect(recipientsOf(relay)).toHaveLength(afterwards)
})

const Waits = Type.Object({ waits: Type.Boolean() })

test('an abort waits for an attempt that has begun, and counts it as in flight', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await open(w)
  let abort: Promise<Reply> | undefined
  let reply: Reply | undefined
  const isWaiting = () =>
    w.db.one(
      Waits,
      sql`select exists (select 1 from pg_locks l join pg_database d on d.oid = l.database
                                       where not l.granted and d.datname = current_database()
                                       union all
                                       select 1 from pg_locks where not granted and locktype = 'transactionid') as waits`,
    )
  const answerNow = relay.hold('BODY').release
  const sending = sendOne(w, async (ctx, ids, lock) => {
    const found = await findSendingCampaigns(ctx, ids, lock)
    if (lock === 'share') {
      abort = w.patch(pathOf(campaign), { state: 'aborted' }).then((answered) => {
        reply = answered
        return answered
      })
      await vi.waitFor(async () => expect(reply !== undefined || (await isWaiting()).waits).toBe(true), { ...SOON, interval: 5 })
    }
    return found
  })
  await expect.poll(() => relay.unanswered()).toBe(1)
  const aborted = await (abort as Promise<Reply>)
  answerNow()
  await sending
  await w.drain()
  expect(aborted.body).toMatchObject({ state: 'aborted', in_flight: 1 })
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
})

test('an abort counts the attempts of its own campaign alone', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana')
  const [stopped, other] = [await answerOrders(w), await answerOrders(w)]
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  const answerNow = relay.hold('BODY').release
  const sending = run(w, 'messages.send')
  await expect.poll(() => relay.unanswered()).toBe(2)
  expect((await w.patch(pathOf(stopped), { state: 'aborted' })).body.in_flight).toBe(1)
  answerNow()
  await sending
  expect((await w.patch(pathOf(other), { state: 'aborted' })).body.in_flight).toBe(0)
  expect(relay.mails).toHaveLength(2)
})

test('an attempt that is over is not in flight, also when its message is claimed for the next one', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await open(w)
  relay.answer({ at: 'RCPT', code: 450, text: '4.2.1 Try again later' })
  await run(w, 'messages.send')
  w.advance('30 seconds')
  expect(await claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 10 }])).toHaveLength(1)
  expect((await w.patch(pathOf(campaign), { state: 'aborted' })).body.in_flight).toBe(0)
  expect(relay.mails).toEqual([])
})

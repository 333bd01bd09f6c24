/** The room that a full mail queue has beside email that is held. */
import { expect, test } from 'vitest'
import { queueMail } from '../../../../test/queued-mail.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { BULK } from '../schema.ts'
import { applyMailRoom, createFullQueues } from './mail-room.ts'

const MOST = 10
const OWN = 7 as CampaignId

/** Takes room for some messages, and returns how many got some. */
function roomOf(w: World) {
  const asking = { priority: BULK, findSendingCampaigns: async () => [], fullQueues: createFullQueues() }
  return async (messages: number): Promise<number> => {
    const item = { connection: { provider: 'mta' as const }, message: { campaign_id: OWN } }
    const { granted } = await applyMailRoom(
      w.ctx,
      asking,
      Array.from({ length: messages }, () => ({ ...item })),
    )
    return granted.length
  }
}

test('email that a warm-up has put off to the next day takes no room from other email, until there is four times as much of it', async () => {
  await using w = await world({ env: { MTA_QUEUE_MAX: String(MOST) } })
  const midnight = new Date((Math.floor(w.clock.now().getTime() / DAY_MS) + 1) * DAY_MS)
  const putOff = async (campaign_id: CampaignId, emails: number) => {
    await queueMail(w, ...Array.from({ length: emails }, () => ({ campaign_id })))
    await w.db.run(sql`update mail_recipients set due_at = ${midnight} where project_id = ${w.projectId} and campaign_id = ${campaign_id}`)
    w.advance(500)
  }
  const room = roomOf(w)
  await putOff(OWN, MOST)
  expect(await room(4)).toBe(4)
  w.advance(midnight.getTime() - w.clock.now().getTime() - 1000)
  expect(await room(4)).toBe(4)
  await putOff(OWN, 3 * MOST)
  expect(await room(4)).toBe(0)
})

test('a queue that is full of held email is read twice a second, and what got room since then takes it', async () => {
  await using w = await world({ env: { MTA_QUEUE_MAX: String(MOST) } })
  await queueMail(w, ...Array.from({ length: MOST }, () => ({})))
  await w.db.run(sql`update mail_recipients set is_held = true where project_id = ${w.projectId}`)
  const room = roomOf(w)
  expect([await room(4), await room(4), await room(4)]).toEqual([4, 4, 2])
  await queueMail(w, {})
  w.advance(499)
  expect(await room(4)).toBe(0)
  w.advance(1)
  expect([await room(6), await room(6)]).toEqual([6, 3])
})

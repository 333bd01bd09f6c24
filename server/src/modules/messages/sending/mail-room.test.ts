/** The room that a full mail queue has beside email that is held. */
import { expect, test } from 'vitest'
import { queueMail } from '../../../../test/queued-mail.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { BULK } from '../schema.ts'
import { applyMailRoom, createFullQueues } from './mail-room.ts'

const MOST = 10

/** Takes room for some messages, and returns how many got some. */
function roomOf(w: World) {
  const asking = { priority: BULK, findSendingCampaigns: async () => [], fullQueues: createFullQueues() }
  return async (messages: number): Promise<number> => {
    const item = { connection: { provider: 'mta' as const }, message: { campaign_id: 7 as CampaignId } }
    const { granted } = await applyMailRoom(
      w.ctx,
      asking,
      Array.from({ length: messages }, () => ({ ...item })),
    )
    return granted.length
  }
}

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

/** Transactional messages never wait behind bulk messages. Mails are counted at a relay. */
import { expect, test } from 'vitest'
import { blastTo, listOf, run, schedule } from '../../../../test/blasts.ts'
import { answerOrders, order, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { world } from '../../../../test/world.ts'
import { findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { TRANSACTIONAL } from '../schema.ts'
import { createSender, sendDueMessages } from './sender.ts'

test('each priority is claimed by its own job, also when the other one has waited longer', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await schedule(w, await blastTo(w, [await listOf(w, 'bo', 'cy', 'di')]))
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 2)
  await w.users('ana')
  await answerOrders(w)
  w.advance('1 hour')
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  expect(await run(w, 'messages.send')).toBe(1)
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  expect(await run(w, 'messages.send-bulk')).toBe(3)
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com', 'cy@example.com', 'di@example.com'])
  await w.drain()
  expect(relay.mails).toHaveLength(5)
})

test('a message does not wait for the provider to take the one before', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana', 'bo')
  await answerOrders(w)
  const sender = createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL)
  const held = relay.hold('BODY')
  const send = async (name: string) => {
    await order(w, name)
    await run(w, 'ingest.apply')
    return sendDueMessages(w.ctx, sender)
  }
  const first = await send('ana')
  await held.reached()
  const second = await send('bo')
  expect([first.done, second.done]).toEqual([1, 1])
  held.release()
  await Promise.all([first.finished, second.finished])
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com'])
})

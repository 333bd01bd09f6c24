/** How many messages a queue holds whose provider does not reply, so that other queues have places too. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { run } from '../../../../test/blasts.ts'
import { openFakeProvider } from '../../../../test/fake-provider.ts'
import { answerOrders, order, providerOf } from '../../../../test/mailing.ts'
import { world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { TRANSACTIONAL } from '../schema.ts'
import { createSender, sendDueMessages } from './sender.ts'

test('a queue whose provider hung gets a small batch at a time, until one is quick', { timeout: 60_000 }, async () => {
  await using w = await world()
  await using fake = await openFakeProvider()
  await providerOf(w, { kind: 'resend', channel: 'email', settings: { api_key: 're_secret', default_from: 'shop@example.com' } })
  await w.users('ana')
  await answerOrders(w)
  await order(w, 'ana')
  await run(w, 'ingest.apply')
  await w.db.run(
    sql`insert into messages (project_id, user_id, campaign_id, channel, cause, due_at, created_at, expires_at)
        select project_id, user_id, campaign_id, channel, 'copy ' || n, due_at, created_at, expires_at
        from messages cross join generate_series(1, 499) n where project_id = ${w.projectId}`,
  )
  let hanging = Promise.withResolvers<void>()
  const request: typeof fake.fetch.request = async (request) => {
    await hanging.promise
    return fake.fetch.request(request)
  }
  const ctx = { ...w.ctx, fetch: { ...fake.fetch, request } }
  const sender = createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL)
  const claimed = () =>
    w.db.value(Type.Integer(), sql`select count(*) from messages where project_id = ${w.projectId} and state = 'claimed'`)
  /** Claims as often as the queue allows, and returns how many messages it holds then. The provider replies after a while. */
  const holdsFor = async (wait: string): Promise<number> => {
    hanging = Promise.withResolvers<void>()
    const batches = [await sendDueMessages(ctx, sender), await sendDueMessages(ctx, sender), await sendDueMessages(ctx, sender)]
    const held = await claimed()
    w.advance(wait)
    hanging.resolve()
    await Promise.all(batches.map(({ finished }) => finished))
    return held
  }
  expect(await holdsFor('25 seconds')).toBe(400)
  expect(await holdsFor('25 seconds')).toBe(20)
  expect(await holdsFor('0 seconds')).toBe(20)
  expect(await holdsFor('0 seconds')).toBeGreaterThan(20)
  await w.db.run(sql`update messages set state = 'aborted' where project_id = ${w.projectId}`)
})

/** What a sender reads again before it sends. Mails are counted at a relay. */
import { expect, test } from 'vitest'
import { outcomes, write } from '../../../../test/blasts.ts'
import { answerOrders, order, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { type Ctx, inTx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { findSendingCampaigns, recordOverBudget } from '../../campaigns/index.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { TRANSACTIONAL } from '../schema.ts'
import { enqueueMessages } from '../service.ts'
import { claim } from './claim.ts'
import { createSender, sendQueue } from './sender.ts'

test('a user who was merged after the audience was read gets one message for one cause', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const { id: campaign_id } = await answerOrders(w)
  const saved = await w.post('/api/client/users/batch', [
    { external_id: 'ana', email: 'ana@example.com' },
    { anonymous_id: 'visitor', email: 'visitor@example.com' },
    { anonymous_id: 'guest', email: 'guest@example.com' },
  ])
  for (const anonymous_id of ['visitor', 'guest']) await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id }])
  await w.drain()
  const [ana, anonymous, guest] = saved.body.results.map(({ user }: { user: { id: UserId } }) => user.id) as [UserId, UserId, UserId]
  const intent = (user_id: UserId, cause: string) => ({
    user_id,
    campaign_id,
    channel: 'email' as const,
    cause,
    event: null,
    expires_at: new Date(w.clock.now().getTime() + HOUR_MS),
  })
  // As a process writes them that had read its audience before the merge.
  await inTx(w.ctx, (ctx) => enqueueMessages(ctx, [intent(ana, 'both'), intent(anonymous, 'both'), intent(guest, 'guest alone')]))
  await w.drain()
  // That of the remaining user waits while the other one is looked at.
  w.advance('1 minute')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'ana@example.com'])
  expect((await outcomes(w, { id: campaign_id })).filter((line) => line.includes('duplicate'))).toHaveLength(1)
})

/** Messages of one cause to Ana, skipped, and to users who are merged into her, which were under way then and are deferred now. Returns these. */
async function underWayInMerges(w: World, anonymous: string[]): Promise<UserId[]> {
  const campaign = await answerOrders(w)
  const saved = await w.post('/api/client/users/batch', [
    { external_id: 'ana', email: 'ana@example.com' },
    ...anonymous.map((anonymous_id) => ({ anonymous_id, email: `${anonymous_id}@example.com` })),
  ])
  const [ana, ...others] = saved.body.results.map(({ user }: { user: { id: UserId } }) => user.id) as UserId[]
  const intent = (user_id: UserId) => ({
    user_id,
    campaign_id: campaign.id,
    channel: 'email' as const,
    cause: 'both',
    event: null,
    expires_at: new Date(w.clock.now().getTime() + HOUR_MS),
  })
  await inTx(w.ctx, (ctx) => enqueueMessages(ctx, [ana as UserId, ...others].map(intent)))
  const later = new Date(w.clock.now().getTime() + HOUR_MS)
  await w.db.run(sql`update messages set state = 'claimed', acted_at = ${w.clock.now()}, lease_token = gen_random_uuid(), lease_until = ${later}
                     where project_id = ${w.projectId} and user_id = any(${others}::bigint[])`)
  w.advance('1 second')
  for (const anonymous_id of anonymous) await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id }])
  // The provider defers them.
  await w.db.run(
    sql`update messages set state = 'deferred', lease_token = null, lease_until = null where project_id = ${w.projectId} and state = 'claimed'`,
  )
  w.advance('1 minute')
  return others
}

test.each([
  ['one user', ['visitor']],
  ['several users', ['visitor', 'guest']],
])('of messages of %s that were under way in a merge and then were deferred, one is sent', async (_, anonymous) => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await underWayInMerges(w, anonymous)
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
})

test('one of them is sent if two processes have one each, and the clock of the second one is behind', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const others = await underWayInMerges(w, ['visitor', 'guest'])
  const behind = { ...w.ctx, clock: { ...w.clock, now: () => new Date(w.clock.now().getTime() - 1000) } }
  const send = async (ctx: Ctx) => {
    const sender = createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL)
    const messages = await claim(ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit: 1 }])
    expect(messages).toHaveLength(1)
    await sendQueue(ctx, sender, messages, ctx.clock.now())
  }
  const held = relay.hold('BODY')
  const first = send(w.ctx)
  await held.reached()
  const second = send(behind)
  // It is given to the relay, as the first one is, or skipped.
  const isDecided = async () => {
    const rows = await select(w, 'select message_ids from send_attempts where project_id = $1', [w.projectId])
    return rows.length === 2 || (await statesOf(w, others)).includes('skipped')
  }
  await expect.poll(isDecided).toBe(true)
  held.release()
  await Promise.all([first, second])
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
})

test.each([
  ['is sent', 'sent', []],
  ['is deferred', 'deferred', ['ana@example.com']],
])('one of them waits while another one is in flight that was decided on before the merge, which then %s', async (_, state, recipients) => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const [, guest] = await underWayInMerges(w, ['visitor', 'guest'])
  await w.db.run(sql`update messages set state = 'claimed', lease_token = gen_random_uuid(), lease_until = ${new Date(w.clock.now().getTime() + HOUR_MS)}
                     where user_id = ${guest ?? 0}`)
  await w.drain()
  expect(recipientsOf(relay)).toEqual([])
  await w.db.run(sql`update messages set state = ${state}, lease_token = null, lease_until = null where user_id = ${guest ?? 0}`)
  w.advance('1 minute')
  await w.drain()
  expect(recipientsOf(relay)).toEqual(recipients)
})

const statesOf = async (w: World, users: UserId[]) =>
  (await select(w, 'select state from messages where user_id = any($1::bigint[])', [users])).map(({ state }) => state)

test('links of a mail lead over the domain of its campaign, or else over the default one', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const domain = async (host: string) => (await w.post('/api/client/domains', { host })).body.id
  const [usual, own] = [await domain('links.example.com'), await domain('sale.example.com')]
  await w.db.run(
    sql`update domains set is_verified = true, verified_at = ${w.clock.now()}, is_default = id = ${usual} where project_id = ${w.projectId}`,
  )
  const { body: projects } = await w.get('/api/client/projects', { key: w.keys.organisation })
  const path = `/api/client/projects/${projects.results[0].id}`
  expect((await w.patch(path, { link_wrap_email: true }, { key: w.keys.organisation })).status).toBe(200)
  const [plain, special] = [await answerOrders(w), await answerOrders(w)]
  await write(w, special, { custom_domain_id: own })
  for (const [name, { id }] of Object.entries({ plain, special })) {
    const html = `<p>${name} <a href="https://shop.example.com/">Shop</a></p>`
    expect((await w.put(`/api/client/campaigns/${id}/templates/en`, { from: 'shop@example.com', subject: name, html })).status).toBe(200)
  }
  await w.users('ana')
  await order(w, 'ana')
  await w.drain()
  const hostsIn = (subject: string) => {
    const raw = relay.mails.find(({ headers }) => headers.subject === subject)?.raw.replace(/=\r\n/g, '')
    return [...new Set([...(raw ?? '').matchAll(/https:\/\/([a-z.]+)\/c\//g)].map(([, host]) => host))]
  }
  expect([hostsIn('plain'), hostsIn('special')]).toEqual([['links.example.com'], ['sale.example.com']])
})

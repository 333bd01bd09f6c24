/** Which claimed email is delivered now, whatever process claimed it. */
import { describe, expect, test } from 'vitest'
import { BULK, queueMail } from '../../../../test/queued-mail.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { claimMail, findMails, type MailRow, type NewMail } from '../../mta/index.ts'
import { suppress } from '../../subscriptions/index.ts'
import type { SendingCampaign } from '../eligibility.ts'
import { checkGate, holdAtSite } from './gate.ts'

const ID = 7 as CampaignId

/** What the gate says of an email: that it is open, why it is not, or nothing if it was put aside. */
async function gateOf(w: World, given: Partial<NewMail>, campaign?: Partial<SendingCampaign>, waits = '0 seconds') {
  const [id] = await queueMail(w, given)
  w.advance(waits)
  const leaseUntil = new Date(w.clock.now().getTime() + MINUTE_MS)
  const claimed = await claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 10 }], leaseUntil)
  const [mail] = (await findMails(w.ctx, id === undefined ? [] : [id])) as [MailRow]
  const findSendingCampaigns = async () => (campaign ? [{ id: ID, ...campaign } as SendingCampaign] : [])
  const known = { findSendingCampaigns, isUnsavable: () => false }
  const { open, done } = await checkGate(
    w.ctx,
    known,
    claimed.map((recipient) => ({ mail, recipient })),
  )
  return [...open.map(() => 'open'), ...done.map(({ outcome }) => outcome)]
}

const STOPPED = { is: 'cancelled', reason: 'campaign_stopped' }
const RESCHEDULED = { is: 'cancelled', reason: 'rescheduled' }

describe('email of a campaign', () => {
  test.each([
    ['that loads its audience is delivered', 'loading', false, ['open']],
    ['that runs is delivered', 'running', false, ['open']],
    ['that has queued its last email is delivered', 'finished', false, ['open']],
    ['that was aborted is cancelled', 'aborted', false, [STOPPED]],
    ['that is withdrawn to be sent at another time is cancelled until then', 'aborting', false, [RESCHEDULED]],
    ['that is scheduled anew is cancelled until then', 'scheduled', false, [RESCHEDULED]],
    ['that is paused is put aside', 'running', true, []],
  ])('%s', async (_, state, is_paused, expected) => {
    await using w = await world()
    expect(await gateOf(w, { campaign_id: ID }, { state, is_paused })).toEqual(expected)
  })

  test('that was deleted is cancelled', async () => {
    await using w = await world()
    expect(await gateOf(w, { campaign_id: ID })).toEqual([STOPPED])
  })
})

test.each([
  ['who is suppressed for all email gets none', 'hard_bounce', true, [{ is: 'suppressed', reason: 'hard_bounce' }]],
  ['who unsubscribed gets what an application submits', 'unsubscribed_all', false, ['open']],
] as const)('an address %s', async (_, reason, stopsTransactional, expected) => {
  await using w = await world()
  const address = 'kim@example.org'
  await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'email', address, reason, stopsTransactional, source: {} }]))
  expect(await gateOf(w, { to: [address] })).toEqual(expected)
})

test('a copy to a suppressed address is not sent at a first attempt either, and the user gets the message', async () => {
  await using w = await world()
  const [user, copy] = ['kim@example.org', 'manager@example.org']
  await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'email', address: copy, reason: 'hard_bounce', source: {} }]))
  const campaign = { state: 'running', is_paused: false }
  expect(await gateOf(w, { source: 'message', campaign_id: ID, to: [user, copy] }, campaign)).toEqual([
    'open',
    { is: 'suppressed', reason: 'hard_bounce' },
  ])
})

describe('an address that unsubscribed from everything since its email was queued', () => {
  test.each([
    ['gets no marketing', false, [{ is: 'suppressed', reason: 'unsubscribed_all' }]],
    ['gets what is transactional', true, ['open']],
  ])('%s', async (_, is_transactional, expected) => {
    await using w = await world()
    const { body: type } = await w.post('/api/client/subscriptions', { name: 'Of the shop', channel: 'email', is_transactional })
    const address = 'kim@example.org'
    const suppression = { channel: 'email', address, reason: 'unsubscribed_all', stopsTransactional: false, source: {} } as const
    await inTx(w.ctx, (ctx) => suppress(ctx, [suppression]))
    const campaign = { state: 'running', is_paused: false, subscription_id: type.id }
    expect(await gateOf(w, { source: 'message', campaign_id: ID, to: [address] }, campaign, '1 minute')).toEqual(expected)
  })
})

test('email that is put aside at a site that was resumed just now is due at once', async () => {
  await using w = await world()
  const [id] = (await queueMail(w, {})) as [MessageId]
  const leaseUntil = new Date(w.clock.now().getTime() + MINUTE_MS)
  const recipients = await claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 10 }], leaseUntil)
  const [mail] = (await findMails(w.ctx, [id])) as [MailRow]
  await holdAtSite(w.ctx, async () => [], { mail, recipients }, 'mx-1')
  expect(
    await select(w, 'select state, is_held, site, attempts, due_at from mail_recipients where project_id = $1', [w.projectId]),
  ).toEqual([{ state: 'queued', is_held: false, site: 'mx-1', attempts: 0, due_at: w.clock.now() }])
})

test('email is given up at the end of its lifetime, and not before', async () => {
  await using w = await world()
  expect(await gateOf(w, { expires_at: w.clock.now() })).toEqual([{ is: 'expired' }])
  expect(await gateOf(w, { expires_at: new Date(w.clock.now().getTime() + 1) })).toEqual(['open'])
})

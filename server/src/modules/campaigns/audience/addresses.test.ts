/** An address gets one copy of a blast, however many users have it (D-CAMP-4). Mails are counted at a relay. */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { blastTo, listOf, outcomes, pathOf, run, schedule, subscriptionTo, write } from '../../../../test/blasts.ts'
import { failSaves } from '../../../../test/failing-saves.ts'
import { recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, ProjectId } from '../../../lib/ids.ts'
import { campaignsWithAddresses } from '../../messages/index.ts'
import { forgetAddressesOfOver } from '../progress/forget-addresses.ts'
import { loadAudiences, loadChunk } from './load.ts'

const USERS = '/api/client/users/batch'

/** A list of these users with their addresses. */
async function listWith(w: World, addresses: Record<string, string | null>): Promise<number> {
  const list = await listOf(w, ...Object.keys(addresses))
  const profiles = Object.entries(addresses).map(([external_id, email]) => ({ external_id, email }))
  for (let from = 0; from < profiles.length; from += 100) await w.post(USERS, profiles.slice(from, from + 100))
  return list
}

const SHARED = { ana: 'shop@example.com', bo: 'SHOP@Example.com', cy: 'cy@example.com', di: 'Shop@example.com' }
const SHARED_ONCE = ['ana: sent', 'bo: skipped duplicate_address', 'cy: sent', 'di: skipped duplicate_address']

async function started(w: World, list: number, more: object = {}) {
  const campaign = await blastTo(w, [list], more)
  // Users who changed just before are looked up again when their messages are sent.
  w.advance('1 hour')
  await schedule(w, campaign)
  await run(w, 'campaigns.launch')
  return campaign
}

describe('users with one address in any case', () => {
  test('get one copy, that of the first; the others are counted and explained', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await started(w, await listWith(w, SHARED))
    const forecast = (await w.get(`${pathOf(campaign)}/recipients/di/explain`)).body
    expect(forecast.now.reason).toBe('duplicate_address')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['cy@example.com', 'shop@example.com'])
    expect(await outcomes(w, campaign)).toEqual(SHARED_ONCE)
    const { states } = (await w.get(`${pathOf(campaign)}/delivery`)).body
    expect(states).toContainEqual(expect.objectContaining({ state: 'skipped', reason: 'duplicate_address', messages: 2 }))
    const explained = (await w.get(`${pathOf(campaign)}/recipients/bo/explain`)).body
    expect(explained.summary).toContain('another user of the campaign has the same address')
    expect((await w.get(`${pathOf(campaign)}/recipients/ana/explain`)).body.now.reason).toBeNull()
  })

  test.each([1, 2, 3, 100])('get one copy if they are loaded in chunks of %i, of which some are lost in a crash', async (size) => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await started(w, await listWith(w, SHARED))
    const dies = inTx(w.ctx, async (ctx) => {
      await loadChunk(ctx as unknown as ProjectCtx, campaign.id, size)
      throw new Error('killed')
    })
    await expect(dies).rejects.toThrow('killed')
    while ((await loadAudiences(w.ctx, size)) > 0);
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['cy@example.com', 'shop@example.com'])
    expect(await outcomes(w, campaign)).toEqual(SHARED_ONCE)
  })

  test('get one copy from several processes', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const names = Array.from({ length: 60 }, (_, at) => `p${String(at).padStart(2, '0')}`)
    const campaign = await started(w, await listWith(w, Object.fromEntries(names.map((name, at) => [name, `box${at % 7}@example.com`]))))
    const worker = async () => {
      for (let idle = 0; idle < 20; ) idle = (await loadChunk(w.ctx, campaign.id, 4)) === 0 ? idle + 1 : 0
    }
    await Promise.all([worker(), worker(), worker()])
    await Promise.all([w.drain(), w.drain()])
    await w.drain()
    expect(recipientsOf(relay)).toEqual(Array.from({ length: 7 }, (_, at) => `box${at}@example.com`))
    expect((await outcomes(w, campaign)).filter((line) => line.endsWith('sent')).map((line) => line.slice(0, 3))).toEqual(names.slice(0, 7))
  })

  test('get one copy of a text message', async () => {
    await using w = await world()
    const list = await listOf(w, 'ana', 'bo')
    await w.post(USERS, [
      { external_id: 'ana', phone: '+61412345678' },
      { external_id: 'bo', phone: '+61 412 345 678' },
    ])
    const made = await w.post('/api/client/campaigns', {
      type: 'blast',
      name: 'Sale',
      subscription_id: await subscriptionTo(w, 'text'),
      list_ids: [list],
      send_at: w.clock.now().toISOString(),
    })
    await w.put(`${pathOf(made.body)}/templates/en`, { body: 'Sale' })
    await schedule(w, made.body)
    await w.drain()
    expect(await outcomes(w, made.body)).toEqual(['ana: delivered', 'bo: skipped duplicate_address'])
  })
})

describe('a user who cannot get it', () => {
  test('leaves the address to the next user: excluded, unsubscribed or unreachable', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const list = await listWith(w, { ana: 'shop@example.com', bo: 'shop@example.com', cy: 'shop@example.com', di: null })
    const spared = await listOf(w)
    await w.post(`/api/client/lists/${spared}/users`, { external_ids: ['ana'] })
    await w.patch('/api/client/users/bo/subscriptions', [{ subscription_id: await subscriptionTo(w), state: 0 }])
    const campaign = await started(w, list, { exclusion_list_ids: [spared] })
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['shop@example.com'])
    expect(await outcomes(w, campaign)).toEqual([
      'ana: skipped excluded',
      'bo: skipped not_subscribed',
      'cy: sent',
      'di: skipped no_address',
    ])
  })

  test('leaves the address to the next user when the blast is sent at another time', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const list = await listWith(w, { ana: 'shop@example.com', bo: 'shop@example.com' })
    const tomorrow = new Date(w.clock.now().getTime() + 86_400_000).toISOString()
    const campaign = await started(w, list)
    await run(w, 'campaigns.load', 2)
    expect(await outcomes(w, campaign)).toEqual(['ana: queued', 'bo: skipped duplicate_address'])
    await write(w, campaign, { send_at: tomorrow })
    await run(w, 'campaigns.pending-actions', 3)
    await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id: await subscriptionTo(w), state: 0 }])
    w.advance('1 day')
    await w.drain()
    expect(await outcomes(w, campaign)).toEqual(['ana: skipped not_subscribed', 'bo: sent'])
    expect(recipientsOf(relay)).toEqual(['shop@example.com'])
  })
})

test('a user who can get it when the blast is sent at another time has the address then', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const list = await listWith(w, { ana: 'shop@example.com', bo: 'shop@example.com' })
  const subscription_id = await subscriptionTo(w)
  await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state: 0 }])
  const campaign = await started(w, list)
  await run(w, 'campaigns.load', 2)
  expect(await outcomes(w, campaign)).toEqual(['ana: skipped not_subscribed', 'bo: queued'])
  await write(w, campaign, { send_at: new Date(w.clock.now().getTime() + 86_400_000).toISOString() })
  await run(w, 'campaigns.pending-actions', 3)
  await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state: 1 }])
  w.advance('1 day')
  await w.drain()
  expect(await outcomes(w, campaign)).toEqual(['ana: sent', 'bo: skipped duplicate_address'])
  expect(recipientsOf(relay)).toEqual(['shop@example.com'])
})

test('a user who gets the address of another one after loading gets no second copy', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await started(w, await listWith(w, { ana: 'ana@example.com', bo: 'bo@example.com', cy: 'cy@example.com' }))
  await run(w, 'campaigns.load', 2)
  w.advance('1 minute')
  await w.post(USERS, [
    { external_id: 'bo', email: 'ANA@example.com' },
    { external_id: 'cy', email: 'new@example.com' },
  ])
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'new@example.com'])
  expect(await outcomes(w, campaign)).toEqual(['ana: sent', 'bo: skipped duplicate_address', 'cy: sent'])
})

test('a user who changed and kept the address is sent the message, and nothing is written about the address', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await started(w, await listWith(w, { ana: 'ana@example.com', bo: 'bo@example.com' }))
  await run(w, 'campaigns.load', 2)
  await w.post(USERS, [{ external_id: 'bo', data: { plan: 'pro' } }])
  await run(w, 'messages.send-bulk')
  expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com'])
  // A row that was locked or changed has an id of the transaction there.
  const rows = await w.db.many(
    Type.Object({ xmax: Type.String() }),
    sql`select xmax::text from message_addresses where project_id = ${w.projectId}`,
  )
  expect(rows).toEqual([{ xmax: '0' }, { xmax: '0' }])
})

test('the message of a user who is merged into one with the same address is sent', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.post(USERS, [{ anonymous_id: 'browser', email: 'ana@example.com' }])
  await w.post(USERS, [{ external_id: 'ana', email: 'ana@example.com' }])
  const { body: browser } = await w.get('/api/client/users/browser')
  const list = await listOf(w)
  await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser.id] })
  await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
  const campaign = await started(w, list)
  await run(w, 'campaigns.load', 2)
  expect(await outcomes(w, campaign)).toHaveLength(2)
  await w.post(USERS, [{ external_id: 'ana', anonymous_id: 'browser' }])
  await w.drain()
  expect(recipientsOf(relay)).toEqual(['ana@example.com'])
})

test.each<[string, object, object, string]>([
  ['the visitor', { email: null }, { email: 'ana@example.com' }, 'ana: queued'],
  ['the user', { email: 'ana@example.com' }, { email: null }, 'ana: skipped no_address'],
])(
  'a message that waits is sent after a merge although %s had no address when the blast was loaded',
  async (_, anonymous, ana, planned) => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await w.post(USERS, [{ anonymous_id: 'browser', ...anonymous }])
    await w.post(USERS, [{ external_id: 'ana', ...ana }])
    const { body: browser } = await w.get('/api/client/users/browser')
    const list = await listOf(w)
    await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser.id] })
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
    const campaign = await started(w, list)
    await run(w, 'campaigns.load', 2)
    expect(await outcomes(w, campaign)).toContain(planned)
    await w.post(USERS, [{ external_id: 'ana', anonymous_id: 'browser' }])
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  },
)

describe('a user whose merged user got it gets no second copy at another time', () => {
  /** A visitor in the list, to whom the blast is sent tonight, and the user `ana` whom the visitor becomes; `cy` waits. */
  async function withAnonymousUser(w: World, ana: object) {
    await w.post(USERS, [{ anonymous_id: 'browser', email: 'ana@example.com', timezone: 'Pacific/Auckland' }])
    await w.post(USERS, [
      { external_id: 'ana', ...ana },
      { external_id: 'cy', email: 'cy@example.com' },
    ])
    const { body: browser } = await w.get('/api/client/users/browser')
    const list = await listOf(w)
    await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser.id] })
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana', 'cy'] })
    const campaign = await blastTo(w, [list], { send_at: '2026-11-23T22:30', send_in_user_timezone: true })
    await schedule(w, campaign)
    w.advance('1 hour')
    return campaign
  }

  const merge = (w: World) => w.post(USERS, [{ external_id: 'ana', anonymous_id: 'browser' }])

  const atAnotherTime = (w: World, campaign: { id: number }) => write(w, campaign, { send_at: '2026-11-25T08:00' })

  test.each(['before', 'after'])('if both had the address, and it was sent %s the merge', async (when) => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await withAnonymousUser(w, { email: 'ana@example.com', timezone: 'Pacific/Auckland' })
    await run(w, 'campaigns.launch')
    await run(w, 'campaigns.load', 2)
    if (when === 'before') await w.drain()
    await merge(w)
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    await atAnotherTime(w, campaign)
    w.advance('3 days')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com', 'cy@example.com'])
    expect(await outcomes(w, campaign)).toEqual(['ana: skipped duplicate', 'cy: sent', '?: sent'])
  })

  test('but gets it if that of the merged user was withdrawn after the merge', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await withAnonymousUser(w, { email: 'ana@example.org' })
    await run(w, 'campaigns.launch')
    await run(w, 'campaigns.load', 2)
    const { body: browser } = await w.get('/api/client/users/browser')
    const setState = (state: string) =>
      w.db.run(sql`update messages set state = ${state}, lease_until = ${w.clock.now()} where user_id = ${browser.id}`)
    await setState('claimed')
    await merge(w)
    // Its sender finds that the blast is sent at another time.
    await setState('deferred')
    await atAnotherTime(w, campaign)
    await run(w, 'campaigns.pending-actions', 3)
    expect(await outcomes(w, campaign)).toEqual(['ana: skipped duplicate', 'cy: aborted rescheduled', '?: aborted rescheduled'])
    w.advance('3 days')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.org', 'cy@example.com'])
  })

  test('if the message of the remaining user was withdrawn', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await withAnonymousUser(w, { email: 'ana@example.org' })
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    await atAnotherTime(w, campaign)
    await run(w, 'campaigns.pending-actions', 2)
    await merge(w)
    w.advance('3 days')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com', 'cy@example.com'])
    expect(await outcomes(w, campaign)).toEqual(['ana: skipped duplicate', 'cy: sent', '?: sent'])
  })

  test('but gets it if that of the merged user was not sent either', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const campaign = await withAnonymousUser(w, { email: 'ana@example.com', timezone: 'Pacific/Auckland' })
    await run(w, 'campaigns.launch')
    await run(w, 'campaigns.load', 2)
    await atAnotherTime(w, campaign)
    await run(w, 'campaigns.pending-actions', 2)
    await merge(w)
    w.advance('3 days')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com', 'cy@example.com'])
  })
})

test('a user in the hold-out leaves the address to the next user', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const names = Array.from({ length: 40 }, (_, at) => `p${String(at).padStart(2, '0')}`)
  const list = await listWith(w, Object.fromEntries(names.map((name, at) => [name, `box${at % 20}@example.com`])))
  const campaign = await started(w, list, { holdout_percent: 40 })
  const { body: preflight } = await w.post(`${pathOf(campaign)}/preflights`)
  await w.drain()
  const ended = (await outcomes(w, campaign)).map((line) => line.split(': ')[1] as string)
  const pairs = ended.slice(0, 20).map((first, at) => [first, ended[at + 20]])
  expect(pairs).toContainEqual(['skipped holdout', 'sent'])
  expect(pairs).toContainEqual(['sent', 'skipped duplicate_address'])
  for (const [first, second] of pairs) {
    expect(first === 'sent' ? ['skipped duplicate_address', 'skipped holdout'] : ['sent', 'skipped holdout']).toContain(second)
  }
  const reached = pairs.flatMap((pair, at) => (pair.includes('sent') ? [`box${at}@example.com`] : []))
  expect(recipientsOf(relay)).toEqual(reached.sort())
  const { counts } = (await w.get(`${pathOf(campaign)}/preflights/${preflight.id}`)).body
  expect(Object.values(counts.find(({ state }: any) => state === 'queued'))).toContain(reached.length)
  const at = pairs.findIndex(([first, second]) => first === 'skipped holdout' && second === 'sent')
  expect((await w.get(`${pathOf(campaign)}/recipients/${names[at + 20]}/explain`)).body.now.reason).toBeNull()
})

test('a preflight counts them, whatever the chunks are', async () => {
  await using w = await world()
  const names = Array.from({ length: 250 }, (_, at) => `p${String(at).padStart(3, '0')}`)
  const list = await listWith(w, Object.fromEntries(names.map((name, at) => [name, `box${at % 230}@example.com`])))
  const campaign = await blastTo(w, [list])
  const { body } = await w.post(`${pathOf(campaign)}/preflights`)
  await w.drain()
  const { counts } = (await w.get(`${pathOf(campaign)}/preflights/${body.id}`)).body
  const numbers = Object.fromEntries(counts.map(({ state, reason, ...number }: any) => [`${state} ${reason}`, ...Object.values(number)]))
  expect(numbers).toEqual({ 'queued null': 230, 'skipped duplicate_address': 20 })
})

const FIRST = { project_id: 0 as ProjectId, campaign_id: 0 as CampaignId }
const heldBy = async ({ ctx, projectId }: World) =>
  (await campaignsWithAddresses(ctx, FIRST, 1000)).flatMap(({ project_id, campaign_id }) => (project_id === projectId ? [campaign_id] : []))

test('nothing is kept of the addresses when the blast is over', async () => {
  await using w = await world()
  const campaign = await started(w, await listWith(w, SHARED))
  await run(w, 'campaigns.load', 2)
  const held = () => heldBy(w)
  await run(w, 'campaigns.forget-addresses')
  expect(await held()).toEqual([campaign.id])
  await w.drain()
  await run(w, 'campaigns.forget-addresses', 2)
  expect(await held()).toEqual([])
})

test('addresses are deleted although more blasts than are looked at together are not over, and those of another cannot be deleted', async () => {
  await using w = await world()
  const list = await listOf(w, 'ana')
  const campaigns = [await started(w, list), await started(w, list), await started(w, list)]
  const [waiting, broken, over] = campaigns.map(({ id }) => id) as [CampaignId, CampaignId, CampaignId]
  await run(w, 'campaigns.load', 2)
  await w.db.run(sql`update campaigns set state = 'finished' where project_id = ${w.projectId} and id <> ${waiting}`)
  expect(await heldBy(w)).toEqual([waiting, broken, over])
  await using _ = await failSaves(w, { table: 'message_addresses', on: 'delete', when: `old.campaign_id = ${broken}` })
  await forgetAddressesOfOver(w.ctx, 100, 1)
  expect(await heldBy(w)).toEqual([waiting, broken])
})

import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { blastTo, listOf, messagesIn, outcomes, pathOf, run, schedule, subscriptionTo, write } from '../../../../test/blasts.ts'
import { recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, ListId, UserId } from '../../../lib/ids.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { audienceAfter } from '../../lists/index.ts'
import { loadAudiences, loadChunk } from './load.ts'

const stateOf = async (w: World, campaign: { id: number }) => (await w.get(pathOf(campaign))).body.state
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${String(index).padStart(3, '0')}`)

/** Creates the messages of a campaign without sending them. */
async function load(w: World, campaign: { id: number }) {
  await schedule(w, campaign)
  await run(w, 'campaigns.launch')
  await run(w, 'campaigns.load', 3)
}

describe('the audience', () => {
  test('has every user of any of the lists once, skipped users with the reason', async () => {
    await using w = await world()
    const one = await listOf(w, 'ana', 'bo', 'cy')
    const two = await listOf(w, 'cy', 'di')
    const spared = await listOf(w, 'bo')
    const campaign = await blastTo(w, [one, two], { exclusion_list_ids: [spared] })
    await w.patch('/api/client/users/di/subscriptions', [{ subscription_id: await subscriptionTo(w), state: 0 }])
    await w.post('/api/client/users/batch', [{ external_id: 'ana', email: null }])
    await load(w, campaign)
    expect(await outcomes(w, campaign)).toEqual([
      'ana: skipped no_address',
      'bo: skipped excluded',
      'cy: queued',
      'di: skipped not_subscribed',
    ])
    expect((await w.get(pathOf(campaign))).body).toMatchObject({ state: 'running', delivery: { total: 4, sent: 0 } })
    await w.drain()
    expect((await w.get(pathOf(campaign))).body).toMatchObject({ state: 'finished', delivery: { total: 4, sent: 1 } })
  })

  test('a user in either of two exclusion lists gets nothing, and the explanation says so', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    const all = await listOf(w, 'ana', 'bo', 'cy', 'di')
    const excluded = [await listOf(w, 'ana', 'cy'), await listOf(w, 'bo', 'cy')]
    const campaign = await blastTo(w, [all], { exclusion_list_ids: excluded })
    await load(w, campaign)
    expect(await outcomes(w, campaign)).toEqual(['ana: skipped excluded', 'bo: skipped excluded', 'cy: skipped excluded', 'di: queued'])
    const backwards = await blastTo(w, [all], { exclusion_list_ids: excluded.toReversed() })
    await load(w, backwards)
    expect(await outcomes(w, backwards)).toEqual(await outcomes(w, campaign))
    for (const name of ['ana', 'bo']) {
      const answers = (await w.get(`${pathOf(campaign)}/recipients/${name}/explain`)).body
      expect(answers.now.reason, name).toBe('excluded')
      expect(answers.exclusion_lists.map(({ member }: { member: boolean }) => member).sort()).toEqual([false, true])
    }
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['di@example.com', 'di@example.com'])
  })

  test('skips a suppressed address, whichever user it belongs to', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, 'ana', 'bo')])
    const put = await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ANA@example.com' }])
    expect(put.status, put.text).toBeLessThan(300)
    await load(w, campaign)
    expect(await outcomes(w, campaign)).toEqual(['ana: skipped suppressed', 'bo: queued'])
  })

  test('without users is finished at once', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w)])
    await schedule(w, campaign)
    await w.drain()
    expect((await w.get(pathOf(campaign))).body).toMatchObject({
      state: 'finished',
      delivery: { total: 0 },
      started_at: expect.any(String),
    })
  })

  test('leaves out erased users and has the remaining user instead of a merged one', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, 'ana', 'bo', 'cy')])
    await w.post('/api/client/users/batch', [{ anonymous_id: 'device' }])
    const { body: device } = await w.get('/api/client/users/device')
    const list = await listOf(w)
    await w.post(`/api/client/lists/${list}/users`, { user_ids: [device.id] })
    await w.patch(pathOf(campaign), { list_ids: [...(await w.get(pathOf(campaign))).body.list_ids, list] })
    await w.post('/api/client/users/batch', [{ external_id: 'dee', email: 'dee@example.com' }])
    await w.post('/api/client/users/batch', [{ external_id: 'dee', anonymous_id: 'device' }])
    await w.delete('/api/client/users/bo')
    await load(w, campaign)
    expect(await outcomes(w, campaign)).toEqual(['ana: queued', 'cy: queued', 'dee: queued'])
  })

  test('has a hold-out that is always the same share of the eligible users', async () => {
    await using w = await world()
    const users = names(100)
    const list = await listOf(w, ...users)
    const spared = await listOf(w, ...users.slice(0, 50))
    const campaign = await blastTo(w, [list], { holdout_percent: 40, exclusion_list_ids: [spared] })
    await load(w, campaign)
    const rows = await messagesIn(w, campaign)
    expect(rows.filter(({ reason }) => reason === 'excluded')).toHaveLength(50)
    const heldOut = rows.filter(({ reason }) => reason === 'holdout').map(({ user }) => user)
    expect(heldOut.length).toBeGreaterThan(8)
    expect(heldOut.length).toBeLessThan(33)
    await write(w, campaign, { send_at: w.clock.now().toISOString().replace('Z', '+00:30') })
    await w.drain()
    expect((await messagesIn(w, campaign)).filter(({ reason }) => reason === 'holdout').map(({ user }) => user)).toEqual(heldOut)
  })
})

describe('chunks', () => {
  test('of any size load the same audience', async () => {
    await using w = await world()
    const users = names(25)
    const lists = [await listOf(w, ...users.slice(0, 15)), await listOf(w, ...users.slice(10))]
    for (const size of [1, 5, 7, 25, 100]) {
      const campaign = await blastTo(w, lists)
      await schedule(w, campaign)
      await run(w, 'campaigns.launch')
      let chunks = 0
      while ((await stateOf(w, campaign)) === 'loading') {
        await loadAudiences(w.ctx, size)
        chunks++
      }
      expect(chunks).toBe(Math.floor(25 / size) + 1)
      expect((await outcomes(w, campaign)).map((line) => line.slice(0, 4))).toEqual(users)
    }
  })

  test('a chunk that was lost in a crash is loaded again, without missing or duplicate users', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, ...names(12))])
    await schedule(w, campaign)
    await run(w, 'campaigns.launch')
    await loadChunk(w.ctx, campaign.id, 5)
    const dies = inTx(w.ctx, async (ctx) => {
      await loadChunk(ctx as unknown as ProjectCtx, campaign.id, 5)
      throw new Error('killed')
    })
    await expect(dies).rejects.toThrow('killed')
    expect(await outcomes(w, campaign)).toHaveLength(5)
    while ((await loadAudiences(w.ctx, 5)) > 0);
    expect(await outcomes(w, campaign)).toHaveLength(12)
    await w.drain()
    expect((await w.get(pathOf(campaign))).body).toMatchObject({ state: 'finished', delivery: { total: 12, sent: 12 } })
  })

  test('a blast that cannot be loaded keeps no other one waiting, is reported, and is loaded when it can be', async () => {
    await using w = await world()
    const list = await listOf(w, 'ana', 'bo')
    const broken = await blastTo(w, [list])
    const sound = await blastTo(w, [list])
    for (const campaign of [broken, sound]) await schedule(w, campaign)
    await run(w, 'campaigns.launch')
    const at = w.clock.now().toISOString()
    await w.db.run(sql`update campaigns set send_at = 'never', send_in_user_timezone = true where id = ${broken.id}`)
    const failed: string[] = []
    const metrics = { ...w.ctx.metrics, jobRun: (name: string) => void failed.push(name) }
    expect(await loadAudiences({ ...w.ctx, metrics })).toBeGreaterThan(0)
    expect(failed).toEqual(['campaigns.load'])
    expect(await outcomes(w, sound)).toEqual(['ana: queued', 'bo: queued'])
    expect(await stateOf(w, sound)).toBe('running')
    await w.db.run(sql`update campaigns set send_at = ${at}, send_in_user_timezone = false where id = ${broken.id}`)
    w.advance('10 seconds')
    await w.drain()
    expect(await outcomes(w, broken)).toEqual(['ana: delivered', 'bo: delivered'])
  })

  describe('a user behind the loaded ones into whom a member is merged meanwhile gets the blast, once', () => {
    /** Loads the first chunk of a blast, to cy and ana. The member `browser` comes after it. */
    async function withMember(w: World) {
      await w.users('early', 'ana')
      const list = await listOf(w, 'cy')
      await w.post('/api/client/users/batch', [{ anonymous_id: 'browser', email: 'early@example.com' }])
      const { body: browser } = await w.get('/api/client/users/browser')
      await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
      await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser.id] })
      return { campaign: await blastTo(w, [list]), browser: browser.id as number }
    }
    const merge = (w: World) => w.post('/api/client/users/batch', [{ external_id: 'early', anonymous_id: 'browser' }])
    const loadFirst = async (w: World, campaign: { id: CampaignId }) => {
      await run(w, 'campaigns.launch')
      await loadChunk(w.ctx, campaign.id, 2)
    }
    const ALL = ['ana@example.com', 'cy@example.com', 'early@example.com']

    test('when that is applied at once', async () => {
      await using w = await world()
      await using relay = await openRelay()
      await sendOver(w, relay)
      const { campaign } = await withMember(w)
      await schedule(w, campaign)
      await loadFirst(w, campaign)
      await merge(w)
      await w.drain()
      await w.drain()
      expect(recipientsOf(relay)).toEqual(ALL)
      expect(await outcomes(w, campaign)).toEqual(['ana: sent', 'cy: sent', 'early: sent'])
      expect((await w.get(pathOf(campaign))).body).toMatchObject({ state: 'finished', delivery: { total: 3, sent: 3 } })
    })

    test('with several others, in whatever chunks merges are looked at', async () => {
      await using w = await world()
      const names = ['e1', 'e2', 'e3']
      await w.users(...names, 'ana')
      const list = await listOf(w, 'ana')
      for (const name of names) {
        await w.post('/api/client/users/batch', [{ anonymous_id: `b-${name}` }])
        const { body } = await w.get(`/api/client/users/b-${name}`)
        await w.post(`/api/client/lists/${list}/users`, { user_ids: [body.id] })
      }
      const campaign = await blastTo(w, [list])
      await schedule(w, campaign)
      await run(w, 'campaigns.launch')
      await loadChunk(w.ctx, campaign.id, 1)
      await w.post(
        '/api/client/users/batch',
        names.map((name) => ({ external_id: name, anonymous_id: `b-${name}` })),
      )
      while ((await loadAudiences(w.ctx, 1)) > 0);
      expect(await outcomes(w, campaign)).toEqual(['ana: queued', 'e1: queued', 'e2: queued', 'e3: queued'])
    })

    test('when it was received long before the launch, and is applied after it', async () => {
      await using w = await world()
      await using relay = await openRelay()
      await sendOver(w, relay)
      const { campaign } = await withMember(w)
      await w.post('/api/client/events', [{ name: 'signed_in', external_id: 'early', anonymous_id: 'browser' }])
      w.advance('5 minutes')
      await schedule(w, campaign)
      await loadFirst(w, campaign)
      await run(w, 'ingest.apply', 3)
      await w.drain()
      await w.drain()
      expect(recipientsOf(relay)).toEqual(ALL)
    })

    test('when the blast was withdrawn, and is sent at another time', async () => {
      await using w = await world()
      await using relay = await openRelay()
      await sendOver(w, relay)
      const { campaign } = await withMember(w)
      await schedule(w, campaign)
      await run(w, 'campaigns.launch')
      await run(w, 'campaigns.load', 2)
      await write(w, campaign, { send_at: new Date(w.clock.now().getTime() + HOUR_MS).toISOString() })
      await run(w, 'campaigns.pending-actions', 3)
      w.advance('2 hours')
      await loadFirst(w, campaign)
      await merge(w)
      await w.drain()
      await w.drain()
      expect(recipientsOf(relay)).toEqual(ALL)
    })

    test('when the message of the member was stored while the member was merged, and is sent', async () => {
      await using w = await world()
      await using relay = await openRelay()
      await sendOver(w, relay)
      const { campaign, browser } = await withMember(w)
      await schedule(w, campaign)
      await loadFirst(w, campaign)
      await merge(w)
      await w.db.run(
        sql`insert into messages (project_id, user_id, campaign_id, channel, cause, priority, state, due_at, created_at)
            values (${w.projectId}, ${browser}, ${campaign.id}, 'email', ${`campaign:${campaign.id}`}, 1, 'queued', ${w.clock.now()}, ${w.clock.now()})`,
      )
      await w.drain('messages.send-bulk')
      expect(recipientsOf(relay)).toEqual(ALL)
      await w.drain()
      await w.drain()
      expect(recipientsOf(relay)).toEqual(ALL)
    })

    test('also if that user is a member too, who could not be reached before', async () => {
      await using w = await world()
      await using relay = await openRelay()
      await sendOver(w, relay)
      const list = await listOf(w, 'cy', 'early')
      await w.post('/api/client/users/batch', [{ external_id: 'early', email: null }])
      await w.post('/api/client/users/batch', [{ anonymous_id: 'browser', email: 'early@example.com' }])
      const { body: browser } = await w.get('/api/client/users/browser')
      await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser.id] })
      const campaign = await blastTo(w, [list])
      await schedule(w, campaign)
      await loadFirst(w, campaign)
      expect(await outcomes(w, campaign)).toEqual(['cy: queued', 'early: skipped no_address'])
      await merge(w)
      await w.drain()
      await w.drain()
      expect(recipientsOf(relay)).toEqual(['cy@example.com', 'early@example.com'])
    })
  })

  test('a member gets the blast once whose message was saved and sent while the member was merged into one that comes later', async () => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await w.post('/api/client/users/batch', [{ anonymous_id: 'browser', email: 'ana@example.com' }])
    const { body: browser } = await w.get('/api/client/users/browser')
    const list = await listOf(w, 'cy', 'ana')
    await w.post(`/api/client/lists/${list}/users`, { user_ids: [browser.id] })
    const campaign = await blastTo(w, [list])
    await schedule(w, campaign)
    await run(w, 'campaigns.launch')
    await loadChunk(w.ctx, campaign.id, 1)
    await run(w, 'messages.send-bulk')
    const stored = sql`select id from messages where project_id = ${w.projectId} and user_id = ${browser.id}`
    const id = await w.db.value(Type.Integer(), stored)
    // As it is while the merge, which has looked for messages, is not committed.
    await w.db.run(sql`update messages set user_id = -user_id where id = ${id}`)
    await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'browser' }])
    await w.db.run(sql`update messages set user_id = -user_id where id = ${id}`)
    await w.drain()
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com', 'cy@example.com'])
  })

  test('concurrent workers never load the same chunk', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, ...names(60))])
    await schedule(w, campaign)
    await run(w, 'campaigns.launch')
    let loaded = 0
    const worker = async () => {
      for (let idle = 0; idle < 20; ) {
        const done = await loadChunk(w.ctx, campaign.id, 7)
        loaded += done
        idle = done === 0 ? idle + 1 : 0
      }
    }
    await Promise.all([worker(), worker(), worker()])
    expect(loaded).toBe(60)
    expect(await outcomes(w, campaign)).toHaveLength(60)
  })

  test('concurrent processes launch a blast once', async () => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, ...names(3))])
    await schedule(w, campaign)
    await Promise.all([run(w, 'campaigns.launch'), run(w, 'campaigns.launch'), run(w, 'campaigns.launch')])
    await w.drain()
    expect((await w.get(pathOf(campaign))).body).toMatchObject({ state: 'finished', delivery: { total: 3, sent: 3 } })
  })

  test('when a list gets a new rule during loading, the users of the new rule follow from there', async () => {
    await using w = await world()
    const users = names(20)
    await w.users(...users)
    const odd = users.filter((_, index) => index % 2 === 1)
    await w.post(
      '/api/client/users/batch',
      odd.map((external_id) => ({ external_id, data: { odd: true } })),
    )
    const { body: list } = await w.post('/api/client/lists', { name: 'Odd', type: 'dynamic', rule: { attribute: 'data.odd', is: true } })
    await w.drain()
    const campaign = await blastTo(w, [list.id])
    await schedule(w, campaign)
    await run(w, 'campaigns.launch')
    await loadAudiences(w.ctx, 5)
    await w.patch(`/api/client/lists/${list.id}`, { rule: { not: { attribute: 'data.odd', is: true } } })
    // Until the new version is built, the list has the old users.
    await loadAudiences(w.ctx, 2)
    await run(w, 'lists.build', 5)
    await w.drain()
    const expected = [...odd.slice(0, 7), ...users.filter((name) => !odd.includes(name) && name > (odd[6] as string))].sort()
    expect((await outcomes(w, campaign)).map((line) => line.slice(0, 4))).toEqual(expected)
  })
})

test('audienceAfter returns users of several lists once each, ordered by id, without those of other projects', async () => {
  await using w = await world()
  const one = (await listOf(w, 'ana', 'bo', 'cy')) as ListId
  const two = (await listOf(w, 'bo', 'di')) as ListId
  const readAll = async (ctx: ProjectCtx, size: number) => {
    const found: UserId[] = []
    for (;;) {
      const next = await audienceAfter(ctx, [one, two], found.at(-1) ?? (0 as UserId), size)
      if (next.length === 0) return found
      found.push(...next)
    }
  }
  const all = await readAll(w.ctx, 100)
  expect(all).toHaveLength(4)
  expect(all).toEqual([...all].sort((a, b) => a - b))
  expect(await readAll(w.ctx, 1)).toEqual(all)
  expect(await readAll((await w.other()).ctx, 100)).toEqual([])
})

describe('in each user’s time zone', () => {
  /** The test clock shows Monday, 09:00 UTC. */
  async function worldwide(w: World, send_at: string) {
    const list = await listOf(w, 'apia', 'sydney', 'perth', 'london', 'york', 'nowhere')
    await w.post('/api/client/users/batch', [
      { external_id: 'apia', timezone: 'Pacific/Apia' },
      { external_id: 'sydney', timezone: 'Australia/Sydney' },
      { external_id: 'perth', timezone: 'Australia/Perth' },
      { external_id: 'london', timezone: 'Europe/London' },
      { external_id: 'york', timezone: 'America/New_York' },
    ])
    const campaign = await blastTo(w, [list], { send_at, send_in_user_timezone: true })
    await schedule(w, campaign)
    return campaign
  }

  const sent = async (w: World, campaign: { id: number }) =>
    (await outcomes(w, campaign)).filter((line) => !line.endsWith('queued')).map((line) => line.split(':')[0])

  test('users get it at the same local time; users without a time zone get it in the project’s', async () => {
    await using w = await world()
    const campaign = await worldwide(w, '2026-11-24T10:00')
    await w.drain()
    expect(await stateOf(w, campaign)).toBe('scheduled')
    w.advance('11 hours')
    await w.drain()
    expect(await stateOf(w, campaign)).toBe('running')
    expect(await sent(w, campaign)).toEqual([])
    const byHour: Record<number, string[]> = {}
    for (let hour = 20; hour <= 40; hour++) {
      const before = await sent(w, campaign)
      await w.drain()
      const now = (await sent(w, campaign)).filter((name) => !before.includes(name))
      if (now.length > 0) byHour[hour] = now as string[]
      w.advance('1 hour')
    }
    // Hours since the start of Monday in UTC: Apia is 13 ahead, Sydney 11, Perth 8; New York is 5 behind.
    expect(byHour).toEqual({ 21: ['apia'], 23: ['nowhere', 'sydney'], 26: ['perth'], 34: ['london'], 39: ['york'] })
    expect(await stateOf(w, campaign)).toBe('finished')
  })

  test('a user whose stored zone is none gets it in the project’s, and so does everyone else in their own', async () => {
    await using w = await world()
    await w.users('nowhere')
    const campaign = await worldwide(w, '2026-11-24T10:00')
    await w.db.run(sql`update users set timezone = 'IST' where project_id = ${w.projectId} and external_id = 'nowhere'`)
    w.advance('24 hours')
    await w.drain()
    expect(await sent(w, campaign)).toEqual(['apia', 'nowhere', 'perth', 'sydney'])
  })

  test('users whose time has passed get it at once, with the full time to its deadline', async () => {
    await using w = await world()
    const campaign = await worldwide(w, '2026-11-23T12:00')
    await w.drain()
    expect(await sent(w, campaign)).toEqual(['apia', 'nowhere', 'perth', 'sydney'])
    const late = (await messagesIn(w, campaign)).find(({ user }) => user === 'apia')
    expect(late?.expires_at?.getTime()).toBe(w.clock.now().getTime() + 72 * HOUR_MS)
  })
})

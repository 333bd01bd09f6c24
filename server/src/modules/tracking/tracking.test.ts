import type { InjectOptions } from 'fastify'
import { describe, expect, test } from 'vitest'
import { run } from '../../../test/blasts.ts'
import { losingAnswers } from '../../../test/failing-saves.ts'
import { select } from '../../../test/select.ts'
import { type Tenant, type World, world } from '../../../test/world.ts'
import { isSqlState, LOCK_NOT_AVAILABLE, sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, LinkId, MessageId, UserId } from '../../lib/ids.ts'
import { createEngagementBuffer } from './engagement/buffer.ts'
import { saveLinks } from './links/links.ts'
import { eraseClicks, mergeClicks } from './links/queries.ts'
import { trackingPages } from './public-pages.ts'
import type { Engagement } from './schema.ts'
import { trackerOf } from './tracker.ts'

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0'
const SHOP = ['https://shop.test/a', 'https://shop.test/b', 'https://shop.test/c']

/** Creates a campaign with links, and users who get its messages. */
async function campaignWith(w: World, urls: string[] = SHOP) {
  const { body: subscription } = await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })
  const { body: campaign } = await w.post('/api/client/campaigns', {
    type: 'trigger',
    name: 'Spring',
    subscription_id: subscription.id,
    event_name: 'x',
  })
  await w.users('ana', 'ben', 'cleo')
  const ids: Record<string, UserId> = {}
  for (const name of ['ana', 'ben', 'cleo']) ids[name] = (await w.get(`/api/client/users/${name}`)).body.id
  const campaignId = campaign.id as CampaignId
  const links = await saveLinks(w.ctx, campaignId, urls)
  /** Requests a link of a user’s message, or the pixel without a link. */
  const request = async (name: string, link?: number, { agent = BROWSER, method = 'GET' } = {}) => {
    const userId = ids[name] as UserId
    const tracker = trackerOf(w.ctx, { projectId: w.projectId, campaignId, userId, messageId: (1000 + userId) as MessageId })
    const address = link === undefined ? tracker.pixel : tracker.click(links[link] as LinkId, urls[link] as string)
    // A click in the first second would be a bot.
    w.advance('5 seconds')
    return w.app.inject({ method, url: address.replace('http://carillon.test', ''), headers: { 'user-agent': agent } } as InjectOptions)
  }
  const counted = async () => {
    w.advance('5 seconds')
    await w.drain()
    const { body } = await w.get(`/api/client/campaigns/${campaignId}/links`)
    return body as { results: { id: number; url: string; clicks: number; people: number; machine_clicks: number }[]; opens: object }
  }
  return { campaignId, links, ids, request, counted }
}

describe('a link of a message', () => {
  test('redirects to its target, and the reply is not cached', async () => {
    await using w = await world()
    const { request } = await campaignWith(w)
    const { statusCode, headers, body } = await request('ana', 0)
    expect({ statusCode, body }).toEqual({ statusCode: 302, body: '' })
    expect(headers).toMatchObject({ location: 'https://shop.test/a', 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  })

  test('counts clicks and users', async () => {
    await using w = await world()
    const { request, counted, links } = await campaignWith(w)
    for (const [name, link] of [
      ['ana', 0],
      ['ana', 0],
      ['ben', 0],
      ['ben', 2],
    ] as const)
      await request(name, link)
    expect((await counted()).results).toEqual([
      { id: links[0], url: SHOP[0], position: 0, clicks: 3, people: 2, machine_clicks: 0 },
      { id: links[1], url: SHOP[1], position: 1, clicks: 0, people: 0, machine_clicks: 0 },
      { id: links[2], url: SHOP[2], position: 2, clicks: 1, people: 1, machine_clicks: 0 },
    ])
  })

  test('does not count HEAD requests', async () => {
    await using w = await world()
    const { request, counted } = await campaignWith(w)
    expect((await request('ana', 0, { method: 'HEAD' })).statusCode).toBe(302)
    expect((await counted()).results[0]?.clicks).toBe(0)
  })

  test('counts bots separately, by user agent or by bursts', async () => {
    await using w = await world()
    const { campaignId, ids, links, request, counted } = await campaignWith(w)
    await request('ana', 0, { agent: 'Barracuda Sentinel (EE)' })
    await request('ana', 0)
    const tracker = trackerOf(w.ctx, { projectId: w.projectId, campaignId, userId: ids.ben as UserId, messageId: 7 as MessageId })
    w.advance('5 seconds')
    for (const [at, url] of SHOP.entries()) {
      const path = tracker.click(links[at] as LinkId, url).replace('http://carillon.test', '')
      await w.app.inject({ url: path, headers: { 'user-agent': BROWSER } })
    }
    expect((await counted()).results).toMatchObject([
      { clicks: 1, people: 1, machine_clicks: 2 },
      { clicks: 0, people: 0, machine_clicks: 1 },
      { clicks: 0, people: 0, machine_clicks: 1 },
    ])
  })

  test('that was changed shows an error page', async () => {
    await using w = await world()
    const { links, campaignId } = await campaignWith(w)
    const recipient = { projectId: w.projectId, campaignId, userId: 1 as UserId, messageId: 1 as MessageId }
    const address = trackerOf(w.ctx, recipient).click(links[0] as LinkId, 'https://shop.test/a')
    const { pathname, search } = new URL(address.replace('shop.test', 'evil.test'))
    const reply = await w.get(pathname + search, { key: null })
    expect(reply.status).toBe(404)
    expect(reply.headers.location).toBeUndefined()
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(reply.text).toContain('<html lang="en-AU">')
    expect(reply.text).not.toContain('evil')
    expect(await w.get('/c/x', { key: null })).toMatchObject({ status: 404, text: reply.text })
    expect(await w.get('/o/x.gif', { key: null })).toMatchObject({ status: 404, text: reply.text })
  })

  test('cannot add a header to the reply', async () => {
    await using w = await world()
    const recipient = { projectId: w.projectId, campaignId: 1 as CampaignId, userId: 1 as UserId, messageId: 1 as MessageId }
    const address = trackerOf(w.ctx, recipient).click(1, 'https://shop.test/ü?a=\r\nset-cookie: a=b')
    const { pathname, search } = new URL(address)
    const { status, headers } = await w.get(pathname + search, { key: null })
    expect(status).toBe(302)
    expect(headers['set-cookie']).toBeUndefined()
    expect(headers.location).toBe('https://shop.test/%C3%BC?a=set-cookie:%20a=b')
  })
})

describe('the tracking pixel of a message', () => {
  test('is one pixel that is not cached', async () => {
    await using w = await world()
    const { request } = await campaignWith(w)
    const { statusCode, headers, rawPayload } = await request('ana')
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'image/gif', 'cache-control': 'no-store' })
    expect(rawPayload).toHaveLength(43)
    expect(rawPayload.subarray(0, 6).toString()).toBe('GIF89a')
    expect(rawPayload.at(-1)).toBe(0x3b)
  })

  test('counts users, proxies and bots separately', async () => {
    await using w = await world()
    const { request, counted } = await campaignWith(w)
    await request('ana')
    await request('ben', undefined, { agent: 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)' })
    await request('cleo', undefined, { agent: 'Mozilla/5.0' })
    expect((await counted()).opens).toEqual({ total: 2, proxied: 1, machine: 1 })
  })
})

describe('engagement', () => {
  const engagementOf = (user_id: UserId, campaign_id: CampaignId, link: LinkId, at: Date): Engagement => ({
    kind: 'click',
    user_id,
    campaign_id,
    message_id: (1000 + user_id) as MessageId,
    link,
    url: 'https://shop.test/a',
    at,
    isBot: false,
    isProxied: false,
    reason: null,
  })
  const ignore = async () => undefined

  test('is written to messages in the transaction that counts it', async () => {
    await using w = await world()
    const { campaignId, ids, links, counted } = await campaignWith(w)
    const written: Engagement[][] = []
    let isBroken = true
    await using buffer = createEngagementBuffer(w.ctx, async (_, engagements) => {
      if (isBroken) throw new Error('not now')
      written.push(engagements)
    })
    const engagement = engagementOf(ids.ana as UserId, campaignId, links[0] as LinkId, w.clock.now())
    buffer.put(w.projectId, engagement)
    await buffer.flush()
    w.advance('3 seconds')
    await buffer.flush()
    expect((await counted()).results[0]?.clicks).toBe(0)
    isBroken = false
    await buffer.flush()
    expect(written).toEqual([[engagement]])
    expect((await counted()).results[0]?.clicks).toBe(1)
  })

  test('is written at shutdown', async () => {
    await using w = await world()
    const { campaignId, ids, links, counted } = await campaignWith(w)
    {
      await using buffer = createEngagementBuffer(w.ctx, ignore)
      buffer.put(w.projectId, engagementOf(ids.ana as UserId, campaignId, links[0] as LinkId, w.clock.now()))
    }
    expect((await counted()).results[0]?.clicks).toBe(1)
  })

  test('of a user is written while no erasure can delete the user, and its clicks', async () => {
    await using w = await world()
    const { campaignId, ids, links } = await campaignWith(w)
    const deleting: unknown[] = []
    {
      await using buffer = createEngagementBuffer(w.ctx, async () => {
        const locked = w.db.run(sql`select from users where project_id = ${w.projectId} and id = ${ids.ana} for update nowait`)
        deleting.push(await locked.catch((error: unknown) => error))
      })
      buffer.put(w.projectId, engagementOf(ids.ana as UserId, campaignId, links[0] as LinkId, w.clock.now()))
    }
    expect(deleting.map((error) => isSqlState(error, LOCK_NOT_AVAILABLE))).toEqual([true])
  })

  test('is written in batches of 500', async () => {
    await using w = await world()
    const { campaignId, ids, links, counted } = await campaignWith(w)
    const sizes: number[] = []
    {
      await using buffer = createEngagementBuffer(w.ctx, async (_, engagements) => {
        sizes.push(engagements.length)
      })
      for (let at = 0; at < 1200; at++) {
        const engagement = engagementOf(ids[at % 2 ? 'ana' : 'ben'] as UserId, campaignId, links[0] as LinkId, w.clock.now())
        buffer.put(w.projectId, { ...engagement, message_id: at as MessageId })
      }
    }
    expect(sizes).toEqual([500, 500, 200])
    expect((await counted()).results[0]).toMatchObject({ clicks: 1200, people: 2 })
  })

  test('is written although some of it cannot be', async () => {
    await using w = await world()
    const { campaignId, ids, links } = await campaignWith(w)
    const written: number[] = []
    await using buffer = createEngagementBuffer(w.ctx, async (_, engagements) => {
      if (engagements.some(({ message_id }) => message_id === 7)) throw new Error('broken')
      written.push(...engagements.map(({ message_id }) => message_id))
    })
    for (let at = 0; at < 10; at++) {
      const engagement = engagementOf(ids.ana as UserId, campaignId, links[0] as LinkId, w.clock.now())
      buffer.put(w.projectId, { ...engagement, kind: 'open', link: null, message_id: at as MessageId })
    }
    await buffer.flush()
    expect(written).toEqual([0, 1, 2, 3, 4, 5, 6, 8, 9])
  })

  test('is counted once, also if the database loses its answers', async () => {
    await using w = await world()
    const { campaignId, ids, links, counted } = await campaignWith(w)
    const written: number[] = []
    await using buffer = createEngagementBuffer(losingAnswers(w.ctx), async (_, engagements) => {
      written.push(...engagements.map(({ message_id }) => message_id))
    })
    const put = (message: number) => {
      const engagement = engagementOf(ids.ana as UserId, campaignId, links[0] as LinkId, w.clock.now())
      buffer.put(w.projectId, { ...engagement, message_id: message as MessageId })
      w.advance('3 seconds')
      return buffer.flush()
    }
    await put(1)
    await put(2)
    await put(3)
    await buffer.flush()
    expect(written).toEqual([1, 2, 3])
    expect((await counted()).results[0]).toMatchObject({ clicks: 3 })
  })

  test('of one project is written while another project fails', async () => {
    await using w = await world()
    const other = await w.other()
    const { campaignId, ids, links, counted } = await campaignWith(w)
    await using buffer = createEngagementBuffer(w.ctx, async (ctx) => {
      if (ctx.projectId === other.projectId) throw new Error('broken')
    })
    const theirs = await userOf(w, other)
    buffer.put(other.projectId, { ...engagementOf(theirs, 1 as CampaignId, 1 as LinkId, w.clock.now()), kind: 'open' })
    buffer.put(w.projectId, { ...engagementOf(ids.ana as UserId, campaignId, links[0] as LinkId, w.clock.now()), kind: 'open', link: null })
    await buffer.flush()
    expect((await counted()).opens).toMatchObject({ total: 1 })
  })

  test('is lost without a database, but links still redirect', async () => {
    await using w = await world()
    const { ids, campaignId } = await campaignWith(w)
    const down = () => Promise.reject(new Error('connect ECONNREFUSED'))
    const statements = { many: down, one: down, value: down, first: down, bytes: down, run: down }
    const ctx = { ...w.ctx, db: { ...statements, within: () => statements, copy: down, transaction: down } }
    const buffer = createEngagementBuffer(ctx, ignore)
    const [page] = trackingPages(buffer)
    const tracker = trackerOf(ctx, { projectId: w.projectId, campaignId, userId: ids.ana as UserId, messageId: 1 as MessageId })
    const { pathname, searchParams } = new URL(tracker.click(1, 'https://shop.test/a'))
    const call = { params: { token: pathname.slice(3) }, query: searchParams, headers: { 'user-agent': BROWSER }, body: Buffer.alloc(0) }
    const reply = await page?.run(ctx, { ...call, url: '', method: 'GET', address: '127.0.0.1', requestId: 'r' })
    expect(reply).toMatchObject({ status: 302, headers: { location: 'https://shop.test/a' } })
    await buffer[Symbol.asyncDispose]()
  })

  test('of a merged user belongs to the remaining user, before and after the merge', async () => {
    await using w = await world()
    const { campaignId, ids, links, request, counted } = await campaignWith(w)
    await request('ana', 0)
    await request('ben', 0)
    await request('ben', 1)
    expect((await counted()).results[0]).toMatchObject({ clicks: 2, people: 2 })
    const merge = { from_id: ids.ben as UserId, into_id: ids.ana as UserId }
    await inTx(w.ctx, (ctx) => mergeClicks(ctx, [merge]))
    await w.db.run(sql`update users set merged_into = ${merge.into_id} where project_id = ${w.projectId} and id = ${merge.from_id}`)
    await using buffer = createEngagementBuffer(w.ctx, ignore)
    buffer.put(w.projectId, engagementOf(ids.ben as UserId, campaignId, links[1] as LinkId, w.clock.now()))
    w.advance('3 seconds')
    await buffer.flush()
    expect((await counted()).results).toMatchObject([{ clicks: 2, people: 1 }, { clicks: 2, people: 1 }, { clicks: 0 }])
  })

  test('is deleted when it is old, and its link keeps the totals', async () => {
    await using w = await world()
    const { ids, request, counted } = await campaignWith(w)
    for (const name of ['ana', 'ana', 'ben']) await request(name, 0)
    await request('ben', 1, { agent: '' })
    const before = (await counted()).results
    expect(before).toMatchObject([{ clicks: 3, people: 2 }, { clicks: 0, people: 0, machine_clicks: 1 }, { clicks: 0 }])
    w.advance('300 days')
    await request('ben', 0)
    await counted()
    w.advance('101 days')
    while ((await run(w, 'retention')) > 0);
    expect(await clickersOf(w)).toEqual([ids.ben])
    expect((await counted()).results).toMatchObject([{ clicks: 4, people: 2 }, { clicks: 0, people: 0, machine_clicks: 1 }, { clicks: 0 }])
    await inTx(w.ctx, (ctx) => mergeClicks(ctx, [{ from_id: ids.ben as UserId, into_id: ids.ana as UserId }]))
    w.advance('250 days')
    await run(w, 'retention')
    expect(await clickersOf(w)).toEqual([ids.ana])
    w.advance('100 days')
    while ((await run(w, 'retention')) > 0);
    expect(await clickersOf(w)).toEqual([])
    expect((await counted()).results).toMatchObject([{ clicks: 4, people: 2 }, { machine_clicks: 1 }, { clicks: 0 }])
  })

  test('of an erased user is deleted, stays in the sums of its link, and is not written later', async () => {
    await using w = await world()
    const { ids, request, counted } = await campaignWith(w)
    await request('ana', 0)
    await request('ben', 0)
    await request('ben', 1)
    await counted()
    await inTx(w.ctx, (ctx) => eraseClicks(ctx, [ids.ana as UserId]))
    expect(await clickersOf(w)).toEqual([ids.ben, ids.ben])
    expect((await counted()).results).toMatchObject([
      { clicks: 2, people: 2 },
      { clicks: 1, people: 1 },
      { clicks: 0, people: 0 },
    ])
    await w.delete('/api/client/users/ana')
    await request('ana', 0)
    expect((await counted()).results[0]).toMatchObject({ clicks: 2, people: 2 })
  })
})

const clickersOf = async (w: World) =>
  (await select(w, 'select user_id from link_clicks where project_id = $1 order by user_id', [w.projectId])).map(({ user_id }) =>
    Number(user_id),
  )

async function userOf(w: World, tenant: Tenant): Promise<UserId> {
  await w.post('/api/client/users/batch', [{ external_id: 'theirs', email: 'theirs@example.com' }], { key: tenant.keys.secret })
  return (await w.get('/api/client/users/theirs', { key: tenant.keys.secret })).body.id
}

describe('the links of a template', () => {
  test('keep their ids, also with simultaneous calls', async () => {
    await using w = await world()
    const ask = () => saveLinks(w.ctx, 1 as CampaignId, [...SHOP, SHOP[0] as string])
    const answers = await Promise.all(Array.from({ length: 8 }, ask))
    for (const ids of answers) expect(ids).toEqual(answers[0])
    expect(new Set(answers[0]).size).toBe(4)
    expect(await ask()).toEqual(answers[0])
  })

  test('have other ids in another campaign, at another position, or with another URL', async () => {
    await using w = await world()
    const [a, b] = SHOP as [string, string]
    const first = await saveLinks(w.ctx, 1 as CampaignId, [a, b])
    expect((await saveLinks(w.ctx, 1 as CampaignId, [b, a])).filter((id) => first.includes(id))).toEqual([])
    expect((await saveLinks(w.ctx, 2 as CampaignId, [a, b])).filter((id) => first.includes(id))).toEqual([])
    expect(await saveLinks(w.ctx, 1 as CampaignId, [a])).toEqual([first[0]])
    expect(await saveLinks(w.ctx, 1 as CampaignId, [])).toEqual([])
  })

  test('are not cached if the transaction is rolled back', async () => {
    await using w = await world()
    const urls = [...SHOP]
    await expect(
      inTx(w.ctx, async (ctx) => {
        await saveLinks(ctx, 1 as CampaignId, urls)
        throw new Error('undone')
      }),
    ).rejects.toThrow('undone')
    const ids = await saveLinks(w.ctx, 1 as CampaignId, urls)
    expect(await saveLinks(w.ctx, 1 as CampaignId, [...urls])).toEqual(ids)
  })

  test('can be as long as a template allows', async () => {
    await using w = await world()
    const [id] = await saveLinks(w.ctx, 1 as CampaignId, [`https://shop.test/${'x'.repeat(20_000)}`])
    expect(id).toBeGreaterThan(0)
  })

  test('of another project do not exist', async () => {
    await using w = await world()
    const { campaignId } = await campaignWith(w)
    const other = await w.other()
    expect((await w.get(`/api/client/campaigns/${campaignId}/links`, { key: other.keys.secret })).status).toBe(404)
    expect((await w.get('/api/client/campaigns/999999/links')).status).toBe(404)
    expect((await w.get(`/api/client/campaigns/${campaignId}/links`, { key: w.keys.support })).status).toBe(200)
  })
})

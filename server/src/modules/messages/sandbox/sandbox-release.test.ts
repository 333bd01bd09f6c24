/** What members of the team do with sandbox messages: release an email to themselves, and see what its recipient sees (D-SBX). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { subscriptionTo } from '../../../../test/blasts.ts'
import { member } from '../../../../test/members.ts'
import { openRelay, type Relay } from '../../../../test/relay.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { releasedCopy } from './released.ts'

const MESSAGES = '/api/client/sandbox/messages'

/** Sends an email to a user, which the sandbox keeps. */
async function sendEmail(w: World, more: object = {}): Promise<number> {
  const sent = await w.post('/api/client/messages', {
    subscription_id: await subscriptionTo(w),
    content: { from: 'Shop <shop@example.com>', reply_to: 'help@example.com', subject: 'Käfer', html: '<p>Beans for {{ user.email }}</p>' },
    user: { external_id: 'ana', email: 'ana@example.com' },
    ...more,
  })
  expect(sent.status, sent.text).toBe(202)
  await w.drain()
  return sent.body.id
}

describe('a released copy', () => {
  const source =
    'From: Shop <shop@example.com>\r\nSubject: Long\r\n words\r\nList-Unsubscribe: <https://example.com/u>,\r\n <mailto:u@example.com>\r\nTo: ana@example.com\r\nX-Order: 1\r\n\r\nFrom: the body\r\n\r\nstays'

  test('has sender and recipient of its own, and all else as it was', () => {
    const copy = releasedCopy(source, { from: 'carillon@example.org', to: 'kim@example.org', messageId: 'a@example.org' })
    const [head, ...body] = copy.split('\r\n\r\n')
    expect(head?.split(/\r\n(?! )/)).toEqual([
      'From: Carillon sandbox <carillon@example.org>',
      'To: kim@example.org',
      'Message-ID: <a@example.org>',
      'Auto-Submitted: auto-generated',
      'Subject: Long\r\n words',
      'X-Order: 1',
    ])
    expect(body.join('\r\n\r\n')).toBe('From: the body\r\n\r\nstays')
  })

  test('of a source without a body is complete', () => {
    expect(releasedCopy('Subject: Hi', { from: 'a@b.example', to: 'c@d.example', messageId: 'e@f.example' })).toMatch(
      /Subject: Hi\r\n\r\n$/,
    )
  })
})

describe('an email of the sandbox', () => {
  let relay: Relay
  let w: World
  beforeEach(async () => {
    relay = await openRelay()
    w = await world({ env: { SYSTEM_SMTP_URL: `smtp://${relay.host}:${relay.port}`, SYSTEM_MAIL_FROM: 'carillon@bellbird.test' } })
  })
  afterEach(async () => {
    await w[Symbol.asyncDispose]()
    await relay[Symbol.asyncDispose]()
  })

  const release = (id: number, to: string, key = w.keys.editor) => w.post(`${MESSAGES}/${id}/release`, { to }, { key })

  test('is released to a member of the project, once for each request, and the audit log has it', async () => {
    const id = await sendEmail(w)
    const one = await member(w, 'member', 'support')
    const released = await release(id, one.email.toUpperCase())
    expect(released.body, released.text).toEqual({ is_accepted: true, message: null })
    expect(relay.mails.map(({ to }) => to)).toEqual([[one.email]])
    const raw = relay.mails[0]?.raw ?? ''
    expect(raw).toContain('Beans for ana@example.com')
    expect(raw).toMatch(/^From: Carillon sandbox <carillon@bellbird.test>/m)
    expect(raw).not.toMatch(/^List-Unsubscribe|^Reply-To|shop@example\.com/im)
    const { results } = (await w.get('/api/client/audit?limit=1&direction=desc')).body
    expect(results[0]).toMatchObject({ action: 'sandbox_message.released', object: { id: String(id) } })
    expect(JSON.stringify(results[0])).toContain(one.email)
  })

  test('is released to no other address', async () => {
    const id = await sendEmail(w)
    const [without, elsewhere] = [await member(w, 'member'), await member(w, 'owner', undefined, await w.other())]
    for (const to of [without.email, elsewhere.email, 'ana@example.com']) {
      const refused = await release(id, to)
      expect([refused.status, refused.body.error?.param ?? refused.body.param], refused.text).toEqual([422, 'to'])
    }
    expect((await release(id, (await member(w, 'admin')).email, w.keys.support)).status).toBe(403)
    expect((await release(id + 1000, 'ana@example.com')).status).toBe(404)
    expect(relay.mails).toEqual([])
  })

  test('that the relay refuses is said to be refused', async () => {
    const id = await sendEmail(w)
    relay.answer({ at: 'BODY', code: 554, text: '5.7.1 No beans here' })
    const { body } = await release(id, (await member(w, 'admin')).email)
    expect(body.is_accepted).toBe(false)
    expect(body.message).toContain('No beans here')
  })
})

test('a server without a relay releases nothing, and says what it lacks', async () => {
  await using w = await world()
  const refused = await w.post(`${MESSAGES}/${await sendEmail(w)}/release`, { to: (await member(w, 'admin')).email })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('SYSTEM_SMTP_URL')
})

test('the pages that the recipient sees are there, and a look at them counts and changes nothing', async () => {
  await using w = await world()
  const id = await sendEmail(w)
  const { body } = await w.get(`${MESSAGES}/${id}`)
  const pathOf = (url: string) => new URL(url).pathname
  const view = await w.get(pathOf(body.view_url), { key: null })
  expect([view.status, view.text]).toEqual([200, expect.stringContaining('Beans for ana@example.com')])
  expect(view.text).not.toContain('/o/')
  const message = (await w.get(`/api/client/messages/${id}`)).body
  expect([message.state, message.opened_at]).toEqual(['delivered', null])

  const page = pathOf(body.preferences_url)
  const shown = await w.get(page, { key: null })
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('nothing on this page is saved')])
  const states = async () => (await w.get('/api/client/users/ana/subscriptions')).body
  const before = await states()
  const chosen = await w.request('POST', page, undefined, {
    key: null,
    raw: 'all=yes',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect([chosen.status, chosen.headers.location]).toEqual([303, '?saved=test'])
  expect(await states()).toEqual(before)
  const unsubscribe = await w.request('POST', page.replace('/s/p/', '/s/u/'), undefined, {
    key: null,
    raw: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(unsubscribe.status).toBeGreaterThanOrEqual(400)
  expect(await states()).toEqual(before)
})

test('messages are found by a tag of their campaign or journey', async () => {
  await using w = await world()
  const id = await sendEmail(w)
  const { campaign_id } = (await w.get(`${MESSAGES}/${id}`)).body
  const subscription_id = await subscriptionTo(w)
  const made = await w.post('/api/client/campaigns', {
    type: 'trigger',
    name: 'Sale',
    subscription_id,
    event_name: 'order',
    tags: ['Spring sale', 'b'],
  })
  await w.put(`/api/client/campaigns/${made.body.id}/templates/en`, { from: 'app@example.com', subject: 'Sale', html: '<p>Sale</p>' })
  expect((await w.patch(`/api/client/campaigns/${made.body.id}`, { state: 'running' })).status).toBe(200)
  await w.post('/api/client/events', [{ name: 'order', external_id: 'ana' }])
  await w.drain()
  const find = async (query: string) => (await w.get(`${MESSAGES}?${query}`)).body.results.map(({ campaign_id }: any) => campaign_id)
  expect(await find('')).toEqual([made.body.id, campaign_id])
  expect(await find('tag=Spring%20sale')).toEqual([made.body.id])
  expect(await find('tag=Spring')).toEqual([])
  const journey = await w.post('/api/client/journeys', { name: 'Welcome', tags: ['hello'] })
  await select(w, `update messages set journey_id = ${journey.body.id} where project_id = ${w.projectId} and id = ${id}`)
  expect(await find('tag=hello')).toEqual([campaign_id])
})

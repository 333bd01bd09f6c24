import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { type RequestOptions, type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { runToEnd } from '../../infra/queue/jobs.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, ProjectId, UserId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { findCampaignSubscriptions, findSendingCampaigns, recordOverBudget } from '../campaigns/index.ts'
import { createInboxStreams } from '../inbox/index.ts'
import { result, resultOf, type SendResult } from './eligibility.ts'
import { enqueueMessages, mergeMessages, messageJobs } from './index.ts'
import { type ClaimedMessage, type MessageIntent, TRANSACTIONAL } from './schema.ts'
import { insertSendAttempts } from './sending/attempts.queries.ts'
import { claim, sharesOf } from './sending/claim.ts'
import { queuesByDueTime } from './sending/queries.ts'
import { recordResults } from './sending/record-results.ts'
import { createSender, sendDueMessages, sendQueue } from './sending/sender.ts'

const INBOX = '/api/client/sandbox/messages'
const EXPIRES = new Date('2027-01-01T00:00:00.000Z')

const TEMPLATES: Partial<Record<Channel, Record<string, unknown>>> = {
  email: {
    from: '{{ project.name }} <hello@example.com>',
    subject: 'Thanks, {{ user.data.name }}',
    html: '<p>{{ user.data.name }} bought {{ event.data.item }}</p>',
  },
  text: { body: '{{ user.data.name }}: {{ event.data.item }}' },
  push: { title: 'Thanks, {{ user.data.name }}', body: '{{ event.data.item }}', custom: { order: '{{ event.data.item }}' } },
  webhook: {
    endpoint: 'https://example.com/{{ user.external_id }}',
    headers: { 'X-Campaign': '{{ campaign.name }}' },
    body: '{"item":"{{ event.data.item }}"}',
  },
  in_app: { title: 'Thanks, {{ user.data.name }}', body: '{{ event.data.item }}', html: '<b>{{ user.data.name }}</b>' },
}

/** A running trigger campaign on the event `order`. */
async function campaign(w: World, channel: Channel = 'email', template = TEMPLATES[channel]): Promise<CampaignId> {
  const types = await w.get('/api/client/subscriptions')
  const { id: subscription_id } = types.body.results.find((type: { channel: string }) => type.channel === channel)
  const created = await w.post('/api/client/campaigns', { type: 'trigger', name: 'Thanks', subscription_id, event_name: 'order' })
  expect(created.status).toBe(201)
  const put = await w.put(`/api/client/campaigns/${created.body.id}/templates/en`, template)
  expect(put.body).toMatchObject({ locale: 'en' })
  const running = await w.patch(`/api/client/campaigns/${created.body.id}`, { state: 'running' })
  expect(running.body).toMatchObject({ state: 'running' })
  return created.body.id
}

const ANA = { email: 'ana@example.com', phone: '+61400000000', data: { name: 'Ana & <Co>' } }

/** Ana, with addresses for all channels and a device. */
async function ana(w: World): Promise<UserId> {
  const { body } = await w.post('/api/client/users/batch', [{ external_id: 'ana', ...ANA }])
  await w.post('/api/client/devices', { external_id: 'ana', device_id: 'phone', token: 'secret-device-token' })
  return body.results[0].user.id
}

const order = (w: World, externalId = 'ana') =>
  w.post('/api/client/events', [{ name: 'order', external_id: externalId, data: { item: 'Tea' } }])

const inbox = async (w: World, query = '', options?: RequestOptions) => (await w.get(`${INBOX}${query}`, options)).body.results

const MessageRow = Type.Object({
  id: Type.Integer(),
  state: Type.String(),
  reason: Type.Unsafe<string | null>({}),
  detail: Type.Unsafe<string | null>({}),
  event: Type.Unknown(),
  user_id: Type.Integer(),
})

const messagesIn = (w: World) =>
  w.db.many(MessageRow, sql`select id, state, reason, detail, event, user_id from messages where project_id = ${w.projectId} order by id`)

/** Creates a message that is due, without sending it. */
async function enqueueOrder(w: World, campaignId: CampaignId, userId: UserId, cause = 'order-1'): Promise<void> {
  const intent: MessageIntent = {
    user_id: userId,
    campaign_id: campaignId,
    channel: 'email',
    cause,
    event: { name: 'order', data: { item: 'Tea' }, created_at: w.clock.now().toISOString() },
    expires_at: EXPIRES,
  }
  await inTx(w.ctx, (ctx) => enqueueMessages(ctx, [intent]))
}

/** Claims the project's due emails, as a sender that then stops. */
const claimMails = (w: World, limit = 100) => claim(w.ctx, TRANSACTIONAL, [{ project_id: w.projectId, channel: 'email', limit }])

/** Saves a send result without an attempt. */
const saveResult = (w: World, message: ClaimedMessage, result: SendResult) =>
  recordResults(w.ctx, [{ message, user: undefined, consent: undefined, result, attempt: null }])

/** In-app messages go to the inbox unless a provider says otherwise. */
const keepInSandbox = async (w: World) => {
  const made = await w.post('/api/client/providers', { name: 'Sandbox', kind: 'sandbox', channel: 'in_app', settings: {} })
  expect(made.status, made.text).toBe(201)
}

describe('an event that matches a trigger campaign', () => {
  test.each<[Channel, unknown, unknown]>([
    [
      'email',
      { recipient: 'ana@example.com', summary: 'Thanks, Ana & <Co>' },
      {
        from: 'Test <hello@example.com>',
        to: 'ana@example.com',
        subject: 'Thanks, Ana & <Co>',
        html: '<html lang="en"><p>Ana &amp; &lt;Co&gt; bought Tea</p>',
        text: 'Ana & <Co> bought Tea',
      },
    ],
    ['text', { recipient: '+61400000000', summary: 'Ana & <Co>: Tea' }, { to: '+61400000000', body: 'Ana & <Co>: Tea' }],
    ['push', { recipient: 'ana', summary: 'Thanks, Ana & <Co>' }, { title: 'Thanks, Ana & <Co>', body: 'Tea', custom: { order: 'Tea' } }],
    [
      'webhook',
      { recipient: 'https://example.com/ana', summary: 'POST https://example.com/ana' },
      { method: 'POST', endpoint: 'https://example.com/ana', headers: { 'X-Campaign': 'Thanks' }, body: '{"item":"Tea"}' },
    ],
    [
      'in_app',
      { recipient: 'ana', summary: 'Thanks, Ana & <Co>' },
      { type: 'inbox', title: 'Thanks, Ana & <Co>', body: 'Tea', html: '<b>Ana &amp; &lt;Co&gt;</b>' },
    ],
  ])('puts a message of the channel %s into the sandbox', async (channel, listed, content) => {
    await using w = await world()
    const userId = await ana(w)
    await keepInSandbox(w)
    const id = await campaign(w, channel)
    await order(w)
    await w.drain()
    const [message, ...more] = await inbox(w)
    expect(more).toEqual([])
    expect(message).toMatchObject({
      channel,
      campaign_id: id,
      user_id: userId,
      created_at: w.clock.now().toISOString(),
      ...(listed as object),
    })
    const whole = await w.get(`${INBOX}/${message.id}`)
    // Of an email, also its headers, its source and the page that shows it.
    const { headers: _, source: __, view_url, ...shown } = whole.body
    expect(shown).toEqual({ ...message, external_id: 'ana', content, preferences_url: expect.stringContaining('/s/p/') })
    expect(view_url !== undefined).toBe(channel === 'email')
    expect(whole.text).not.toContain('secret-device-token')
    expect(await messagesIn(w)).toMatchObject([{ id: message.id, state: 'delivered', reason: null }])
    expect((await w.get(`/api/client/campaigns/${id}`)).body.delivery).toEqual({ sent: 1, total: 1, opens: 0, clicks: 0, bounced: 0 })
  })

  test.each<[Channel, object, object]>([
    // U+0000 is no part of a header.
    ['email', { from: '{{ text }} <hello@example.com>', subject: '{{ text }}', html: '<p>{{ text }}</p>' }, { subject: '�' }],
    ['text', { body: '{{ text }}' }, { body: '��' }],
    ['webhook', { endpoint: 'https://example.com/{{ text }}', body: '{{ text }}' }, { body: '��' }],
  ])('is sent to the sandbox also if Liquid makes characters that the database cannot store: %s', async (channel, template, content) => {
    await using w = await world()
    const receiver = await w.receiver()
    await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: ['delivery.attempt-start'] })
    await w.post('/api/client/users/batch', [{ external_id: 'ana', ...ANA, data: { name: '🎉Kim' } }])
    const text = '{{ user.data.name | split: "" | first }}{{ "%00" | url_decode }}'
    const written = Object.entries(template).map(([name, value]) => [name, value.replace('{{ text }}', text)])
    await campaign(w, channel, Object.fromEntries(written))
    await order(w)
    await w.drain()
    const [message] = await inbox(w)
    expect((await w.get(`${INBOX}/${message?.id}`)).body.content).toMatchObject(content)
    expect(receiver.requests).toHaveLength(1)
  })

  test('uses the template in the user’s language', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'ana', ...ANA, locale: 'fr-CA' }])
    const id = await campaign(w)
    await w.put(`/api/client/campaigns/${id}/templates/fr`, { ...TEMPLATES.email, subject: 'Merci' })
    await order(w)
    await w.drain()
    expect(await inbox(w)).toMatchObject([{ summary: 'Merci' }])
  })

  test('makes one message for each event, and one for a repeated event id', async () => {
    await using w = await world()
    await ana(w)
    await campaign(w)
    await order(w)
    await order(w)
    const once = [{ name: 'order', external_id: 'ana', event_id: 'order-7' }]
    await w.post('/api/client/events', once)
    await w.post('/api/client/events', once)
    await w.drain()
    expect(await inbox(w)).toHaveLength(3)
  })
})

describe('a user never gets the same cause twice', () => {
  test('the same cause in one batch and in the next makes one message', async () => {
    await using w = await world()
    const userId = await ana(w)
    const id = await campaign(w)
    await enqueueOrder(w, id, userId)
    const intent: MessageIntent = { user_id: userId, campaign_id: id, channel: 'email', cause: 'order-1', event: null, expires_at: EXPIRES }
    await inTx(w.ctx, (ctx) => enqueueMessages(ctx, [intent, intent]))
    await w.drain()
    await inTx(w.ctx, (ctx) => enqueueMessages(ctx, [intent]))
    await w.drain()
    expect(await inbox(w)).toHaveLength(1)
    expect(await messagesIn(w)).toHaveLength(1)
  })

  test('concurrent senders send each message once', async () => {
    await using w = await world()
    const userId = await ana(w)
    const id = await campaign(w)
    const intents = Array.from(
      { length: 450 },
      (_, index): MessageIntent => ({
        user_id: userId,
        campaign_id: id,
        channel: 'email',
        cause: `order-${index}`,
        event: null,
        expires_at: EXPIRES,
      }),
    )
    await inTx(w.ctx, (ctx) => enqueueMessages(ctx, intents))
    const send = async () => {
      const sender = createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL)
      for (let done = 1; done > 0; ) {
        const started = await sendDueMessages(w.ctx, sender)
        await started.finished
        done = started.done
      }
    }
    await Promise.all([send(), send(), send()])
    expect((await w.get(`${INBOX}?limit=-1`)).body.results).toHaveLength(450)
    expect(new Set((await messagesIn(w)).map(({ state }) => state))).toEqual(new Set(['delivered']))
  })

  test('a message whose sender stopped after claiming it is sent once, after its lease has ended', async () => {
    await using w = await world()
    const userId = await ana(w)
    await enqueueOrder(w, await campaign(w), userId)
    expect(await claimMails(w)).toHaveLength(1)
    await w.drain()
    expect(await inbox(w)).toEqual([])
    w.advance('6 minutes')
    await w.drain()
    expect(await inbox(w)).toHaveLength(1)
    expect(await messagesIn(w)).toMatchObject([{ state: 'delivered' }])
  })

  test('a sender cannot save results after its lease has ended', async () => {
    await using w = await world()
    const userId = await ana(w)
    await enqueueOrder(w, await campaign(w), userId)
    const [message] = await claimMails(w)
    w.advance('6 minutes')
    await w.drain()
    if (!message) throw new Error('Nothing was claimed.')
    await saveResult(w, message, result('failed', 'render_failed'))
    expect(await messagesIn(w)).toMatchObject([{ state: 'delivered' }])
    expect(await inbox(w)).toMatchObject([{ recipient: 'ana@example.com' }])
  })

  test('a message in a send attempt record of a stopped sender becomes unknown and is not sent again', async () => {
    await using w = await world()
    const userId = await ana(w)
    await enqueueOrder(w, await campaign(w), userId)
    await enqueueOrder(w, await campaign(w), userId, 'order-2')
    const [first] = (await claimMails(w)).sort((a, b) => a.id - b.id)
    if (!first) throw new Error('Nothing was claimed.')
    const attempts = { lease_token: first.lease_token, message_ids: [first.id], counted: [true], provider: 'smtp', provider_id: null }
    await inTx(w.ctx, (ctx) => insertSendAttempts(ctx, attempts))
    w.advance('6 minutes')
    await w.drain()
    expect(await messagesIn(w)).toMatchObject([{ state: 'unknown', reason: 'sender_lost' }, { state: 'delivered' }])
    expect(await inbox(w)).toHaveLength(1)
  })

  test('merged users get each cause once, and their messages move to the remaining user', async () => {
    await using w = await world()
    const id = await campaign(w)
    const { body } = await w.post('/api/client/users/batch', [
      { external_id: 'ana', ...ANA },
      { anonymous_id: 'browser', email: 'b@example.com' },
      { anonymous_id: 'guest', email: 'g@example.com' },
    ])
    const [mergedInto, browser, guest] = body.results.map(({ user }: { user: { id: UserId } }) => user.id) as [UserId, UserId, UserId]
    await enqueueOrder(w, id, browser, 'sent before')
    await w.drain()
    for (const user of [browser, guest, mergedInto]) await enqueueOrder(w, id, user, 'all three')
    for (const user of [browser, guest]) await enqueueOrder(w, id, user, 'both')
    await enqueueOrder(w, id, mergedInto, 'sent before')
    await inTx(w.ctx, (ctx) =>
      mergeMessages(ctx, [
        { from_id: browser, into_id: mergedInto },
        { from_id: guest, into_id: mergedInto },
      ]),
    )
    expect((await inbox(w)).map(({ user_id }: { user_id: UserId }) => user_id)).toEqual([mergedInto])
    await w.drain()
    expect(await inbox(w)).toHaveLength(3)
    const rows = await messagesIn(w)
    // The remaining user has a message for the first cause too, so that this one stays where it is.
    expect(rows.filter(({ state }) => state === 'delivered').map(({ user_id }) => user_id)).toEqual([browser, mergedInto, mergedInto])
    expect(rows.filter(({ reason }) => reason === 'duplicate')).toHaveLength(4)
  })

  test('a message for a merged user is sent to the remaining user', async () => {
    await using w = await world()
    const id = await campaign(w)
    const { body } = await w.post('/api/client/users/batch', [{ external_id: 'ana', ...ANA }, { anonymous_id: 'browser' }])
    await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'browser' }])
    await enqueueOrder(w, id, body.results[1].user.id)
    await w.drain()
    expect(await inbox(w)).toMatchObject([{ recipient: 'ana@example.com', user_id: body.results[0].user.id }])
  })
})

describe('every message that is not sent has a reason', () => {
  test('an unsubscribed user is skipped', async () => {
    await using w = await world()
    await ana(w)
    const { subscription_id } = (await w.get(`/api/client/campaigns/${await campaign(w)}`)).body
    await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state: 0 }])
    await order(w)
    await w.drain()
    expect(await inbox(w)).toEqual([])
    expect(await messagesIn(w)).toMatchObject([{ state: 'skipped', reason: 'not_subscribed', event: null }])
  })

  test.each<[Channel, string]>([
    ['email', 'no_address'],
    ['text', 'no_address'],
    ['push', 'no_push_device'],
  ])('a user without an address for %s is skipped with %s', async (channel, reason) => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'ana' }])
    await campaign(w, channel)
    await order(w)
    await w.drain()
    expect(await messagesIn(w)).toMatchObject([{ state: 'skipped', reason }])
  })

  test.each([
    ['that breaks a limit', 'text' as Channel, { body: '{% for i in (1..100000000) %}x{% endfor %}' }],
    ['whose endpoint is not a URL', 'webhook' as Channel, { endpoint: '{{ user.data.nothing }}' }],
  ])('a template %s fails its own messages only', async (_, channel, template) => {
    await using w = await world()
    await ana(w)
    await keepInSandbox(w)
    await campaign(w, channel, template)
    await campaign(w, 'in_app')
    await order(w)
    await w.drain()
    expect(await inbox(w)).toMatchObject([{ channel: 'in_app' }])
    const [failed] = (await messagesIn(w)).filter(({ state }) => state === 'failed')
    expect(failed).toMatchObject({ reason: 'render_failed', detail: expect.stringMatching(/\.$/) })
  })

  test('an aborted campaign sends no more messages', async () => {
    await using w = await world()
    const userId = await ana(w)
    const id = await campaign(w)
    await enqueueOrder(w, id, userId, 'waits')
    expect((await w.patch(`/api/client/campaigns/${id}`, { state: 'aborted' })).status).toBe(200)
    await w.drain()
    expect(await messagesIn(w)).toMatchObject([{ state: 'aborted', reason: 'campaign_stopped' }])
    await enqueueOrder(w, id, userId, 'after the abort')
    await w.drain()
    expect(await inbox(w)).toEqual([])
    expect(await messagesIn(w)).toMatchObject([{ state: 'aborted' }, { state: 'aborted', reason: 'campaign_stopped' }])
    expect((await w.get(`/api/client/campaigns/${id}`)).body.delivery).toMatchObject({ sent: 0, total: 2 })
  })

  test('a message that was claimed before its campaign was aborted is not sent', async () => {
    await using w = await world()
    const userId = await ana(w)
    const id = await campaign(w)
    await enqueueOrder(w, id, userId)
    const claimedAt = w.clock.now()
    const messages = await claimMails(w)
    await w.patch(`/api/client/campaigns/${id}`, { state: 'aborted' })
    await sendQueue(
      w.ctx,
      createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL),
      messages,
      claimedAt,
    )
    expect(await messagesIn(w)).toMatchObject([{ state: 'aborted', reason: 'campaign_stopped' }])
    expect(await inbox(w)).toEqual([])
  })

  test('a sender that was suspended for longer than its lease does not send messages that others have claimed', async () => {
    await using w = await world()
    const userId = await ana(w)
    await enqueueOrder(w, await campaign(w), userId)
    const claimedAt = w.clock.now()
    const messages = await claimMails(w)
    w.advance('10 minutes')
    await w.drain()
    expect(await inbox(w)).toHaveLength(1)
    await sendQueue(
      w.ctx,
      createSender({ recordOverBudget, findSendingCampaigns, inboxStreams: createInboxStreams() }, TRANSACTIONAL),
      messages,
      claimedAt,
    )
    expect(await inbox(w)).toHaveLength(1)
    expect(await messagesIn(w)).toMatchObject([{ state: 'delivered' }])
  })

  test('a deferred message is sent later', async () => {
    await using w = await world()
    const userId = await ana(w)
    await enqueueOrder(w, await campaign(w), userId)
    const [message] = await claimMails(w)
    if (!message) throw new Error('Nothing was claimed.')
    const deferred = resultOf({ is: 'deferred', reason: 'Busy.' }, message.attempts, w.clock.now())
    await saveResult(w, message, deferred)
    await w.drain()
    expect(await messagesIn(w)).toMatchObject([{ state: 'deferred', reason: 'provider_deferred', detail: 'Busy.' }])
    w.advance('30 seconds')
    await w.drain()
    expect(await inbox(w)).toMatchObject([{ summary: 'Thanks, Ana & <Co>' }])
    expect(await messagesIn(w)).toMatchObject([{ state: 'delivered', reason: null, detail: null }])
  })
})

test('erasure deletes a user’s sandbox messages and personal data, and the user gets no more messages', async () => {
  await using w = await world()
  const userId = await ana(w)
  const id = await campaign(w)
  await order(w)
  await w.drain()
  expect(await inbox(w)).toHaveLength(1)
  await enqueueOrder(w, id, userId, 'waits')
  expect((await w.delete('/api/client/users/ana')).status).toBe(204)
  await w.drain()
  expect(await inbox(w)).toEqual([])
  expect(await messagesIn(w)).toMatchObject([
    { state: 'delivered', event: null, detail: null },
    { state: 'skipped', reason: 'user_gone', event: null },
  ])
})

test('projects share a batch, so that a long queue does not delay others', async () => {
  await using w = await world()
  const other = await w.other()
  const rows = (projectId: ProjectId, count: number) =>
    w.db.run(
      sql`insert into messages (project_id, user_id, campaign_id, channel, cause, due_at, created_at)
          select ${projectId}, 1, 1, 'email', 'cause ' || n, ${w.clock.now()}, ${w.clock.now()} from generate_series(1, ${count}::int) n`,
    )
  await rows(w.projectId, 500)
  await rows(other.projectId, 3)
  const queues = await queuesByDueTime(w.ctx, TRANSACTIONAL, 10)
  const claimed = Map.groupBy(await claim(w.ctx, TRANSACTIONAL, sharesOf(queues, 200)), ({ project_id }) => project_id)
  expect([claimed.get(w.projectId)?.length, claimed.get(other.projectId)?.length]).toEqual([100, 3])
  w.advance('6 minutes')
  await w.drain()
})

test('a message has a webhook event for each stage, in order', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const types = [
    'queue.queue-message-authenticated',
    'delivery.attempt-start',
    'delivery.delivered',
    'delivery.completed',
    'delivery.attempt-end',
  ]
  expect((await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types: types })).status).toBe(201)
  const userId = await ana(w)
  const id = await campaign(w)
  await enqueueOrder(w, id, userId)
  w.advance('1 second')
  await w.drain()
  const events = receiver.requests
    .map(({ json }) => json as { id: string; type: string; data: Record<string, unknown> })
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  expect(events.map(({ type }) => type)).toEqual(types)
  const [message] = await inbox(w)
  for (const { data } of events) expect(data).toMatchObject({ message_id: message.id, campaign_id: id, channel: 'email' })
  expect(events.at(-2)?.data).toMatchObject({
    user: { id: userId, external_id: 'ana' },
    to: 'ana@example.com',
    recipient_domain: 'example.com',
    elapsed_ms: 1000,
    delivered: 1,
    failed: 0,
  })
})

describe('sandbox messages', () => {
  test('are paged, sorted, searched, separate for each project, and deleted together', async () => {
    await using w = await world()
    await w.users('ana', 'kim', 'lee')
    await campaign(w, 'email', { subject: 'For {{ user.external_id }} 100%', html: 'x' })
    for (const name of ['ana', 'kim', 'lee']) await order(w, name)
    await w.drain()
    const summaries = async (query: string) => (await inbox(w, query)).map(({ summary }: { summary: string }) => summary)
    expect(await summaries('')).toEqual(['For lee 100%', 'For kim 100%', 'For ana 100%'])
    expect(await summaries('?sort=created_at')).toEqual(['For ana 100%', 'For kim 100%', 'For lee 100%'])
    expect(await summaries('?q=KIM@')).toEqual(['For kim 100%'])
    expect(await summaries('?q=lee%20100%25')).toEqual(['For lee 100%'])
    expect(await summaries('?q=email')).toHaveLength(3)
    const first = await w.get(`${INBOX}?limit=2`)
    expect(await summaries(`?limit=2&cursor=${first.body.nextCursor}`)).toEqual(['For ana 100%'])

    const other = await w.other()
    expect(await inbox(w, '', { key: other.keys.secret })).toEqual([])
    expect((await w.get(`${INBOX}/${first.body.results[0].id}`, { key: other.keys.secret })).status).toBe(404)
    expect((await w.delete(INBOX, { key: w.keys.support })).status).toBe(403)
    expect((await w.delete(INBOX, { key: other.keys.secret })).status).toBe(204)
    expect(await inbox(w, '', { key: w.keys.support })).toHaveLength(3)
    expect((await w.delete(INBOX, { key: w.keys.editor })).status).toBe(204)
    expect(await inbox(w)).toEqual([])
    expect((await messagesIn(w)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
  })

  test('reading one that does not exist is a 404', async () => {
    await using w = await world()
    expect((await w.get(`${INBOX}/999999999`)).body).toMatchObject({ code: 'resource_missing' })
  })
})

test('the jobs do nothing in an empty project', async () => {
  await using w = await world()
  const parts = { findCampaignSubscriptions, findSendingCampaigns, recordOverBudget, inboxStreams: createInboxStreams() }
  for (const job of messageJobs(parts)) expect(await runToEnd(job, w.ctx, new AbortController().signal)).toBe(0)
})
